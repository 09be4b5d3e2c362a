"""Matrix products, linear layers and attention."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, known_length, multiply_by, rank_of
from hetero.graph import Constant, Output
from hetero.system.errors import FrontendError


@translator("aten::mm", "aten::bmm", "aten::matmul", "aten::mv", "aten::dot", "aten::vdot")
def product(node: TorchNodeContext) -> Translation:
    names = [name for name in ("self", "mat2", "other", "vec", "tensor") if name in node.arguments]
    return ops.MatMul(*node.operands(*names), False, False)


@translator("aten::inner")
def inner_product(node: TorchNodeContext) -> Translation:
    left, right = node.operands("self", "other")
    if 0 in (rank_of(left), rank_of(right)):
        return ops.Multiply(left, right)
    columns = list(range(rank_of(right)))
    if rank_of(right) <= 2:
        return ops.MatMul(left, right, False, rank_of(right) == 2)
    # All rows of the other are columns of one matrix.
    rows = ops.Reshape(right, int64([-1, known_length(right, -1, "the length of rows")]), False)
    shape = ops.Concat([axis_length(left, range(rank_of(left) - 1)), axis_length(right, columns[:-1])], 0)
    return ops.Reshape(ops.MatMul(left, rows, False, True), shape, False)


@translator("aten::tensordot")
def tensor_product(node: TorchNodeContext) -> Translation:
    """Sum the products over pairs of axes."""
    left, right = node.operands("self", "other")
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    left_axes, right_axes = list(letters[: rank_of(left)]), list(letters[-rank_of(right) :] if rank_of(right) else "")
    pairs = list(zip(node.get_attribute("dims_self"), node.get_attribute("dims_other")))
    for one, other in pairs:
        right_axes[other] = left_axes[one]
    summed = {left_axes[one] for one, _ in pairs}
    kept = [axis for axis in (*left_axes, *right_axes) if axis not in summed]
    return ops.Einsum([left, right], f"{''.join(left_axes)},{''.join(right_axes)}->{''.join(kept)}")


@translator("aten::cross", "aten::linalg_cross")
def cross_product(node: TorchNodeContext) -> Translation:
    left, right = node.operands("self", "other")
    axis = int64(_axis_of_vectors(node, left))
    first, second = int64([1, 2, 0]), int64([2, 0, 1])
    return ops.Subtract(
        ops.Multiply(ops.Gather(left, first, axis), ops.Gather(right, second, axis)),
        ops.Multiply(ops.Gather(left, second, axis), ops.Gather(right, first, axis)),
    )


def _axis_of_vectors(node: TorchNodeContext, value: Output) -> int:
    """Return the axis of a cross product: the last one, or for ``torch.cross`` the first of length 3."""
    if node.has_attribute("dim") or node.get_op_type() == "aten::linalg_cross":
        return node.get_attribute("dim", -1)
    return [known_length(value, axis, "each length") for axis in range(rank_of(value))].index(3)


@translator("aten::linalg_inv")
def inverse(node: TorchNodeContext) -> Translation:
    return ops.Inverse(node.get_input("A"))


@translator("aten::linalg_inv_ex")
def inverse_and_status(node: TorchNodeContext) -> Translation:
    """The inverse, and 0 for success: what fails raises an error."""
    value = node.get_input("A")
    shape = axis_length(value, range(rank_of(value) - 2))
    return [ops.Inverse(value), ops.Broadcast(Constant(np.int32(0)), shape)]


@translator("aten::linalg_det", "aten::det")
def determinant(node: TorchNodeContext) -> Translation:
    return ops.Det(node.get_input(0))


@translator("aten::linear")
def linear(node: TorchNodeContext) -> Translation:
    value = ops.MatMul(node.get_input("input"), node.get_input("weight"), False, True).output(0)
    return ops.Add(value, node.get_input("bias")) if node.has_input("bias") else value


@translator("aten::addmm", "aten::baddbmm", "aten::addbmm", "aten::addmv", "aten::addr")
def product_and_sum(node: TorchNodeContext) -> Translation:
    """beta · self + alpha · product, without self if beta is 0; addbmm sums the products of the batch."""
    added, left, right = node.operands(*tuple(node.arguments)[:3])
    if node.get_op_type() == "aten::addr":
        left, right = (ops.Unsqueeze(one, int64([axis])).output(0) for axis, one in ((1, left), (0, right)))
    found = ops.MatMul(left, right, False, False).output(0)
    if node.get_op_type() == "aten::addbmm":
        found = ops.ReduceSum(found, int64([0]), False).output(0)
    value = multiply_by(found, node.get_attribute("alpha", 1))
    factor = node.get_attribute("beta", 1)
    return ops.Add(value, multiply_by(added, factor)) if factor else value


@translator("aten::scaled_dot_product_attention")
def attention(node: TorchNodeContext) -> Translation:
    if node.get_attribute("dropout_p", 0):
        raise FrontendError("dropout in attention is not supported")
    query, key, value = (node.get_input(name) for name in ("query", "key", "value"))
    if node.get_attribute("enable_gqa", False):
        key, value = (_repeated_heads(one, query) for one in (key, value))
    inputs: list[Output] = [query, key, value]
    if node.has_input("attn_mask"):
        mask = node.get_input("attn_mask")
        inputs.append(mask if mask.element_type is Type.boolean else node.converted("attn_mask", query.element_type))
    scale = node.get_attribute("scale", None)
    if scale is not None:
        inputs[0] = multiply_by(query, scale * known_length(query, -1, "the width of a head") ** 0.5)
    return ops.ScaledDotProductAttention(*inputs, causal=node.get_attribute("is_causal", False))


def _repeated_heads(value: Output, query: Output) -> Output:
    """Return the keys or values ``[…, heads, S, E]`` with each head as often as queries use it, one after the other."""
    count, heads = (known_length(one, -3, "the number of heads") for one in (query, value))
    return ops.Gather(value, int64(np.repeat(np.arange(heads), count // heads)), int64(-3)).output(0)
