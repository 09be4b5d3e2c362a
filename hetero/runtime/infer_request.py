"""InferRequest of the user API, around the request of a plugin; and the Results of an inference."""

from __future__ import annotations

import math
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import plugin
from hetero.core.containers import ContainerType, as_container, unbox
from hetero.core.tensor import Tensor, as_array
from hetero.core.types import Type
from hetero.graph import Output, find_port, port_name
from hetero.graph.port import PortKey, describe_ports
from hetero.plugin.requests.end import End
from hetero.system.allocation import as_text
from hetero.system.errors import (
    ArgumentTypeError,
    GraphError,
    HeteroError,
    TensorError,
    TensorTypeError,
    UnknownOutputError,
    device_errors,
    reason_of,
)
from hetero.system.tracing import is_traced

if TYPE_CHECKING:
    from hetero.runtime.compiled_model import CompiledModel

# The element types of inputs whose arrays are converted, or checked by their elements.
_CONVERTED = (Type.dynamic, Type.string)

Inputs = Mapping[PortKey, Any] | Sequence[Any] | np.ndarray | Tensor | None


class Results(Mapping[PortKey, np.ndarray]):
    """The outputs of an inference: arrays by port, index or name, in the order of the model's outputs."""

    def __init__(self, ports: Sequence[Output], arrays: Sequence[np.ndarray]) -> None:
        self._ports = list(ports)
        self._arrays = dict(zip(self._ports, arrays))

    def __getitem__(self, key: PortKey) -> np.ndarray:
        if not isinstance(key, (int, str, Output)):
            raise ArgumentTypeError(f"an output is found by port, index or name, not by {type(key).__name__}")
        try:
            return self._arrays[find_port(self._ports, key, "the results have no output")]
        except GraphError as error:
            raise UnknownOutputError(str(error)) from None

    def __iter__(self) -> Iterator[Output]:
        return iter(self._ports)

    def __len__(self) -> int:
        return len(self._ports)

    def keys(self) -> KeysView[Output]:
        return self._arrays.keys()

    def values(self) -> ValuesView[np.ndarray]:
        return self._arrays.values()

    def items(self) -> ItemsView[Output, np.ndarray]:
        return self._arrays.items()

    def names(self) -> tuple[set[str], ...]:
        """Return the tensor names of each output."""
        return tuple(set(port.names) for port in self._ports)

    def to_dict(self) -> dict[Output, np.ndarray]:
        """Return a dictionary from ports to arrays, which has no names and indices."""
        return dict(self._arrays)

    def to_tuple(self) -> tuple[np.ndarray, ...]:
        return tuple(self._arrays.values())

    def __repr__(self) -> str:
        return repr(self._arrays)


class InferRequest:
    """Runs one inference at a time, synchronously by ``infer`` or asynchronously by ``start_async`` and ``wait``."""

    def __init__(self, other: InferRequest | CompiledModel, request: plugin.AsyncInferRequest | None = None) -> None:
        """Create a handle of the same request as another, or of a request of a compiled model."""
        if isinstance(other, InferRequest):
            compiled_model, request = other._compiled_model, other._request
        else:
            compiled_model = other
        if request is None:
            raise ArgumentTypeError("a request is made by CompiledModel.create_infer_request, or from another request")
        self._compiled_model: CompiledModel = compiled_model
        self._request: plugin.AsyncInferRequest = request
        self._userdata: Any = None

    @property
    def userdata(self) -> Any:
        """The object that was given to ``start_async`` or, if that was given none, to ``set_callback``."""
        return self._userdata

    def infer(
        self,
        inputs: Inputs = None,
        share_inputs: bool = False,
        share_outputs: bool = False,
        *,
        decode_strings: bool = True,
    ) -> Results:
        """Run one inference on this thread and return the outputs.

        ``inputs``: a dictionary by index, name or port; a list in order; or the only input itself. Omitted inputs keep
        their tensors. Numbers of another type are converted. ``share_inputs``: use arrays of the model's element type
        without a copy. ``share_outputs``: return the request's own arrays, which the next inference overwrites.
        ``decode_strings``: return strings as text, not as UTF-8.

        Raises TensorError for an input that does not fit, RequestBusyError, and errors of the device.
        """
        if is_traced():
            with self._span("InferRequest::infer"):
                return self._infer(inputs, share_inputs, share_outputs, decode_strings)
        return self._infer(inputs, share_inputs, share_outputs, decode_strings)

    def _infer(self, inputs: Inputs, share_inputs: bool, share_outputs: bool, decode_strings: bool) -> Results:
        request, end = self._request, End()
        try:
            request.begin(end)
            if inputs is not None:
                self._set_inputs(inputs, share_inputs)
            request.run()
            return self._results(share_outputs, decode_strings)
        finally:
            if request.running is end:  # not in a method, as Ctrl-C may come when one begins
                request.running = None

    def _results(self, share: bool, decode_strings: bool = True) -> Results:
        arrays: list[Any] = []
        for tensor in self._request.request.output_tensors():
            arrays.append(_value_of(tensor, share, decode_strings))
        return Results(self._compiled_model._compiled.outputs, arrays)

    def start_async(self, inputs: Inputs = None, userdata: Any = None, share_inputs: bool = False) -> None:
        """Start an asynchronous inference; inputs as in ``infer``. Raises RequestBusyError if one is running."""
        with self._span("InferRequest::start_async"):
            self._request.start_async(lambda: self._prepare(inputs, userdata, share_inputs))

    def _prepare(self, inputs: Inputs, userdata: Any, share_inputs: bool) -> None:
        if inputs is not None:
            self._set_inputs(inputs, share_inputs)
        if userdata is not None:
            self._userdata = userdata

    def wait(self) -> None:
        """Wait for the asynchronous inference. Raises the error of the inference."""
        with self._span("InferRequest::wait"):
            self._request.wait()

    def wait_for(self, timeout: float) -> bool:
        """Wait at most ``timeout`` milliseconds, and return whether the inference has ended."""
        with self._span("InferRequest::wait_for"):
            return self._request.wait_for(timeout)

    def cancel(self) -> None:
        """Cancel the running inference. ``wait`` then raises CancelledError, unless the inference had finished."""
        with self._device_errors("cancel an inference"):
            self._request.cancel()

    def set_callback(self, callback: Callable[..., None], userdata: Any = None) -> None:
        """Call ``callback(userdata)`` after each asynchronous inference, successful or not.

        ``start_async`` may give another ``userdata``. The callback runs on a thread of this request, so that a slow one
        delays no other inference. If it fails, ``wait`` raises a HeteroError. It may call ``start_async``, but
        ``infer``, ``wait`` and ``wait_for`` of its own request raise RequestBusyError there.
        """
        self._userdata = userdata

        def call(error: Exception | None) -> None:
            try:
                callback(self._userdata)
            except HeteroError:
                raise
            except Exception as problem:
                name = self._compiled_model._compiled.name
                raise HeteroError(f"the callback of a request of '{name}' failed: {reason_of(problem)}") from problem

        self.on_end(call)

    def on_end(self, callback: Callable[[Exception | None], None], on_own_thread: bool = True) -> None:
        """Call ``callback(error)`` after each asynchronous inference; ``error`` is None if it succeeded.

        ``on_own_thread=False`` saves the change to another thread, for a callback that takes no time.
        """
        self._request.set_callback(callback, on_own_thread)

    @property
    def latency(self) -> float:
        """Duration of the last inference in milliseconds."""
        return self._request.latency * 1e3

    @property
    def model_inputs(self) -> list[Output]:
        return self._compiled_model.inputs

    @property
    def model_outputs(self) -> list[Output]:
        return self._compiled_model.outputs

    @property
    def input_tensors(self) -> list[Tensor]:
        return list(self._request.request.input_tensors())

    @property
    def output_tensors(self) -> list[Tensor]:
        return list(self._request.request.output_tensors())

    @property
    def results(self) -> Results:
        """The outputs of the last inference, without a copy."""
        return self._results(share=True)

    def get_tensor(self, key: PortKey | None = None, *, name: str | None = None, port: Output | None = None) -> Tensor:
        """Return the tensor of an input or output, by name or port. Raises GraphError for an unknown one."""
        with self._request.lock:
            self._request.check_idle()
            return self._request.request.get_tensor(self._find_port(_only(key, name, port)))

    def set_tensor(
        self,
        key: PortKey | None = None,
        tensor: Tensor | None = None,
        *,
        name: str | None = None,
        port: Output | None = None,
    ) -> None:
        """Use a tensor for an input or output, by name or port. Raises TensorError if it does not fit."""
        self._set_tensor(self._find_port(_only(key, name, port)), tensor)

    def get_input_tensor(self, index: int | None = None) -> Tensor:
        return self.get_tensor(self._compiled_model.input(index))

    def get_output_tensor(self, index: int | None = None) -> Tensor:
        return self.get_tensor(self._compiled_model.output(index))

    def set_input_tensor(self, index: int | Tensor | None = None, tensor: Tensor | None = None) -> None:
        """Use a tensor for an input: ``set_input_tensor(index, tensor)``, or ``(tensor)`` for the only input."""
        key, value = _key_and_value(index, tensor)
        self._set_tensor(self._compiled_model.input(key), value)

    def set_tensors(
        self,
        inputs: Mapping[PortKey, Tensor] | str | Output | None = None,
        tensors: Sequence[Tensor] | None = None,
        *,
        tensor_name: str | None = None,
        port: Output | None = None,
    ) -> None:
        """Use tensors for inputs and outputs: a dictionary by name, port or index of an input.

        ``set_tensors(key, tensors)`` sets a batch for one input: the tensors are concatenated along its first
        dimension. Raises TensorError if they do not fit.
        """
        if isinstance(inputs, Mapping):
            for key, tensor in inputs.items():
                self.set_tensor(self._compiled_model.input(key) if isinstance(key, int) else key, tensor)
        else:
            self._set_batch(_only(inputs, tensor_name, port), tensors or ())

    def set_input_tensors(
        self,
        inputs: Mapping[PortKey, Tensor] | int | Sequence[Tensor] | None = None,
        tensors: Sequence[Tensor] | None = None,
        *,
        idx: int | None = None,
    ) -> None:
        """Use tensors for inputs: a dictionary by index, name or port.

        ``set_input_tensors(index, tensors)`` sets a batch for one input, ``(tensors)`` for the only input.
        """
        if isinstance(inputs, Mapping):
            for key, tensor in inputs.items():
                self._set_tensor(self._compiled_model.input(key), tensor)
        else:
            index, batch = (idx, tensors or ()) if inputs is None else _key_and_value(inputs, tensors)
            self._set_batch(self._compiled_model.input(index), batch)

    def set_output_tensors(self, outputs: Mapping[PortKey, Tensor]) -> None:
        """Use tensors for outputs: a dictionary by index, name or port."""
        if not isinstance(outputs, Mapping):
            raise ArgumentTypeError(f"the tensors of outputs are a dictionary by index, name or port, not {outputs!r}")
        for key, tensor in outputs.items():
            self._set_tensor(self._compiled_model.output(key), tensor)

    def set_output_tensor(self, index: int | Tensor | None = None, tensor: Tensor | None = None) -> None:
        """Use a tensor for an output: ``set_output_tensor(index, tensor)``, or ``(tensor)`` for the only output."""
        key, value = _key_and_value(index, tensor)
        self._set_tensor(self._compiled_model.output(key), value)

    def get_profiling_info(self) -> list[plugin.ProfilingInfo]:
        """Return the time of each operation in the last inference; needs PERF_COUNT."""
        with self._request.lock:
            self._request.check_idle()
            with self._device_errors("report the profile"):
                return self._request.request.get_profiling_info()

    @property
    def profiling_info(self) -> list[plugin.ProfilingInfo]:
        return self.get_profiling_info()

    def query_state(self) -> list[plugin.VariableState]:
        """Return the state of each variable of the model in this request."""
        with self._request.lock:
            self._request.check_idle()
            with self._device_errors("list the variables"):
                return self._request.request.query_state()

    def reset_state(self) -> None:
        """Reset all variables to their initial values."""
        with self._request.lock:
            self._request.check_idle()
            with self._device_errors("reset the variables"):
                for state in self._request.request.query_state():
                    state.reset()

    def get_compiled_model(self) -> CompiledModel:
        return self._compiled_model

    def __repr__(self) -> str:
        return describe_ports("InferRequest:", self.model_inputs, self.model_outputs)

    def _set_tensor(self, port: Output, tensor: Tensor | None) -> None:
        if not isinstance(tensor, Tensor):
            raise ArgumentTypeError(f"the tensor of '{port_name(port)}' is a Tensor, not {type(tensor).__name__}")
        with self._request.lock:
            self._request.check_idle()
            with self._device_errors("take a tensor"):
                self._request.request.set_tensor(port, tensor)

    def _set_batch(self, key: PortKey, tensors: Sequence[Tensor]) -> None:
        with self._request.lock:
            self._request.check_idle()
            with self._device_errors("take tensors"):
                self._request.request.set_tensors(self._find_port(key), tensors)

    def _device_errors(self, doing: str) -> device_errors:
        compiled = self._request.request.compiled_model
        return device_errors(f"{compiled.device_name} failed to {doing} of '{compiled.name}'")

    def _span(self, name: str) -> AbstractContextManager[object]:
        return self._request.request.span(name)

    def _find_port(self, key: PortKey) -> Output:
        return find_port(self.model_inputs + self.model_outputs, key, "the infer request has no tensor")

    def _find_input(self, key: PortKey) -> Output:
        if not isinstance(key, (int, str, Output)):
            raise ArgumentTypeError(f"an input is found by port, index or name, not by {type(key).__name__} {key}")
        return self._compiled_model.input(key)

    def _set_inputs(self, inputs: Inputs, share: bool) -> None:
        request, ports = self._request.request, self._compiled_model._compiled.inputs
        if isinstance(inputs, (list, tuple)) and not (len(ports) == 1 and _is_data(inputs, ports[0])):
            if len(inputs) > len(ports):
                raise TensorError(f"the model has {len(ports)} inputs, but {len(inputs)} are given")
            pairs = list(zip(ports, inputs))
        elif isinstance(inputs, np.ndarray) or not isinstance(inputs, Mapping):
            pairs = [(self._compiled_model.input(), inputs)]
        else:
            pairs = [(self._find_input(key), value) for key, value in inputs.items()]
        # Check all before setting any, so that a bad input leaves the request unchanged.
        values: list[tuple[Output, Tensor | np.ndarray]] = []
        for port, given in pairs:
            values.append((port, _as_input(port, given, share)))
        for port, value in values:
            if not isinstance(value, Tensor):
                plugin.check_shape(port, value.shape)
            elif len(values) > 1:  # else ``set_tensor`` does
                plugin.check_tensor(port, value)
        try:
            for port, value in values:
                if isinstance(value, Tensor):
                    request.set_tensor(port, value)
                elif share:
                    request.share_input(port, value)
                else:
                    request.write_input(port, value)
        except BaseException:
            with self._device_errors("take an input"):  # here, as it takes time
                raise


def _key_and_value(key: Any, value: Any) -> tuple[Any, Any]:
    """Return the arguments of ``set(key, value)``, or those of ``set(value)``, which sets the only port."""
    return (None, key) if value is None else (key, value)


def _only(*keys: Any) -> Any:
    """Return the key that is given, of the names that an argument has. Raises ArgumentTypeError unless it is one."""
    names = [key for key in keys if key is not None]
    if len(names) != 1:
        raise ArgumentTypeError(f"a tensor is found by one name or port, not by {len(names)}")
    return names[0]


def _is_data(values: Sequence[Any], port: Output) -> bool:
    """Return whether a list consists of numbers and texts, at most two lists deep: then it is one input.

    A list in a list is a list of one input if this has the rank 1.
    """
    if values and isinstance(values[0], (np.ndarray, Tensor)):
        return False
    rows = [row if isinstance(row, list) else [row] for row in values]
    if len(values) == 1 and isinstance(values[0], list) and port.partial_shape.rank == 1:
        return False
    return isinstance(values, list) and all(isinstance(item, (int, float, str, bytes)) for row in rows for item in row)


def _value_of(tensor: Tensor, share: bool, decode_strings: bool = True) -> Any:
    """Convert an output tensor to the value for the user.

    That is an array, a list of arrays for a sequence, None or the value of an optional, or a RemoteTensor itself.
    ``share``: return the memory of the tensor instead of a copy.
    """
    if isinstance(tensor, plugin.RemoteTensor):
        return tensor
    array = tensor.array
    if array.dtype.kind in "OUT":
        if not decode_strings and tensor.element_type is Type.string:
            return tensor.bytes_data
        if isinstance(tensor.element_type, ContainerType):
            return unbox(array)
    return array if share else array.copy()


def _as_shape(number: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Return a number as an array of this shape, if that has one element."""
    return number.reshape(shape) if math.prod(shape) == 1 else number


def _as_strings(port: Output, array: np.ndarray) -> np.ndarray:
    """Return a copy of the array with elements of type str. Raises TensorError for other elements."""
    if array.dtype.kind == "O" and all(isinstance(item, (str, bytes)) for item in array.reshape(-1).tolist()):
        array = array.astype(np.bytes_ if array.size and isinstance(array.flat[0], bytes) else np.str_)
    if array.dtype.kind not in "SUT":
        raise TensorError(f"input '{port_name(port)}' takes strings, but the array has {array.dtype}")
    try:
        return array.copy() if array.dtype.kind == "U" else as_text(array)
    except ValueError as error:
        raise TensorError(f"input '{port_name(port)}': {error}") from error


def _as_input(port: Output, value: Any, share: bool) -> Tensor | np.ndarray:
    """Convert the value of an input to a Tensor to bind, or to an array to copy or to share, of the port's type.

    Raises TensorError if the elements do not fit.
    """
    if isinstance(value, Tensor):
        return value
    kind = port.element_type
    if type(value) is np.ndarray and value.ndim and kind not in _CONVERTED and value.dtype == kind.to_dtype():
        return value  # most inputs
    if isinstance(kind, ContainerType):
        tensor = Tensor(kind)
        tensor.take(as_container(value, kind))
        return tensor
    array = as_array(value)
    if not array.ndim and port.partial_shape.is_static:
        array = _as_shape(array, port.shape)
    if kind is Type.string:
        return Tensor(_as_strings(port, array), shared_memory=True)
    dtype = kind.to_dtype() if kind.is_static() else array.dtype
    if array.dtype != dtype:
        if array.dtype.kind not in "biuf":
            problem = f"takes {kind} elements, but the array has {array.dtype}"
            raise TensorTypeError(f"input '{port_name(port)}' {problem}")
        array = array.astype(dtype)
    return Tensor(array, shared_memory=share) if kind.is_dynamic() else array
