"""Identity matrices and triangular parts of matrices."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import arange, int64, length_of, scalar_like


@translator("EyeLike", since=9)
def eye_like(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    rows, columns = (length_of(value, axis) for axis in (0, 1))
    return ops.Eye(
        rows, columns, int64(node.get_attribute("k", 0)), node.get_type_attribute("dtype", value.element_type)
    )


@translator("Trilu", since=14)
def trilu(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    diagonal = ops.Squeeze(node.get_input(1)) if node.has_input(1) else int64(0)
    rows, columns = (arange(length_of(value, axis)) for axis in (-2, -1))
    distance = ops.Subtract(columns, ops.Unsqueeze(rows, int64([1])))  # of an element above the main diagonal
    mask = (ops.GreaterEqual if node.get_attribute("upper", 1) else ops.LessEqual)(distance, diagonal)
    return ops.Select(mask, value, scalar_like(value, 0))
