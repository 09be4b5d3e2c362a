"""Inverse, Det and GroupedMatMul. Singular matrices give infinities or NaN."""

from __future__ import annotations

import math

from hetero import ops
from hetero.graph import Node
from hetero_opencl.kernels.common.definition import lowers, source, unsupported_non_float, unsupported_types, wide_type
from hetero_opencl.lowering.lowering import Lowering


@lowers(ops.Det, ops.Inverse, unsupported=unsupported_non_float)
def linear_algebra(lowering: Lowering, node: Node) -> None:
    """Launch one work-group per matrix, with scratch memory for one or two copies of each matrix."""
    kernel, copies = ("inverse", 2) if isinstance(node, ops.Inverse) else ("determinant", 1)
    data = node.input_value(0)
    *batch, size, _ = data.shape
    count = math.prod(batch)
    scratch = lowering.scratch(count * copies * size * size, wide_type(data.element_type).size)
    group = lowering.profile.team_size
    adjoint = int(getattr(node, "adjoint", False))
    text = source("linear_algebra", {"DATA": data.element_type}, GROUP=group, ADJOINT=adjoint)
    lowering.launch(text, kernel, [data, scratch, node.output(0), size], [count * group], [group])


@lowers(ops.GroupedMatMul, unsupported=unsupported_types)
def grouped_matmul(lowering: Lowering, node: ops.GroupedMatMul) -> None:
    (*_, rows, inner), (groups, columns, _) = node.get_input_shape(0), node.get_input_shape(1)
    has_offsets = len(node.get_input_shape(0)) == 2
    offsets = node.input_value(2) if has_offsets else node.input_value(0)
    text = source("grouped_matmul", {"DATA": node.get_element_type(), "INDEX": offsets.element_type})
    count = math.prod(node.shape)
    arguments = [node.input_value(0), node.input_value(1), offsets, node.output(0)]
    sizes = [groups, rows, columns, inner, has_offsets]
    lowering.launch_flat(text, "grouped_matmul", [*arguments, *sizes], count)
