"""Operators that take or replace a slice."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, scalar_like
from hetero.graph import Constant
from hetero.ops.slicing import ENDLESS
from hetero.ops.values import exact_value

_MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")


@translator("STRIDED_SLICE")
def strided_slice(node: TfliteNodeContext) -> Translation:
    """Masks have a bit for each place; with ``offset`` the ends are counted from the begins."""
    data, begin, end, strides = (node.get_input(index) for index in range(4))
    if node.get_attribute("offset", False):
        end = ops.Add(begin, end).output(0)
    count = begin.partial_shape[0].get_length()
    masks = [[node.get_attribute(name, 0) >> place & 1 for place in range(count)] for name in _MASKS]
    if node.input_tensor(0).is_complex:
        # An ellipsis would take their axis of two parts for one of those behind it.
        one = np.ones(1, begin.element_type.to_dtype())
        begin, end, strides = (ops.Concat([numbers, one], 0) for numbers in (begin, end, strides))
        masks = [[*mask, int(name in ("begin_mask", "end_mask"))] for name, mask in zip(_MASKS, masks)]
    return ops.StridedSlice(data, begin, end, strides, *masks)


@translator("SLICE")
def slice_by_size(node: TfliteNodeContext) -> Translation:
    """A size of -1 stands for all that is left."""
    data, begin, size = (node.get_input(index) for index in range(3))
    ones = Constant(np.ones(begin.partial_shape[0].get_length(), begin.element_type.to_dtype()))
    sizes = exact_value(size)
    if sizes is None:
        left = ops.Less(size, scalar_like(size, 0))
        end = ops.Select(left, scalar_like(size, ENDLESS), ops.Add(begin, size))
        return ops.Slice(data, begin, end, ones)
    end = ops.Select(Constant(sizes < 0), scalar_like(size, ENDLESS), ops.Add(begin, size)).output(0)
    part = ops.Slice(data, begin, end, ones)
    if exact_value(begin) is None and np.all(sizes >= 0):
        # The place is found when the model runs, but the shape is known before.
        pair = [2] if node.input_tensor(0).is_complex else []
        return ops.Reshape(part, int64([*sizes, *pair]), False)
    return part
