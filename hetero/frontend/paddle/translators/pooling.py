"""Pooling."""

from __future__ import annotations

from collections.abc import Sequence

from hetero import ops
from hetero.frontend.paddle.node_context import PaddleNodeContext, translator
from hetero.frontend.paddle.translators.convolution import channels_moved, pads_of, same_pads
from hetero.frontend.translation.translators import ConversionResult
from hetero.frontend.translation.values import int64, rank_of, scalar_like
from hetero.graph import Output


@translator("pool2d", "pool3d")
def pool(node: PaddleNodeContext) -> ConversionResult:
    value, restored = channels_moved(node, node.get_input("X"))
    return restored(_pool(node, value))


def _pool(node: PaddleNodeContext, value: Output) -> Output:
    count, is_max = rank_of(value) - 2, node.get_attribute("pooling_type", "max") == "max"
    kernel = node.known_integers("ksize")
    kernel = kernel * count if len(kernel) == 1 else kernel
    is_adaptive = node.get_attribute("adaptive", False)
    if node.get_attribute("global_pooling", False) or (is_adaptive and set(kernel) == {1}):
        return (ops.ReduceMax if is_max else ops.ReduceMean)(value, int64(range(2, count + 2)), True).output(0)
    if is_adaptive:
        return (ops.AdaptiveMaxPool if is_max else ops.AdaptiveAvgPool)(value, int64(kernel)).output(0)
    begin, end, auto_pad = pads_of(node, count)
    strides = list(node.get_attribute("strides", kernel))
    rounding = "ceil" if node.get_attribute("ceil_mode", False) else "floor"
    if is_max:
        return ops.MaxPool(value, strides, [1] * count, begin, end, kernel, rounding, auto_pad).output(0)
    return _average(node, value, strides, begin, end, kernel, rounding, auto_pad)


def _average(
    node: PaddleNodeContext, value: Output, strides: Sequence[int], begin: Sequence[int], end: Sequence[int],
    kernel: Sequence[int], rounding: str, auto_pad: str,
) -> Output:  # fmt: skip
    excluded = node.get_attribute("exclusive", True)
    if not excluded and auto_pad == "same_upper":
        begin, end = same_pads(value, kernel, strides)
        auto_pad = "explicit"
    if not excluded and auto_pad == "explicit" and (rounding == "ceil" or list(begin) != list(end)):
        # The padding counts, after the image at most as much of it as before; what a window has beyond it does not.
        counted = [min(pair) for pair in zip(begin, end)]
        zero = scalar_like(value, 0)
        value = ops.Pad(value, int64([0, 0, *begin]), int64([0, 0, *counted]), "constant", zero).output(0)
        begin, end, excluded = [0] * len(begin), [a - b for a, b in zip(end, counted)], True
    return ops.AvgPool(
        value, strides, pads_begin=begin, pads_end=end, kernel_shape=kernel, exclude_pad=excluded,
        rounding_type=rounding, auto_pad=auto_pad,
    ).output(0)  # fmt: skip


@translator("max_pool2d_with_index", "max_pool3d_with_index")
def max_pool_with_index(node: PaddleNodeContext) -> ConversionResult:
    """The largest elements, and their places in the image."""
    value = node.get_input("X")
    count = rank_of(value) - 2
    kernel = node.known_integers("ksize")
    declared = node.output_variable("Mask").element_type
    index_type = "i32" if declared.is_dynamic() else declared.to_string()
    if node.get_attribute("adaptive", False) or node.get_attribute("global_pooling", False):
        size = [1] * count if node.get_attribute("global_pooling", False) else kernel
        outputs = ops.AdaptiveMaxPool(value, int64(size), index_type).outputs()
    else:
        pads = node.get_attribute("paddings", [0] * count)
        rounding = "ceil" if node.get_attribute("ceil_mode", False) else "floor"
        strides = node.get_attribute("strides", kernel)
        outputs = ops.MaxPool(
            value, strides, [1] * count, pads, pads, kernel, rounding, "explicit", index_type, 2
        ).outputs()  # fmt: skip
    return {"Out": outputs[0], "Mask": outputs[1]}
