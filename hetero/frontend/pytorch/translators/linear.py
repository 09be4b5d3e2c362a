"""Matrix products, linear layers, attention and linear algebra."""

from __future__ import annotations

from functools import partial

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.pytorch.node_context import TorchNodeContext, converted_to, promoted, rows, translator
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import axis_length, int64, known_length, multiply_by, rank_of
from hetero.graph import Node, Output
from hetero.system.errors import FrontendError

_product = partial(ops.MatMul, transpose_a=False, transpose_b=False)


def _inner_product(left: Output, right: Output) -> Node:
    if 0 in (rank_of(left), rank_of(right)):
        return ops.Multiply(left, right)
    if rank_of(right) <= 2:
        return ops.MatMul(left, right, False, rank_of(right) == 2)
    # All rows of the other are columns of one matrix.
    matrix = ops.Reshape(right, [-1, known_length(right, -1, "the length of rows")], False)
    lengths = [axis_length(value, range(rank_of(value) - 1)) for value in (left, right)]
    return ops.Reshape(ops.MatMul(left, matrix, False, True), ops.Concat(lengths, 0), False)


def _tensor_product(left: Output, right: Output, left_summed: list[int], right_summed: list[int]) -> Node:
    """Sum the products over pairs of axes."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    left_axes, right_axes = list(letters[: rank_of(left)]), list(letters[-rank_of(right) :] if rank_of(right) else "")
    for left_axis, right_axis in zip(left_summed, right_summed):
        right_axes[right_axis] = left_axes[left_axis]
    summed = {left_axes[axis] for axis in left_summed}
    kept = [axis for axis in (*left_axes, *right_axes) if axis not in summed]
    return ops.Einsum([left, right], f"{''.join(left_axes)},{''.join(right_axes)}->{''.join(kept)}")


def _cross_product(left: Output, right: Output, axis: int | None) -> Node:
    """Return the cross product of vectors along an axis, by default the first one of length 3."""
    if axis is None:
        axis = [known_length(left, at, "each length") for at in range(rank_of(left))].index(3)
    first, second = int64([1, 2, 0]), int64([2, 0, 1])
    return ops.Subtract(
        ops.Multiply(ops.Gather(left, first, axis), ops.Gather(right, second, axis)),
        ops.Multiply(ops.Gather(left, second, axis), ops.Gather(right, first, axis)),
    )


def _inverse_and_status(value: Output) -> list[Node]:
    """Return the inverse, and 0 for success: what fails raises an error."""
    return [ops.Inverse(value), ops.Broadcast(np.int32(0), axis_length(value, range(rank_of(value) - 2)))]


rows({
    "aten::mm": Row(_product, "self", "mat2"), "aten::bmm": Row(_product, "self", "mat2"),
    "aten::matmul": Row(_product, "self", "other"), "aten::mv": Row(_product, "self", "vec"),
    "aten::dot": Row(_product, "self", "tensor"), "aten::vdot": Row(_product, "self", "other"),
    "aten::inner": Row(_inner_product, "self", "other"),
    "aten::outer": Row(
        lambda left, right: ops.Multiply(ops.Unsqueeze(left, [1]), ops.Unsqueeze(right, [0])), "self", "vec2"
    ),
    "aten::tensordot": Row(
        _tensor_product, "self", "other", left_summed=Attr("dims_self"), right_summed=Attr("dims_other")
    ),
    "aten::cross": Row(_cross_product, "self", "other", axis=Attr("dim", None)),
    "aten::linalg_cross": Row(_cross_product, "self", "other", axis=Attr("dim", -1)),
}, promoted)  # fmt: skip
rows({"aten::_int_mm": Row(_product, "self", "mat2")}, converted_to(Type.i32))
rows({
    "aten::linalg_inv": Row(ops.Inverse, "A"), "aten::linalg_inv_ex": Row(_inverse_and_status, "A"),
    "aten::linalg_det": Row(ops.Det, 0), "aten::det": Row(ops.Det, 0),
})  # fmt: skip


rows(
    {
        "aten::einsum": lambda node: ops.Einsum(
            node.get_inputs("tensors"), node.get_attribute("equation").replace(" ", "")
        )
    }
)


@translator("aten::linear")
def linear(node: TorchNodeContext) -> Translation:
    value = ops.MatMul(node.get_input("input"), node.get_input("weight"), False, True).output(0)
    return ops.Add(value, node.get_input("bias")) if node.has_input("bias") else value


@translator("aten::addmm", "aten::baddbmm", "aten::addbmm", "aten::addmv", "aten::addr")
def product_and_sum(node: TorchNodeContext) -> Translation:
    """beta · self + alpha · product, without self if beta is 0; addbmm sums the products of the batch."""
    added, left, right = node.operands(*tuple(node.arguments)[:3])
    if node.get_op_type() == "aten::addr":
        left, right = (ops.Unsqueeze(left, [1]).output(0), ops.Unsqueeze(right, [0]).output(0))
    result = _product(left, right).output(0)
    if node.get_op_type() == "aten::addbmm":
        result = ops.ReduceSum(result, [0], False).output(0)
    value = multiply_by(result, node.get_attribute("alpha", 1))
    factor = node.get_attribute("beta", 1)
    return ops.Add(value, multiply_by(added, factor)) if factor else value


@translator("aten::scaled_dot_product_attention")
def attention(node: TorchNodeContext) -> Translation:
    if node.get_attribute("dropout_p", 0):
        raise FrontendError("dropout in attention is not supported")
    query, key, value = (node.get_input(name) for name in ("query", "key", "value"))
    if node.get_attribute("enable_gqa", False):
        key, value = _repeated_heads(key, query), _repeated_heads(value, query)
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
    count, own = (known_length(heads, -3, "the number of heads") for heads in (query, value))
    return ops.Gather(value, int64(np.repeat(np.arange(own), count // own)), int64(-3)).output(0)
