"""STRIDED_SLICE and SLICE."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import dimension_count, int64, scalar_like
from hetero.graph import Constant, Node, Output, constant_array, is_constant
from hetero.ops.movement.slicing import TO_THE_END

_MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")


@translator("STRIDED_SLICE")
def strided_slice(node: TfliteNodeContext) -> Translation:
    """Masks have a bit per axis. With the attribute ``offset``, ends are relative to begins."""
    data, begin, end, strides = (node.get_input(index) for index in range(4))
    if node.get_attribute("offset", False):
        end = ops.Add(begin, end).output(0)
    count = dimension_count(begin)
    masks = [[node.get_attribute(name, 0) >> bit & 1 for bit in range(count)] for name in _MASKS]
    if node.input_tensor(0).is_complex:
        # Take the parts axis whole explicitly: an ellipsis counts axes from the end.
        one = np.ones(1, begin.element_type.to_dtype())
        begin, end, strides = (ops.Concat([numbers, one], 0).output(0) for numbers in (begin, end, strides))
        masks = [[*mask, int(name in ("begin_mask", "end_mask"))] for name, mask in zip(_MASKS, masks)]
    return ops.StridedSlice(data, begin, end, strides, *masks)


@translator("SLICE")
def slice_by_size(node: TfliteNodeContext) -> Translation:
    """A size of -1 means up to the end."""
    data, begin, size = (node.get_input(index) for index in range(3))
    ones = Constant(np.ones(dimension_count(begin), begin.element_type.to_dtype()))
    part = ops.Slice(data, begin, _end(begin, size), ones)
    sizes = constant_array(size)
    if sizes is not None and np.all(sizes >= 0) and not is_constant(begin):
        # Only the begin depends on data: tell shape inference the known sizes.
        parts_axis = [2] if node.input_tensor(0).is_complex else []
        return ops.Reshape(part, int64([*sizes, *parts_axis]), False)
    return part


def _end(begin: Output, size: Output) -> Output:
    is_rest: Node = ops.Less(size, scalar_like(size, 0))
    if size.value is not None:
        # Elements of a known value that are not ints are dimensions, which are never negative.
        is_negative = np.array([isinstance(number, int) and number < 0 for number in size.value.tolist()], bool)
        if not is_negative.any():
            return ops.Add(begin, size).output(0)
        # Replace -1 by 0, because the sum stays known only without negative numbers.
        is_rest, size = Constant(is_negative), ops.Select(Constant(is_negative), scalar_like(size, 0), size).output(0)
    return ops.Select(is_rest, scalar_like(size, TO_THE_END), ops.Add(begin, size)).output(0)
