"""Operators that take a part of a value, or write into one."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import Translation, translator
from hetero.frontend.onnx.translators.common import int64
from hetero.graph import Constant


@translator("Slice")
def slice_by_attributes(node: OnnxNodeContext) -> Translation:
    starts, ends = node.get_attribute("starts"), node.get_attribute("ends")
    axes = node.get_attribute("axes", tuple(range(len(starts))))
    steps = (1,) * len(starts)
    return ops.Slice(node.get_input(0), int64(starts), int64(ends), int64(steps), int64(axes))


@translator("Slice", since=10)
def slice_by_inputs(node: OnnxNodeContext) -> Translation:
    starts, ends = node.get_input(1), node.get_input(2)
    if node.has_input(4):
        steps = node.get_input(4)
    else:
        count = starts.partial_shape
        if count.is_dynamic:
            raise FrontendError("steps may be left out only where the number of starts is known")
        steps = Constant(np.ones(count.to_shape(), starts.element_type.to_dtype())).output(0)
    axes = (node.get_input(3),) if node.has_input(3) else ()
    return ops.Slice(node.get_input(0), starts, ends, steps, *axes)


@translator("Gather")
def gather(node: OnnxNodeContext) -> Translation:
    return ops.Gather(node.get_input(0), node.get_input(1), int64(node.get_attribute("axis", 0)))
