"""OpenVINO's infer request, with its ports in the memory of hetero's tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
import openvino

from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.system.errors import UnsupportedValueError
from hetero_openvino.memory import bound_tensor, hetero_type
from hetero_openvino.translation.bounds import WITHIN_BOUNDS


class EngineRequest:
    """A request of OpenVINO, whose first outputs are written to tensors."""

    def __init__(self, engine: openvino.CompiledModel, output_count: int) -> None:
        self.engine = engine.create_infer_request()
        # The method of OpenVINO's base class, without conversions of inputs, as the tensors are bound.
        base: Any = super(openvino.InferRequest, self.engine)
        self._infer: Callable[..., Any] = base.infer
        self._inputs = [_BoundPort(partial(self.engine.set_input_tensor, i)) for i in range(len(engine.inputs))]
        # By index, the outputs of static shapes. OpenVINO allocates the others, whose shapes depend on the inputs.
        self._outputs: dict[int, _BoundPort] = {}
        self._allocated: dict[int, np.dtype] = {}
        # Outputs that are inputs or earlier outputs too: OpenVINO would bind one memory to both ports.
        self._copied_inputs: dict[int, int] = {}
        self._copied_outputs: dict[int, int] = {}
        #: The index of the output with the checks of numbers, None if the model has none.
        self.bounds = next((i for i, port in enumerate(engine.outputs) if WITHIN_BOUNDS in port.names), None)
        inputs = {_value_of(port): index for index, port in enumerate(engine.inputs)}
        outputs: dict[frozenset[str], int] = {}
        for index, port in enumerate(engine.outputs[:output_count]):
            value = _value_of(port)
            if value in inputs:
                self._copied_inputs[index] = inputs[value]
            elif value in outputs:
                self._copied_outputs[index] = outputs[value]
            else:
                outputs[value] = index
                if port.partial_shape.is_static:
                    self._outputs[index] = _BoundPort(partial(self.engine.set_output_tensor, index), tuple(port.shape))
                else:
                    self._allocated[index] = hetero_type(port.element_type).to_dtype()

    def bind(self, inputs: Sequence[Tensor], arrays: Sequence[np.ndarray], outputs: Sequence[Tensor]) -> None:
        """Bind the memory of the tensors that have other memory than at the last inference; ``arrays`` of inputs."""
        for port, tensor, array in zip(self._inputs, inputs, arrays):
            if array is not port.bound or array.shape != port.shape:
                port.read_from(tensor, array)
        for index, port in self._outputs.items():
            array = outputs[index].array
            if array is not port.bound or array.shape != port.shape:
                port.write_to(outputs[index])

    def infer(self) -> list[np.ndarray]:
        """Run OpenVINO, and return all its outputs. Raises RuntimeError."""
        return list(self._infer({}, share_outputs=True, decode_strings=False).values())

    def is_within_bounds(self, results: Sequence[np.ndarray]) -> bool:
        """Return whether the numbers that the model checks were as small as it needs."""
        return self.bounds is None or bool(results[self.bounds].all())

    def write_outputs(self, results: Sequence[np.ndarray], inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Copy the outputs that OpenVINO computed in other memory to their tensors.

        Raises UnsupportedValueError if integers had more bits than OpenVINO computes with.
        """
        if self.bounds is not None and not self.is_within_bounds(results):
            raise UnsupportedValueError(
                "integers in the model are out of the range in which OpenVINO is right; "
                "HETERO with a further device, such as HETERO:OPENVINO.CPU,TEMPLATE, computes them there"
            )
        for index, port in self._outputs.items():
            if port.copy is not None:
                outputs[index].copy_from(port.copy)
        for index, dtype in self._allocated.items():
            outputs[index].copy_from(results[index].view(dtype))
        for index, source in self._copied_inputs.items():
            outputs[index].copy_from(inputs[source])
        for index, source in self._copied_outputs.items():
            outputs[index].copy_from(outputs[source])


def _value_of(port: openvino.ConstOutput) -> frozenset[str]:
    """Return the names of the value of a port, which OpenVINO makes unique."""
    return frozenset(port.names)


class _BoundPort:
    """The memory that is bound to a port of OpenVINO's request."""

    def __init__(self, bind: Callable[[openvino.Tensor], None], shape: tuple[int, ...] = ()) -> None:
        self._bind, self._output_shape = bind, shape
        #: The array whose memory is bound, and its shape then: an array may be given another shape in place.
        self.bound: np.ndarray | None = None
        self.shape: tuple[int, ...] = ()
        #: A contiguous copy of a tensor that is not.
        self.copy: np.ndarray | None = None

    def read_from(self, tensor: Tensor, array: np.ndarray) -> None:
        """Bind the memory of an input, or of a copy if it is not contiguous, which is not bound again."""
        self._set(array if array.flags.c_contiguous else np.ascontiguousarray(array), tensor)

    def write_to(self, tensor: Tensor) -> None:
        """Bind the memory of an output, or of an array to copy from if it is not contiguous."""
        tensor.set_shape(self._output_shape)
        array = tensor.array
        self.copy = None if array.flags.c_contiguous else np.empty(array.shape, array.dtype)
        self._set(array if self.copy is None else self.copy, tensor)

    def _set(self, array: np.ndarray, tensor: Tensor) -> None:
        self._bind(bound_tensor(array, cast(Type, tensor.element_type)))
        self.bound, self.shape = array, array.shape
