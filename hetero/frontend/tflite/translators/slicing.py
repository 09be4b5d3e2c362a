"""STRIDED_SLICE and SLICE."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.numerics.movement import end_of_slice
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import dimension_count, int64
from hetero.graph import Constant, constant_array, is_constant

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
    part = ops.Slice(data, begin, end_of_slice(begin, size), ones)
    sizes = constant_array(size)
    if sizes is not None and np.all(sizes >= 0) and not is_constant(begin):
        # Only the begin depends on data: tell shape inference the known sizes.
        parts_axis = [2] if node.input_tensor(0).is_complex else []
        return ops.Reshape(part, int64([*sizes, *parts_axis]), False)
    return part
