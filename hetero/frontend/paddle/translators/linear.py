"""Matrix products."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.paddle.node_context import PaddleNodeContext, rows, translator
from hetero.frontend.translation.translators import Attr, ConversionResult, Row
from hetero.frontend.translation.values import axis_length, flatten, int64, multiply_by, rank_of, scalar_like
from hetero.graph import Output
from hetero.system.errors import FrontendError


@translator("matmul", "matmul_v2", "bmm")
def matmul(node: PaddleNodeContext) -> ConversionResult:
    transposed = [
        node.get_attribute(f"trans_{name}", node.get_attribute(f"transpose_{name.upper()}", False)) for name in "xy"
    ]
    product = ops.MatMul(node.get_input("X"), node.get_input("Y"), *transposed)
    return multiply_by(product, node.get_attribute("alpha", 1.0))


def _flat_product(x: Output, y: Output, row_axes: int = 1, y_row_axes: int = 1) -> Output:
    """Return the product of two tensors as matrices, whose rows are the first axes."""
    product = ops.MatMul(flatten(x, row_axes), flatten(y, y_row_axes), False, False).output(0)
    if row_axes == 1 and y_row_axes == rank_of(y) - 1:
        return product
    shape = ops.Concat([axis_length(x, range(row_axes)), axis_length(y, range(y_row_axes, rank_of(y)))], 0)
    return ops.Reshape(product, shape, False).output(0)


@translator("fc")
def fully_connected(node: PaddleNodeContext) -> ConversionResult:
    value = _flat_product(node.get_input("Input"), node.get_input("W"), node.get_attribute("in_num_col_dims", 1))
    if node.has_input("Bias"):
        value = ops.Add(value, node.get_input("Bias")).output(0)
    activation = node.get_attribute("activation_type", "")
    if activation not in ("", "relu"):
        raise FrontendError(f"activation_type {activation} is not supported")
    return ops.Relu(value) if activation == "relu" else value


@translator("addmm", "baddbmm")
def add_product(node: PaddleNodeContext) -> ConversionResult:
    alpha, beta = (node.get_attribute(name.capitalize(), node.get_attribute(name, 1.0)) for name in ("alpha", "beta"))
    product = ops.MatMul(node.get_input("X"), node.get_input("Y"), False, False)
    return ops.Add(multiply_by(node.get_input("Input"), beta), multiply_by(product, alpha))


rows({"einsum": lambda node: ops.Einsum(node.get_inputs("Operands"), node.get_attribute("equation").replace(" ", ""))})


@translator("kron")
def kronecker(node: PaddleNodeContext) -> ConversionResult:
    """Each element of X times Y, as blocks."""
    x, y = node.get_input("X"), node.get_input("Y")
    rank = max(rank_of(x), rank_of(y))
    x = ops.Reshape(x, int64([*[1] * (rank - rank_of(x)), *x.partial_shape.to_shape()]), False).output(0)
    y = ops.Reshape(y, int64([*[1] * (rank - rank_of(y)), *y.partial_shape.to_shape()]), False).output(0)
    product = ops.Multiply(
        ops.Unsqueeze(x, int64(range(1, 2 * rank, 2))), ops.Unsqueeze(y, int64(range(0, 2 * rank, 2)))
    )  # fmt: skip
    lengths = [a * b for a, b in zip(x.partial_shape.to_shape(), y.partial_shape.to_shape())]
    return ops.Reshape(product, int64(lengths), False)


@translator("cosine_similarity", "cos_sim")
def cosine(node: PaddleNodeContext) -> ConversionResult:
    x, y = node.get_input("X"), node.get_input("Y")
    norms = [ops.Sqrt(ops.ReduceSum(ops.Multiply(value, value), int64([-1]), True)) for value in (x, y)]
    product = ops.ReduceSum(ops.Multiply(x, y), int64([-1]), True)
    return {
        "Out": ops.Divide(product, ops.Maximum(ops.Multiply(*norms), scalar_like(x, 1e-12))),
        "XNorm": norms[0],
        "YNorm": norms[1],
    }


rows(
    {
        "dot": Row(lambda x, y: ops.ReduceSum(ops.Multiply(x, y), int64([-1]), False), "X", "Y"),
        "mul": Row(_flat_product, "X", "Y", row_axes=Attr("x_num_col_dims", 1), y_row_axes=Attr("y_num_col_dims", 1)),
        "mv": Row(ops.MatMul, "X", "Vec", transpose_a=False, transpose_b=False),
    }
)
