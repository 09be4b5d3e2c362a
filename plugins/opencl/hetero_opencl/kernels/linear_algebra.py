"""Inverse and Det. Singular matrices give infinities or NaN."""

from __future__ import annotations

import math

from hetero import ops
from hetero.graph import Node
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import source, unsupported_non_float
from hetero_opencl.kernels.sums import wide_type
from hetero_opencl.lowering import Lowering

# Work-items per matrix on a GPU; on a CPU it is one.
_GROUP_ON_GPUS = 64


@lowers(ops.Det, ops.Inverse, unsupported=unsupported_non_float)
def linear_algebra(lowering: Lowering, node: Node) -> None:
    """Launch one work-group per matrix, with scratch memory for one or two copies of each matrix."""
    kernel, copies = ("inverse", 2) if isinstance(node, ops.Inverse) else ("determinant", 1)
    data = node.input_value(0)
    *batch, size, _ = data.shape
    count = math.prod(batch)
    scratch = lowering.scratch(count * copies * size * size, wide_type(data.element_type).size)
    group = 1 if lowering.device.profile.is_cpu_like else _GROUP_ON_GPUS
    adjoint = int(getattr(node, "adjoint", False))
    text = source("linear_algebra", {"DATA": data.element_type}, GROUP=group, ADJOINT=adjoint)
    lowering.launch(text, kernel, [data, scratch, node.output(0), size], [count * group], [group])
