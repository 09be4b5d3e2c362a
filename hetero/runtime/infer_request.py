"""InferRequest: one inference at a time with tensors of its own, as the user holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import plugin
from hetero.containers import ContainerType, as_container, unbox
from hetero.errors import TensorError
from hetero.graph import Output, find_port, port_name
from hetero.graph.model import PortKey
from hetero.tensor import Tensor, as_array
from hetero.tracing import span
from hetero.types import Type

if TYPE_CHECKING:
    from hetero.runtime.compiled_model import CompiledModel

Inputs = Mapping[PortKey, Any] | Sequence[Any] | np.ndarray | Tensor | None


class Results(Mapping[PortKey, np.ndarray]):
    """The outputs of an inference: an array by port, index or name, in the order of the model's outputs."""

    def __init__(self, ports: Sequence[Output], arrays: Sequence[np.ndarray]) -> None:
        self._ports = list(ports)
        self._arrays = dict(zip(self._ports, arrays))

    def __getitem__(self, key: PortKey) -> np.ndarray:
        return self._arrays[find_port(self._ports, key, "the results have no output")]

    def __iter__(self) -> Iterator[Output]:
        return iter(self._ports)

    def __len__(self) -> int:
        return len(self._ports)

    def to_tuple(self) -> tuple[np.ndarray, ...]:
        return tuple(self._arrays.values())

    def __repr__(self) -> str:
        return repr(self._arrays)


class InferRequest:
    """One inference at a time: synchronous by ``infer``, in the background by ``start_async`` and ``wait``."""

    def __init__(self, compiled_model: CompiledModel, request: plugin.AsyncInferRequest) -> None:
        self._compiled_model = compiled_model
        self._request = request
        self.userdata: Any = None

    def infer(self, inputs: Inputs = None, share_inputs: bool = False, share_outputs: bool = False) -> Results:
        """Run on this thread and return the outputs.

        Inputs: by index, name or port in a dictionary; in order in a list; or the only one as it is; what is left
        out keeps its tensor. With ``share_inputs`` arrays are used in place where their type is the model's;
        with ``share_outputs`` the arrays returned are the request's own, which the next inference overwrites.
        Raises TensorError for an input that does not fit, RequestBusyError, and what the device raises.
        """
        with self._span("InferRequest::infer"):
            self._request.check_idle()
            self._set_inputs(inputs, share_inputs)
            self._request.infer()
            return Results(self.model_outputs, [_value_of(tensor, share_outputs) for tensor in self.output_tensors])

    def start_async(self, inputs: Inputs = None, userdata: Any = None, share_inputs: bool = False) -> None:
        """Start in the background; inputs as for ``infer``. Raises RequestBusyError while an inference is under way."""
        with self._span("InferRequest::start_async"):
            self._request.check_idle()
            self._set_inputs(inputs, share_inputs)
            self.userdata = userdata
            self._request.start_async()

    def wait(self) -> None:
        """Wait for the inference in the background, and raise what it raised."""
        with self._span("InferRequest::wait"):
            self._request.wait()

    def wait_for(self, timeout: float) -> bool:
        """Wait at most ``timeout`` milliseconds; whether the inference has ended."""
        with self._span("InferRequest::wait_for"):
            return self._request.wait_for(timeout)

    def cancel(self) -> None:
        """Ask the running inference to end; ``wait`` then raises CancelledError unless it was done already."""
        self._request.cancel()

    def set_callback(self, callback: Callable[..., None], userdata: Any = None) -> None:
        """Call ``callback(userdata)`` when an inference in the background has ended, well or not: wait tells.

        It is called on a thread of the device; what it raises, ``wait`` raises. It may call ``start_async``, but
        ``infer``, ``wait`` and ``wait_for`` of its own request raise RequestBusyError there.
        """

        self.on_end(lambda error: callback(userdata))

    def on_end(self, callback: Callable[[Exception | None], None]) -> None:
        """Call ``callback(error)`` when an inference in the background has ended, with None when it went well."""
        self._request.set_callback(callback)

    @property
    def latency(self) -> float:
        """Milliseconds that the last inference took."""
        return self._request.latency * 1e3

    @property
    def model_inputs(self) -> list[Output]:
        return self._compiled_model.inputs

    @property
    def model_outputs(self) -> list[Output]:
        return self._compiled_model.outputs

    @property
    def input_tensors(self) -> list[Tensor]:
        return self._request.request.input_tensors()

    @property
    def output_tensors(self) -> list[Tensor]:
        return self._request.request.output_tensors()

    @property
    def results(self) -> Results:
        """The outputs of the last inference, in the request's own memory."""
        return Results(self.model_outputs, [_value_of(tensor, True) for tensor in self.output_tensors])

    def get_tensor(self, key: PortKey) -> Tensor:
        """The tensor of an input or output, by name or port. Raises GraphError when there is none such."""
        self._request.check_idle()
        return self._request.request.get_tensor(self._find_port(key))

    def set_tensor(self, key: PortKey, tensor: Tensor) -> None:
        """Use a tensor for an input or output, by name or port. Raises TensorError when it does not fit."""
        self._request.check_idle()
        self._request.request.set_tensor(self._find_port(key), tensor)

    def get_input_tensor(self, index: int | None = None) -> Tensor:
        return self.get_tensor(self._compiled_model.input(index))

    def get_output_tensor(self, index: int | None = None) -> Tensor:
        return self.get_tensor(self._compiled_model.output(index))

    def set_input_tensor(self, index: int | Tensor, tensor: Tensor | None = None) -> None:
        """``set_input_tensor(tensor)`` for the only input, ``…(index, tensor)`` for one of several."""
        if tensor is None:
            self.set_tensor(self._compiled_model.input(), index)
        else:
            self.set_tensor(self._compiled_model.input(index), tensor)

    def set_tensors(
        self, inputs: Mapping[PortKey, Tensor] | str | Output, tensors: Sequence[Tensor] | None = None
    ) -> None:
        """Use tensors for inputs and outputs, by index of the inputs, name or port in a dictionary.

        ``set_tensors(key, tensors)`` is a batch for one input: they are joined along its first dimension.
        Raises TensorError when they do not fit.
        """
        if isinstance(inputs, Mapping):
            for key, tensor in inputs.items():
                self.set_tensor(self._compiled_model.input(key) if isinstance(key, int) else key, tensor)
        else:
            self._set_batch(inputs, tensors)

    def set_input_tensors(
        self, inputs: Mapping[PortKey, Tensor] | int | Sequence[Tensor], tensors: Sequence[Tensor] | None = None
    ) -> None:
        """Use tensors for inputs, by index, name or port in a dictionary.

        ``set_input_tensors(index, tensors)`` is a batch for one input, ``set_input_tensors(tensors)`` for the only one.
        """
        if isinstance(inputs, Mapping):
            for key, tensor in inputs.items():
                self.set_tensor(self._compiled_model.input(key), tensor)
        elif tensors is None:
            self._set_batch(self._compiled_model.input(), inputs)
        else:
            self._set_batch(self._compiled_model.input(inputs), tensors)

    def set_output_tensors(self, tensors: Mapping[PortKey, Tensor]) -> None:
        """Use tensors for outputs, by index, name or port."""
        for key, tensor in tensors.items():
            self.set_tensor(self._compiled_model.output(key), tensor)

    def set_output_tensor(self, index: int | Tensor, tensor: Tensor | None = None) -> None:
        """``set_output_tensor(tensor)`` for the only output, ``…(index, tensor)`` for one of several."""
        if tensor is None:
            self.set_tensor(self._compiled_model.output(), index)
        else:
            self.set_tensor(self._compiled_model.output(index), tensor)

    def get_profiling_info(self) -> list[plugin.ProfilingInfo]:
        """What the last inference spent its time on, when compiled with PERF_COUNT."""
        self._request.check_idle()
        return self._request.request.get_profiling_info()

    @property
    def profiling_info(self) -> list[plugin.ProfilingInfo]:
        return self.get_profiling_info()

    def query_state(self) -> list[plugin.VariableState]:
        """What the request remembers of each variable of the model: its name, its contents and a way to forget it."""
        self._request.check_idle()
        return self._request.request.query_state()

    def reset_state(self) -> None:
        """Forget the contents of all variables."""
        for state in self.query_state():
            state.reset()

    def get_compiled_model(self) -> CompiledModel:
        return self._compiled_model

    def _set_batch(self, key: PortKey, tensors: Sequence[Tensor]) -> None:
        self._request.check_idle()
        self._request.request.set_tensors(self._find_port(key), tensors)

    def _span(self, name: str) -> AbstractContextManager[object]:
        return span(name, self._request.request.compiled_model.name, self._request.request.number)

    def _find_port(self, key: PortKey) -> Output:
        return find_port(self.model_inputs + self.model_outputs, key, "the infer request has no tensor")

    def _set_inputs(self, inputs: Inputs, share: bool) -> None:
        if inputs is None:
            return
        if isinstance(inputs, Mapping):
            pairs = [(self._compiled_model.input(key), value) for key, value in inputs.items()]
        elif isinstance(inputs, (list, tuple)):
            if len(inputs) > len(self.model_inputs):
                raise TensorError(f"{len(inputs)} inputs are given, but the model has {len(self.model_inputs)}")
            pairs = list(zip(self.model_inputs, inputs))
        else:
            pairs = [(self._compiled_model.input(), inputs)]
        # All are checked before any is set, so that a bad input leaves the request as it was.
        tensors = [(port, _as_tensor(port, value, share)) for port, value in pairs]
        for port, tensor in tensors:
            plugin.check_tensor(port, tensor)
        for port, tensor in tensors:
            self._request.request.set_tensor(port, tensor)


def _value_of(tensor: Tensor, share: bool) -> Any:
    """What a user gets of an output: an array, or of a sequence a list of arrays, of an optional None or its value.

    A remote tensor is handed out as it is.
    """
    if isinstance(tensor, plugin.RemoteTensor):
        return tensor
    if isinstance(tensor.element_type, ContainerType):
        return unbox(tensor.data)
    return tensor.data if share else tensor.data.copy()


def _as_strings(port: Output, array: np.ndarray) -> np.ndarray:
    """A copy of the array as one of str. Raises TensorError where an element is none."""
    if array.dtype.kind not in "UT" and not all(isinstance(item, str) for item in array.reshape(-1).tolist()):
        raise TensorError(f"input '{port_name(port)}' takes strings, but the array has {array.dtype}")
    return array.astype(np.str_)


def _as_tensor(port: Output, value: Any, share: bool) -> Tensor:
    """The tensor for an input: a Tensor as it is, else an array in the port's type; TensorError where it cannot be."""
    if isinstance(value, Tensor):
        return value
    if isinstance(port.element_type, ContainerType):
        tensor = Tensor(port.element_type)
        tensor.take(as_container(value, port.element_type))
        return tensor
    array = as_array(value)
    if port.element_type is Type.string:
        return Tensor(_as_strings(port, array), shared_memory=True)
    wanted = port.element_type.to_dtype() if port.element_type.is_static() else array.dtype
    if array.dtype != wanted:
        is_number = not hasattr(value, "__dlpack__")  # Python numbers take the model's type
        if not (np.can_cast(array.dtype, wanted, "same_kind") or is_number) or array.dtype.kind not in "biuf":
            raise TensorError(
                f"input '{port_name(port)}' takes {port.element_type} elements, but the array has {array.dtype}"
            )
        array = array.astype(wanted)
        share = True  # it is a copy already
    return Tensor(array, shared_memory=True) if share else Tensor(array)
