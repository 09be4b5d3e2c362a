"""CompiledModel of the user API, around the CompiledModel of a plugin."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, overload

from hetero import plugin
from hetero.graph import Model, Output, find_port
from hetero.graph.port import PortKey, describe_ports, ports_table
from hetero.runtime.core_properties import Properties, as_mapping, with_lists
from hetero.runtime.infer_request import InferRequest, Inputs, Results
from hetero.system.errors import ArgumentTypeError, device_errors
from hetero.system.mapped_file import release_pages
from hetero.system.notebook import paragraph
from hetero.system.tracing import traced


def _about(compiled: CompiledModel, *arguments: Any, **options: Any) -> tuple[str, str]:
    return compiled._compiled.name, compiled._compiled.full_device_name


class CompiledModel:
    """A model that is compiled for a device. Run it by calling it, or through ``create_infer_request()``."""

    def __init__(self, other: plugin.CompiledModel | CompiledModel) -> None:
        self._compiled: plugin.CompiledModel = other._compiled if isinstance(other, CompiledModel) else other

    @property
    def inputs(self) -> list[Output]:
        return list(self._compiled.inputs)

    @property
    def outputs(self) -> list[Output]:
        return list(self._compiled.outputs)

    def input(self, key: PortKey | None = None, *, index: int | None = None, tensor_name: str | None = None) -> Output:
        """Return an input by index or name, or the only input. Raises GraphError if there is no such input."""
        key = next((name for name in (key, index, tensor_name) if name is not None), None)
        return find_port(self._compiled.inputs, key, f"model '{self._compiled.name}' has no input")

    def output(self, key: PortKey | None = None, *, index: int | None = None, tensor_name: str | None = None) -> Output:
        """Return an output by index or name, or the only output. Raises GraphError if there is no such output."""
        key = next((name for name in (key, index, tensor_name) if name is not None), None)
        return find_port(self._compiled.outputs, key, f"model '{self._compiled.name}' has no output")

    @traced("CompiledModel::create_infer_request", _about)
    def create_infer_request(self) -> InferRequest:
        """Create a request with its own input and output tensors."""
        with self._device_errors("create a request of"):
            return InferRequest(self, self._compiled.create_infer_request())

    def infer_new_request(self, inputs: Inputs = None) -> Results:
        """Run once in a new request."""
        return self.create_infer_request().infer(inputs)

    def __call__(
        self,
        inputs: Inputs = None,
        share_inputs: bool = False,
        share_outputs: bool = False,
        *,
        decode_strings: bool = True,
    ) -> Results:
        """Run once in a request that all calls share. Not thread-safe: create one request for each thread.

        The arguments are those of ``InferRequest.infer``. OpenVINO shares inputs by default; here each shared
        array is bound to the device as a new tensor, which takes longer than copying a small input.
        """
        return self._infer_request.infer(inputs, share_inputs, share_outputs, decode_strings=decode_strings)

    @functools.cached_property
    def _infer_request(self) -> InferRequest:
        """The request of calls, under the name that programs use it by, such as NNCF."""
        return self.create_infer_request()

    def query_state(self) -> list[plugin.VariableState]:
        """Return the variables of the request that calls of the compiled model use."""
        return self._infer_request.query_state()

    def reset_state(self) -> None:
        """Reset these variables to their initial values."""
        self._infer_request.reset_state()

    def release_memory(self) -> None:
        """Free the request that calls of the compiled model share, unless it has variables. The next call makes one."""
        if "_infer_request" in self.__dict__ and not self._infer_request.query_state():
            del self._infer_request

    def get_context(self) -> plugin.RemoteContext:
        """Return the context in which remote tensors are created. Raises NotSupportedError if the device has none."""
        with self._device_errors("get the context of"):
            return self._compiled.context

    def tune(self, file: str | Path = "", progress: Callable[[str, int, int], None] | None = None) -> Path:
        """Measure how the device runs the model's operations fastest, and keep that for later compilations.

        Returns the file of the results: ``file``, which later compilations are given as TUNING_FILE, or by default the
        device's own, which they use without that. ``progress`` is called with the operation, the number of those done,
        and that of all. Raises NotSupportedError if the device has nothing to tune.
        """
        with self._device_errors("tune"):
            return self._compiled.tune(file, progress)

    @overload
    def export_model(self) -> io.BytesIO: ...
    @overload
    def export_model(self, model_stream: BinaryIO) -> None: ...

    @traced("CompiledModel::export_model", _about)
    def export_model(self, model_stream: BinaryIO | None = None) -> io.BytesIO | None:
        """Write the compiled model for ``Core.import_model``, to a stream or to a new BytesIO, which is returned.

        A seekable stream is positioned at the begin of the model afterwards. Raises NotSupportedError if the device
        cannot export models, BlobError if it cannot export this one.
        """
        if model_stream is not None and not hasattr(model_stream, "write"):
            raise ArgumentTypeError(f"a compiled model is written to a binary stream, not to {model_stream!r}")
        with self._device_errors("export model"):
            pieces = self._compiled.export_model()
        if model_stream is None:
            blob = io.BytesIO(b"".join(pieces))
            for piece in pieces:
                release_pages(piece)
            return blob
        begin = model_stream.tell() if model_stream.seekable() else None
        for piece in pieces:
            model_stream.write(piece)
            release_pages(piece)
        model_stream.flush()
        if begin is not None:
            model_stream.seek(begin)
        return None

    @traced("CompiledModel::get_runtime_model", _about)
    def get_runtime_model(self) -> Model:
        """Return the executed graph: ExecutionNodes with OpenVINO's keys in rt_info. ``serialize`` can write it.

        With PERF_COUNT, execTimeMcs is the mean time over all inferences so far, in microseconds. Raises
        NotSupportedError if the device does not report its executed graph.
        """
        with self._device_errors("get the runtime model of"):
            return self._compiled.get_runtime_model()

    def get_property(self, property: str) -> Any:
        """Return a property of the compiled model. Raises PropertyError for an unknown key."""
        with self._device_errors(f"get property {property} of"):
            return with_lists(self._compiled.get_property(property))

    def set_property(self, properties: Properties | None = None, *, property: tuple[str, Any] | None = None) -> None:
        """Set properties of the compiled model, given as a mapping or as a pair of key and value.

        Raises PropertyError for an unknown key or a bad value.
        """
        values = as_mapping(properties if property is None else property)
        with self._device_errors("set properties of"):
            self._compiled.set_property(values)

    def _device_errors(self, doing: str) -> device_errors:
        return device_errors(f"{self._compiled.device_name} failed to {doing} '{self._compiled.name}'")

    def __repr__(self) -> str:
        return describe_ports("CompiledModel:", self.inputs, self.outputs)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: inputs, outputs, and the placement on several devices."""
        devices = ", ".join(self.get_property("EXECUTION_DEVICES"))
        shown = paragraph(f"'{self._compiled.name}' compiled for {devices}") + ports_table(self.inputs, self.outputs)
        if "PLACEMENT_REPORT" in self.get_property("SUPPORTED_PROPERTIES"):
            shown += self.get_property("PLACEMENT_REPORT")._repr_html_()
        return shown
