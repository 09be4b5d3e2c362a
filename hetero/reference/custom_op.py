"""Operations that compute themselves: those whose class brings ``evaluate``, from tensors to tensors."""

from __future__ import annotations

import numpy as np

from hetero.allocation import string_array
from hetero.errors import DeviceError
from hetero.graph import Op, describe_failure, method_location
from hetero.reference.output_sizes import specialized
from hetero.tensor import Tensor
from hetero.types import Type


class CustomOp:
    """The Runner of a node that calls its ``evaluate``.

    Raises DeviceError, which names class, file and line, for whatever that raises.
    """

    def __init__(self, node: Op) -> None:
        self._node = node
        outputs = node.outputs()
        self._is_known = all(o.element_type.is_static() and o.partial_shape.is_static for o in outputs)

    def __call__(self, _: object, *arrays: np.ndarray) -> list[np.ndarray]:
        node = self._node
        made = node if self._is_known else specialized(node, arrays)
        outputs = [_empty(made, index) for index in range(made.get_output_size())]
        try:
            done = node.evaluate(outputs, [_read_only(array) for array in arrays])
        except Exception as error:
            raise DeviceError(describe_failure(node, "evaluate", error)) from error
        if done is not True:
            where = method_location(node, "evaluate")
            raise DeviceError(f"{where} returned {done!r}: it returns True when it has computed the outputs")
        for index, tensor in enumerate(outputs):
            if not node.get_output_partial_shape(index).compatible(tensor.shape):
                where, expected = method_location(node, "evaluate"), node.get_output_partial_shape(index)
                raise DeviceError(f"{where} made output {index} of shape {list(tensor.shape)}, not {expected}")
        return [_array_of(tensor) for tensor in outputs]


def _empty(node: Op, index: int) -> Tensor:
    kind, shape = node.get_output_element_type(index), node.get_output_partial_shape(index)
    if kind.is_dynamic():
        node.fail(f"the element type of output {index} is not known when it is computed")
    # Of a shape that depends on data only the rank is known.
    known = shape.to_shape() if shape.is_static else (0,) * (len(shape) if shape.has_rank else 1)
    if kind is Type.string:  # of any length, where numpy's common ones are as long as the longest that is there
        return Tensor(np.empty(known, np.dtypes.StringDType()))
    return Tensor(kind, known)


def _array_of(tensor: Tensor) -> np.ndarray:
    if tensor.element_type is not Type.string:
        return tensor.data
    return string_array(tensor.data.reshape(-1).tolist()).reshape(tensor.shape)


def _read_only(array: np.ndarray) -> Tensor:
    """Others read the same memory, which may even be a Constant's."""
    view = array.view()
    view.flags.writeable = False
    return Tensor(view, shared_memory=True)
