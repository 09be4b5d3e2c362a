"""Convolutions."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.numerics.convolution import split_groups
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.pytorch.translators.windows import batched, lengths
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import per_channel, rank_of

# Paddings that torch names, as auto_pad.
_AUTO_PADS = {"same": "same_upper", "valid": "valid"}


@translator("aten::convolution", "aten::conv1d", "aten::conv2d", "aten::conv3d",
            "aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d")  # fmt: skip
def convolution(node: TorchNodeContext) -> Translation:
    data, filters = node.get_input("input"), node.get_input("weight")
    count = rank_of(filters) - 2
    is_transposed = node.get_attribute("transposed", "transpose" in node.get_op_type())
    strides, dilations = (lengths(node, name, 1, count) for name in ("stride", "dilation"))
    groups = node.get_attribute("groups", 1)
    padding = node.get_attribute("padding", 0)
    auto_pad = _AUTO_PADS.get(str(padding), "explicit")
    pads = lengths(node, "padding", 0, count) if auto_pad == "explicit" else [0] * count
    data, restored = batched(data, count)
    if groups > 1:
        filters = split_groups(filters, groups)
    if is_transposed:
        transposed = ops.ConvolutionBackpropData if groups == 1 else ops.GroupConvolutionBackpropData
        extra = lengths(node, "output_padding", 0, count)
        value = transposed(data, filters, strides, None, pads, pads, dilations, "explicit", extra).output(0)
    else:
        direct = ops.Convolution if groups == 1 else ops.GroupConvolution
        value = direct(data, filters, strides, pads, pads, dilations, auto_pad).output(0)
    if node.has_input("bias"):
        value = ops.Add(value, per_channel(node.get_input("bias"), count + 2)).output(0)
    return restored(value)
