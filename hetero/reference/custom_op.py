"""User-defined operations: those whose class has its own ``evaluate(outputs, inputs)``."""

from __future__ import annotations

import numpy as np

from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.graph import Node, Op, describe_failure, method_location
from hetero.reference.output_sizes import specialized
from hetero.system.allocation import string_array
from hetero.system.errors import DeviceError


class CustomOp:
    """The Runner of a node that calls its ``evaluate``.

    If that fails, raises DeviceError with the class, file and line.
    """

    def __init__(self, node: Op) -> None:
        self._node = node
        outputs = node.outputs()
        self._is_known = all(o.element_type.is_static() and o.partial_shape.is_static for o in outputs)

    def __call__(self, _: object, *arrays: np.ndarray) -> list[np.ndarray]:
        node = self._node
        static_node = node if self._is_known else specialized(node, arrays)
        outputs = [_empty(static_node, index) for index in range(static_node.get_output_size())]
        try:
            result = node.evaluate(outputs, [_read_only(array) for array in arrays])
        except Exception as error:
            raise DeviceError(describe_failure(node, "evaluate", error)) from error
        if result is not True:
            where = method_location(node, "evaluate")
            raise DeviceError(f"{where} returned {result!r}, but must return True when it has computed the outputs")
        for index, tensor in enumerate(outputs):
            if not node.get_output_partial_shape(index).compatible(tensor.shape):
                where, expected = method_location(node, "evaluate"), node.get_output_partial_shape(index)
                shape = list(tensor.shape)
                raise DeviceError(f"{where} returned output {index} of the shape {shape}, but must return {expected}")
        return [_array_of(tensor) for tensor in outputs]


def _empty(node: Node, index: int) -> Tensor:
    element_type, shape = node.get_output_element_type(index), node.get_output_partial_shape(index)
    if element_type.is_dynamic():
        node.fail(f"the element type of output {index} is not known when it is computed")
    # A data-dependent shape is set by evaluate; the initial tensor has no elements.
    initial = shape.to_shape() if shape.is_static else (0,) * (len(shape) if shape.has_rank else 1)
    if element_type is Type.string:  # StringDType holds strings of any length, numpy's default type does not
        return Tensor(np.empty(initial, np.dtypes.StringDType()))
    return Tensor(element_type, initial)


def _array_of(tensor: Tensor) -> np.ndarray:
    if tensor.element_type is not Type.string:
        return tensor.array
    return string_array(tensor.array.reshape(-1).tolist()).reshape(tensor.shape)


def _read_only(array: np.ndarray) -> Tensor:
    """Return a read-only tensor, as other operations read the same memory, which may be a Constant's."""
    view = array.view()
    view.flags.writeable = False
    return Tensor(view, shared_memory=True)
