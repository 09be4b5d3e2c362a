"""Products of matrices."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.tensorflow.translators.complex_numbers import matmul_complex
from hetero.frontend.translation.translators import Translation


@translator("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def matmul(node: TensorflowNodeContext) -> Translation:
    names = ("transpose_a", "transpose_b") if node.get_op_type() == "MatMul" else ("adj_x", "adj_y")
    # Only BatchMatMulV3 has another type for its result, in which it computes.
    kind = node.get_attribute("Tout", node.get_input(0).element_type)
    left, right = (convert_to(value, kind) for value in node.get_inputs())
    swaps = [node.get_attribute(name, False, bool) for name in names]
    if node.is_complex():
        return matmul_complex(left, right, swaps[0], swaps[1], node.get_op_type() != "MatMul")
    return ops.MatMul(left, right, *swaps)
