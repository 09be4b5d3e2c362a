"""Matrix multiplication, gemm and einsum."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import multiply_by


@translator("MatMul")
def matmul(node: OnnxNodeContext) -> Translation:
    return ops.MatMul(node.get_input(0), node.get_input(1), False, False)


@translator("Gemm")
def gemm(node: OnnxNodeContext) -> Translation:
    """Return alpha·A·B + beta·C, with A and B optionally transposed."""
    transposed = [bool(node.get_attribute(name, 0)) for name in ("transA", "transB")]
    product = ops.MatMul(node.get_input(0), node.get_input(1), *transposed)
    product = multiply_by(product, node.get_attribute("alpha", 1.0))
    if not node.has_input(2):
        return product
    return ops.Add(product, multiply_by(node.get_input(2), node.get_attribute("beta", 1.0)))


@translator("Einsum", since=12)
def einsum(node: OnnxNodeContext) -> Translation:
    return ops.Einsum(node.get_inputs(), node.get_attribute("equation"))
