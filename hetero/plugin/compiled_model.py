"""CompiledModel: a model made ready for a device."""

from __future__ import annotations

import concurrent.futures
import functools
import weakref
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from hetero import properties as props
from hetero.graph import Model, Output, Parameter
from hetero.plugin.async_infer_request import AsyncInferRequest
from hetero.plugin.sync_infer_request import SyncInferRequest
from hetero.properties import PropertyTable


class CompiledModel(ABC):
    """A model made ready for a device. An author defines ``create_sync_infer_request``.

    ``model`` is the model as the user gave it, from which the ports are taken; it is not kept.
    """

    def __init__(self, model: Model, properties: PropertyTable) -> None:
        self.name = model.friendly_name
        self.inputs = [_detached(port) for port in model.inputs]
        self.outputs = [_detached(port) for port in model.outputs]
        self.properties = properties

    @abstractmethod
    def create_sync_infer_request(self) -> SyncInferRequest:
        """A request with tensors of its own (required). Requests of one compiled model run independently."""

    def create_infer_request(self) -> AsyncInferRequest:
        """A request that can also run in the background (optional): by default on the compiled model's threads."""
        request = self.create_sync_infer_request()
        return AsyncInferRequest(request, [(self.executor, request.infer)])

    @functools.cached_property
    def executor(self) -> concurrent.futures.Executor:
        """The threads for inferences in the background, NUM_STREAMS of them; they end with the compiled model."""
        streams = self.properties.get(props.num_streams) if props.num_streams in self.properties else 1
        executor = concurrent.futures.ThreadPoolExecutor(streams, f"hetero-{self.name}")
        weakref.finalize(self, executor.shutdown, wait=False)
        return executor

    def get_property(self, key: str) -> Any:
        """A property's value (optional): those of the compilation. Raises PropertyError for an unknown key."""
        return self.properties.get(key)

    def set_property(self, values: Mapping[str, Any]) -> None:
        """Set properties (optional), those of the compilation. Raises PropertyError for a bad key or value."""
        self.properties.set(values)


def _detached(port: Output) -> Output:
    """A port of the same type, shape and names that does not keep the model's graph in memory."""
    copy = Parameter(port.element_type, port.partial_shape, name=port.node.friendly_name).output(0)
    copy.names = set(port.names)
    return copy


def port_index(ports: Sequence[Output], port: Output) -> int:
    """Where a port stands among others, by identity."""
    return next(index for index, other in enumerate(ports) if other is port)
