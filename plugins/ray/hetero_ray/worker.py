"""Worker: the actor on a node, which compiles models and runs inferences on the node's own devices."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetero import Core
from hetero import properties as props
from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.graph import Op
from hetero.plugin import STAGE, CompiledModel, ProfilingInfo, SyncInferRequest, VariableState, hetero_version, ir_in
from hetero.properties import Property
from hetero.system.errors import DeviceError
from hetero_ray.runtime_model import PlainNode, plain_nodes
from hetero_ray.shipping import Shipment, View, unpacked, view_of

#: The kind of device that this package registers. A worker does not use it: its devices are those of the node.
KIND = "RAY"


@dataclass
class Description:
    """A device of a node: its name, and its properties, whose defaults are their present values."""

    name: str
    properties: list[Property]


@dataclass
class Outcome:
    """The results of an inference besides its outputs: their types and shapes, and the times of the operations."""

    outputs: list[View]
    profile: list[ProfilingInfo]


@dataclass
class _Request:
    request: SyncInferRequest
    #: Held by an inference: one that the client did not wait for may still run when the next one begins.
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class _Model:
    compiled: CompiledModel
    #: The device runs NUM_STREAMS inferences at once; others wait.
    streams: threading.BoundedSemaphore
    requests: dict[int, _Request] = field(default_factory=dict)


class Worker:
    """Compiled models and their requests, by the numbers that the client gave them. Thread-safe."""

    def __init__(self) -> None:
        self._core = Core()
        self._models: dict[int, _Model] = {}
        #: Custom operations that clients defined: a class that nothing refers to would not stay defined.
        self._classes: list[type[Op]] = []
        self._lock = threading.Lock()

    def version(self) -> str:
        return hetero_version()

    def define(self, classes: Sequence[bytes]) -> list[str]:
        """Define classes of custom operations. Return for each why it cannot be defined, "" if it can."""
        import ray

        failures = []
        for content in classes:
            try:
                self._classes.append(ray.cloudpickle.loads(content))
                failures.append("")
            except Exception as error:
                failures.append(f"{type(error).__name__}: {error}")
        return failures

    def describe(self, device_name: str) -> Description:
        """Return a device of this node; without a name the first one. Raises DeviceError if there is none."""
        if not device_name:
            names = [name for name in self._core.available_devices if name.partition(".")[0] != KIND]
            if not names:
                raise DeviceError("the node has no device")
            device_name = names[0]
        plugin, options = self._core.resolve_device(device_name)
        if plugin.name == KIND:
            raise DeviceError(f"{device_name} is no device of the node's own")
        return Description(device_name, plugin.property_table(options).with_values())

    def get_property(self, device_name: str, key: str) -> Any:
        return self._core.get_property(device_name, key)

    def query(
        self, device_name: str, options: Mapping[str, Any], shipment: Shipment, *arrays: np.ndarray
    ) -> tuple[Collection[str], dict[str, str]]:
        """Return the names of the supported operations, and the reasons why others are not supported."""
        plugin, implied = self._core.resolve_device(device_name)
        support = plugin.query_model(ir_in(unpacked(shipment, arrays)), {**implied, **options})
        return list(support), dict(getattr(support, "refused", {}))

    def compile(
        self, number: int, device_name: str, options: Mapping[str, Any], shipment: Shipment, *arrays: np.ndarray
    ) -> None:
        plugin, implied = self._core.resolve_device(device_name)
        options = {**implied, **options}
        plugin.apply_log_level(options)
        compiled = plugin.compile_model(ir_in(unpacked(shipment, arrays)), options)
        streams = threading.BoundedSemaphore(max(1, compiled.properties.value_of(props.num_streams)))
        self._models[number] = _Model(compiled, streams)

    def release(self, numbers: Sequence[tuple[int, int | None]]) -> None:
        """Drop compiled models, and requests of compiled models: pairs of numbers."""
        for number, request in numbers:
            if request is None:
                self._models.pop(number, None)
            elif number in self._models:
                self._models[number].requests.pop(request, None)

    def infer(self, number: int, request_number: int, views: Sequence[View | None], *arrays: np.ndarray) -> Any:
        """Run an inference. Return the Outcome, followed by the outputs, or None: Ray lists two results or more.

        ``views`` has the types and shapes of inputs whose arrays are the contents of remote tensors.
        """
        model, held = self._models[number], self._request(number, request_number)
        request = held.request
        with held.lock, model.streams:
            for port, array, view in zip(model.compiled.inputs, arrays, views):
                content = array if view is None else view_of(array, *view)
                request.set_tensor(port, Tensor(content, shared_memory=True))
            request.cancelled = False
            request.infer()
            # Row-major, as remote tensors are. A request's next inference may write to the same memory.
            outputs = [np.asarray(tensor.array, order="C") for tensor in request.output_tensors()]
            profile = [info for info in request.get_profiling_info() if info.node_type != STAGE]
        outcome = Outcome([(f"{Type(array.dtype)}", array.shape) for array in outputs], profile)
        return (outcome, *outputs) if outputs else (outcome, None)

    def cancel(self, number: int, request_number: int) -> None:
        self._request(number, request_number).request.cancel()

    def is_assigned(self, number: int, request_number: int, name: str) -> bool:
        return self._state(number, request_number, name).is_assigned

    def get_state(self, number: int, request_number: int, name: str) -> np.ndarray:
        return self._state(number, request_number, name).state.array

    def set_state(self, number: int, request_number: int, name: str, array: np.ndarray) -> None:
        self._state(number, request_number, name).state = Tensor(array)

    def reset_state(self, number: int, request_number: int, name: str) -> None:
        self._state(number, request_number, name).reset()

    def set_property(self, number: int, values: Mapping[str, Any]) -> None:
        self._models[number].compiled.set_property(values)

    def runtime_model(self, number: int) -> list[PlainNode]:
        return plain_nodes(self._models[number].compiled.get_runtime_model())

    def _request(self, number: int, request_number: int) -> _Request:
        model = self._models[number]
        with self._lock:
            if request_number not in model.requests:
                model.requests[request_number] = _Request(model.compiled.create_sync_infer_request())
            return model.requests[request_number]

    def _state(self, number: int, request_number: int, name: str) -> VariableState:
        states = self._request(number, request_number).request.query_state()
        return next(state for state in states if state.name == name)
