"""The infer request: OpenVINO's, with its inputs and outputs in the memory of hetero's tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import openvino

from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.passes.intervals import I32
from hetero.plugin import ProfilingInfo, SyncInferRequest, VariableState
from hetero.system.errors import UnsupportedValueError
from hetero_openvino.errors import fork_guard, message_of
from hetero_openvino.memory import bound_tensor, hetero_type
from hetero_openvino.translation.bounds import WITHIN_BOUNDS
from hetero_openvino.variable_state import OpenVinoVariableState, PortVariableState

if TYPE_CHECKING:
    from hetero_openvino.compiled_model import OpenVinoCompiledModel


class OpenVinoInferRequest(SyncInferRequest):
    """An inference on the caller's thread."""

    compiled_model: OpenVinoCompiledModel

    def __init__(self, compiled_model: OpenVinoCompiledModel) -> None:
        super().__init__(compiled_model)
        engine = compiled_model.engine
        self.engine = engine.create_infer_request()
        # The method of its base class, without conversions of inputs, as the tensors are bound.
        self._infer = cast(Callable[..., Any], super(openvino.InferRequest, self.engine).infer)
        self._inputs = [_BoundPort(partial(self.engine.set_input_tensor, i)) for i in range(len(engine.inputs))]
        # By index, the outputs of static shapes. OpenVINO allocates the others, whose shapes depend on the inputs.
        self._outputs: dict[int, _BoundPort] = {}
        self._exposed = [PortVariableState(ports) for ports in compiled_model.exposed]
        self._allocated: dict[int, np.dtype] = {}
        # Outputs that are inputs or earlier outputs too: OpenVINO would bind one memory to both ports.
        self._copied: list[tuple[int, Callable[[], Sequence[Tensor]], int]] = []
        known = {_value_of(port): (self.input_tensors, index) for index, port in enumerate(engine.inputs)}
        self._bounds = next((i for i, port in enumerate(engine.outputs) if WITHIN_BOUNDS in port.names), None)
        for index, port in enumerate(engine.outputs[: len(compiled_model.outputs)]):
            if (value := _value_of(port)) in known:
                self._copied.append((index, *known[value]))
                continue
            known[value] = self.output_tensors, index
            if port.partial_shape.is_static:
                self._outputs[index] = _BoundPort(partial(self.engine.set_output_tensor, index), tuple(port.shape))
            else:
                self._allocated[index] = hetero_type(port.element_type).to_dtype()

    def start(self) -> None:
        self._bind()
        try:
            results = self._infer({}, share_outputs=True, decode_strings=False)
        except RuntimeError as error:
            self.check_cancelled()
            raise RuntimeError(message_of(error)) from error
        arrays = list(results.values())
        if self._bounds is not None and not arrays[self._bounds].all():
            raise UnsupportedValueError(
                "OpenVINO would cut off bits of integers of the model; "
                "HETERO with a further device, such as HETERO:OPENVINO.CPU,TEMPLATE, computes them there"
            )
        self._write_outputs(arrays)
        assigned = iter(arrays[len(self.compiled_model.outputs) :])
        for state in self._exposed:
            if state.may_be_assigned:
                state.assign(next(assigned), next(assigned))

    def _bind(self) -> None:
        """Bind the memory of the tensors that have other memory than at the last inference."""
        fork_guard.check()
        inputs = self.input_tensors()
        for index in self.compiled_model.wide_inputs:
            _check_integers(inputs[index], index)
        variables = (tensor for state in self._exposed for tensor in (state.contents, state.is_set))
        for port, tensor in zip(self._inputs, (*inputs, *variables)):
            port.read_from(tensor)
        outputs = self.output_tensors()
        for index, port in self._outputs.items():
            port.write_to(outputs[index])

    def _write_outputs(self, results: Sequence[np.ndarray]) -> None:
        """Copy the outputs that OpenVINO computed in other memory to their tensors."""
        outputs = self.output_tensors()
        for index, port in self._outputs.items():
            if port.copy is not None:
                outputs[index].copy_from(port.copy)
        for index, dtype in self._allocated.items():
            outputs[index].copy_from(results[index].view(dtype))
        for index, tensors, source in self._copied:
            outputs[index].copy_from(tensors()[source])

    def cancel(self) -> None:
        super().cancel()
        self.engine.cancel()

    def get_profiling_info(self) -> list[ProfilingInfo]:
        infos = super().get_profiling_info()
        for info in self.engine.profiling_info if self.is_profiled else ():
            status = ProfilingInfo.Status[info.status.name]
            infos.append(
                ProfilingInfo(info.node_name, info.node_type, info.exec_type, info.real_time, info.cpu_time, status)
            )
        return infos

    def query_state(self) -> list[VariableState]:
        states: dict[str, VariableState] = {state.name: state for state in self._exposed}
        for engine in self.engine.query_state():
            states[engine.name] = OpenVinoVariableState(self.compiled_model.variables[engine.name], engine)
        return [states[name] for name in self.compiled_model.variables]


def _check_integers(tensor: Tensor, index: int) -> None:
    """Raise UnsupportedValueError if OpenVINO would cut off bits of an input."""
    array = tensor.array
    if array.size and not (I32.low <= array.min() and array.max() <= I32.high):
        worst = array.max() if array.max() > I32.high else array.min()
        raise UnsupportedValueError(
            f"input {index} contains {worst}, but OpenVINO computes {tensor.element_type} in 32 bits; "
            "HETERO with a further device, such as HETERO:OPENVINO.CPU,TEMPLATE, computes it there"
        )


def _value_of(port: openvino.ConstOutput) -> frozenset[str]:
    """Return the names of the value of a port, which OpenVINO makes unique."""
    return frozenset(port.names)


class _BoundPort:
    """The memory that is bound to a port of OpenVINO's request."""

    def __init__(self, bind: Callable[[openvino.Tensor], None], shape: tuple[int, ...] = ()) -> None:
        self._bind, self._shape = bind, shape  # the shape of an output
        self._bound: np.ndarray | None = None
        self._bound_shape: tuple[int, ...] = ()  # an array may be given another shape in place
        #: A contiguous copy of a tensor that is not.
        self.copy: np.ndarray | None = None

    def read_from(self, tensor: Tensor) -> None:
        array = tensor.array
        if not array.flags.c_contiguous:
            array = np.ascontiguousarray(array)
        self._set(array, tensor)

    def write_to(self, tensor: Tensor) -> None:
        tensor.set_shape(self._shape)
        array = tensor.array
        self.copy = None
        if not array.flags.c_contiguous:
            array = self.copy = np.empty(array.shape, array.dtype)
        self._set(array, tensor)

    def _set(self, array: np.ndarray, tensor: Tensor) -> None:
        if array is not self._bound or array.shape != self._bound_shape:
            self._bind(bound_tensor(array, cast(Type, tensor.element_type)))
            self._bound, self._bound_shape = array, array.shape
