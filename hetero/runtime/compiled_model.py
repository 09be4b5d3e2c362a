"""CompiledModel: a model ready to run, as the user holds it."""

from __future__ import annotations

import functools
import io
from collections.abc import Mapping
from typing import Any, BinaryIO

from hetero import plugin
from hetero.errors import device_errors
from hetero.graph import Model, Output, find_port
from hetero.graph.model import PortKey
from hetero.runtime.infer_request import InferRequest, Inputs, Results
from hetero.tracing import traced


class CompiledModel:
    """A model ready to run: ``compiled_model(inputs)`` runs it, and so do requests of ``create_infer_request()``."""

    def __init__(self, compiled: plugin.CompiledModel) -> None:
        self._compiled = compiled

    @property
    def inputs(self) -> list[Output]:
        return list(self._compiled.inputs)

    @property
    def outputs(self) -> list[Output]:
        return list(self._compiled.outputs)

    def input(self, key: PortKey | None = None) -> Output:
        """An input by index or name; the only one without a key. Raises GraphError when there is none such."""
        return find_port(self._compiled.inputs, key, f"model '{self._compiled.name}' has no input")

    def output(self, key: PortKey | None = None) -> Output:
        """An output by index or name; the only one without a key. Raises GraphError when there is none such."""
        return find_port(self._compiled.outputs, key, f"model '{self._compiled.name}' has no output")

    @traced("CompiledModel::create_infer_request")
    def create_infer_request(self) -> InferRequest:
        """A request with tensors of its own."""
        compiled = self._compiled
        with device_errors(f"{compiled.device_name} failed to create a request of '{compiled.name}'"):
            return InferRequest(self, compiled.create_infer_request())

    def infer_new_request(self, inputs: Inputs = None) -> Results:
        """Run once in a request of its own."""
        return self.create_infer_request().infer(inputs)

    def __call__(self, inputs: Inputs = None) -> Results:
        """Run once; the request is kept for the next call. Not for several threads at once: give each a request."""
        return self._own_request.infer(inputs)

    @functools.cached_property
    def _own_request(self) -> InferRequest:
        return self.create_infer_request()

    def query_state(self) -> list[plugin.VariableState]:
        """The variables of the request that calls of the compiled model run in."""
        return self._own_request.query_state()

    def reset_state(self) -> None:
        """Forget the contents of these variables."""
        self._own_request.reset_state()

    def get_context(self) -> plugin.RemoteContext:
        """The device's memory that remote tensors for requests are made in. Raises NotSupportedError without one."""
        return self._compiled.context

    @traced("CompiledModel::export_model")
    def export_model(self, model_stream: BinaryIO | None = None) -> io.BytesIO | None:
        """Write the compiled model to a stream, or to a new one in memory, for ``Core.import_model``.

        A stream that can be rewound then stands where the model begins. Raises NotSupportedError where the device
        cannot export, BlobError where the model cannot be.
        """
        with device_errors(f"{self._compiled.device_name} failed to export model '{self._compiled.name}'"):
            pieces = self._compiled.export_model()
        if model_stream is None:
            return io.BytesIO(b"".join(pieces))
        begin = model_stream.tell() if model_stream.seekable() else None
        for piece in pieces:
            model_stream.write(piece)
        model_stream.flush()
        if begin is not None:
            model_stream.seek(begin)
        return None

    @traced("CompiledModel::get_runtime_model")
    def get_runtime_model(self) -> Model:
        """What the device really executes: ExecutionNodes, with OpenVINO's notes in rt_info; `serialize` writes it.

        execTimeMcs is the mean of all inferences so far, when compiled with PERF_COUNT. Raises NotSupportedError
        for a device that does not tell.
        """
        compiled = self._compiled
        with device_errors(f"{compiled.device_name} failed to tell what it executes of '{compiled.name}'"):
            return compiled.get_runtime_model()

    def get_property(self, property: str) -> Any:
        """A property of the compiled model. Raises PropertyError for an unknown key."""
        return self._compiled.get_property(property)

    def set_property(self, properties: Mapping[str, Any]) -> None:
        """Set properties of the compiled model. Raises PropertyError for an unknown key or a bad value."""
        self._compiled.set_property(properties)

    def __repr__(self) -> str:
        return f"<CompiledModel: '{self._compiled.name}' inputs={self.inputs} outputs={self.outputs}>"
