"""Operations on matrices: Inverse and Det. A matrix that has no inverse gets infinities or NaN."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.types import Type
from hetero_opencl.kernels.product import wide_type
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import source

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering

# Work-items that share a matrix on a GPU; on a CPU it is one.
_GROUP_ON_GPUS = 64


def _unsupported(node: Node) -> str | None:
    kind = node.get_input_element_type(0)
    known = (Type.f32, Type.f16, Type.bf16, Type.f64)
    return None if kind in known else f"no kernel for {node.type_info.name} of {kind}"


@lowers(ops.Det, unless=_unsupported)
def determinant(lowering: Lowering, node: Node) -> None:
    _by_matrix(lowering, node, "determinant", 1)


@lowers(ops.Inverse, unless=_unsupported)
def inverse(lowering: Lowering, node: Node) -> None:
    _by_matrix(lowering, node, "inverse", 2)


def _by_matrix(lowering: Lowering, node: Node, kernel: str, copies: int) -> None:
    """Launch a kernel with a work-group for each matrix, and scratch memory for so many copies of it."""
    data = node.input_value(0)
    *batch, size, _ = data.shape
    count = math.prod(batch)
    scratch = lowering.scratch(count * copies * size * size, wide_type(data.element_type).size)
    group = 1 if lowering.device.is_cpu else _GROUP_ON_GPUS
    adjoint = int(getattr(node, "adjoint", False))
    text = source("linear_algebra", {"DATA": data.element_type}, GROUP=group, ADJOINT=adjoint)
    arguments = [lowering.buffer(data), scratch, lowering.buffer(node.output(0)), np.int32(size)]
    lowering.launch(text, kernel, arguments, [count * group], [group])
