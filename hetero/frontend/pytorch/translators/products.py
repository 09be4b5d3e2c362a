"""Matrix products, linear layers and attention."""

from __future__ import annotations

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import multiply_by
from hetero.graph import Output
from hetero.types import Type


@translator("aten::mm", "aten::bmm", "aten::matmul", "aten::mv", "aten::dot")
def product(node: TorchNodeContext) -> Translation:
    names = [name for name in ("self", "mat2", "other", "vec", "tensor") if name in node.arguments]
    return ops.MatMul(*node.operands(*names), False, False)


@translator("aten::linear")
def linear(node: TorchNodeContext) -> Translation:
    value = ops.MatMul(node.get_input("input"), node.get_input("weight"), False, True).output(0)
    return ops.Add(value, node.get_input("bias")) if node.has_input("bias") else value


@translator("aten::addmm", "aten::baddbmm")
def product_and_sum(node: TorchNodeContext) -> Translation:
    names = ("mat1", "mat2") if "mat1" in node.arguments else ("batch1", "batch2")
    added, left, right = node.operands("self", *names)
    value = multiply_by(ops.MatMul(left, right, False, False).output(0), node.get_attribute("alpha", 1))
    return ops.Add(value, multiply_by(added, node.get_attribute("beta", 1)))


@translator("aten::scaled_dot_product_attention")
def attention(node: TorchNodeContext) -> Translation:
    if node.get_attribute("dropout_p", 0):
        raise FrontendError("dropout in attention is not supported")
    query, key, value = (node.get_input(name) for name in ("query", "key", "value"))
    if node.get_attribute("enable_gqa", False):
        raise FrontendError("enable_gqa is not supported")
    inputs: list[Output] = [query, key, value]
    if node.has_input("attn_mask"):
        mask = node.get_input("attn_mask")
        inputs.append(mask if mask.element_type is Type.boolean else node.converted("attn_mask", query.element_type))
    scale = node.get_attribute("scale", None)
    if scale is not None:
        width = query.partial_shape[-1]
        if width.is_dynamic:
            raise FrontendError("the width of a head must be known")
        inputs[0] = multiply_by(query, scale * width.get_length() ** 0.5)
    return ops.ScaledDotProductAttention(*inputs, causal=node.get_attribute("is_causal", False))
