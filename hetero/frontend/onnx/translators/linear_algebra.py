"""Matrix multiplication, gemm, einsum, identity matrices and triangular parts of matrices."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import register_direct, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, axis_length, int64, multiply_by, scalar_like

register_direct({"MatMul": lambda a, b: ops.MatMul(a, b, False, False)}, 2)
register_direct({"Det": ops.Det}, 1)


@translator("Gemm")
def gemm(node: OnnxNodeContext) -> Translation:
    """Return alpha·A·B + beta·C, with A and B optionally transposed."""
    transposed = (node.get_attribute(name, 0) for name in ("transA", "transB"))
    product = ops.MatMul(node.get_input(0), node.get_input(1), *transposed)
    scaled = multiply_by(product, node.get_attribute("alpha", 1.0))
    if not node.has_input(2):
        return scaled
    return ops.Add(scaled, multiply_by(node.get_input(2), node.get_attribute("beta", 1.0)))


@translator("Einsum", since=12)
def einsum(node: OnnxNodeContext) -> Translation:
    return ops.Einsum(node.get_inputs(), node.get_attribute("equation"))


@translator("EyeLike", since=9)
def eye_like(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    rows, columns = (axis_length(value, axis) for axis in (0, 1))
    kind = node.get_type_attribute("dtype", value.element_type)
    return ops.Eye(rows, columns, int64(node.get_attribute("k", 0)), kind)


@translator("Trilu", since=14)
def trilu(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    diagonal = ops.Squeeze(node.get_input(1)) if node.has_input(1) else int64(0)
    rows, columns = (arange(axis_length(value, axis)) for axis in (-2, -1))
    distance = ops.Subtract(columns, ops.Unsqueeze(rows, int64([1])))  # of an element above the main diagonal
    mask = (ops.GreaterEqual if node.get_attribute("upper", 1) else ops.LessEqual)(distance, diagonal)
    return ops.Select(mask, value, scalar_like(value, 0))
