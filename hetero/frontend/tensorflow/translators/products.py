"""Products of matrices."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation import Translation


@translator("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def matmul(node: TensorflowNodeContext) -> Translation:
    names = ("transpose_a", "transpose_b") if node.get_op_type() == "MatMul" else ("adj_x", "adj_y")
    return ops.MatMul(node.get_input(0), node.get_input(1), *(node.get_attribute(name, False) for name in names))
