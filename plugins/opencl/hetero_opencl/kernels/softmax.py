"""Softmax and LogSoftmax."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hetero import ops
from hetero_opencl.kernels.reduction import group_size
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import ELEMENTS, source, unsupported_non_float

if TYPE_CHECKING:
    from hetero_opencl.lowering import Argument, Lowering


@lowers(ops.Softmax, ops.SoftmaxV1, ops.LogSoftmax, unless=unsupported_non_float)
def softmax(lowering: Lowering, node: ops.Softmax | ops.SoftmaxV1 | ops.LogSoftmax) -> None:
    shape, kind = node.shape, node.get_element_type()
    axis = node.axis % len(shape)
    length, inner = shape[axis], math.prod(shape[axis + 1 :])
    rows = math.prod(shape[:axis]) * inner
    if not length or not rows:
        return
    group = group_size(lowering.device, rows, length, inner == 1)
    logarithm, narrow = isinstance(node, ops.LogSoftmax), ELEMENTS[kind].stored != ELEMENTS[kind].value
    text = source("softmax", {"DATA": kind}, LOGARITHM=int(logarithm), NARROW=int(narrow), GROUP=group)
    arguments: list[Argument] = [node.input_value(0), node.output(0), length, inner]
    if group > 1:
        return lowering.launch(text, "softmax_shared", arguments, [rows * group], [group])
    # On a CPU columns are computed in vectors; on a GPU neighboring columns are neighboring work-items.
    in_vectors = lowering.device.is_cpu and inner >= 16
    kernel, items = ("softmax_columns", rows // inner * -(-inner // 16)) if in_vectors else ("softmax", rows)
    lowering.launch_flat(text, kernel, arguments, items)
