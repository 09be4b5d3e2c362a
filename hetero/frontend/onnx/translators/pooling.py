"""Pooling over windows."""

from __future__ import annotations

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import Translation, translator
from hetero.frontend.onnx.translators.convolution import Windows, read_windows
from hetero.graph import Op, Output


@translator("MaxPool")
def max_pool(node: OnnxNodeContext) -> Translation:
    kernel = node.get_attribute("kernel_shape")
    windows = read_windows(node, len(kernel))
    if node.has_output(1) and node.get_attribute("storage_order", 0):
        raise FrontendError("indices in column-major order are not supported")
    return ops.MaxPool(
        node.get_input(0),
        strides=windows.strides,
        dilations=windows.dilations,
        pads_begin=windows.pads_begin,
        pads_end=windows.pads_end,
        kernel_shape=kernel,
        rounding_type=_rounding(node, windows, kernel),
        auto_pad=windows.auto_pad,
        index_element_type="i64",
        axis=0,
    )


@translator("AveragePool", since=7)
def average_pool(node: OnnxNodeContext) -> Translation:
    return average_pool_of(node, node.get_input(0))


def average_pool_of(node: OnnxNodeContext, value: Output) -> Op:
    """The averages over windows of the value, by the attributes of the node."""
    kernel = node.get_attribute("kernel_shape")
    windows = read_windows(node, len(kernel))
    if any(dilation != 1 for dilation in windows.dilations):
        raise FrontendError(f"dilations {list(windows.dilations)} are not supported")
    return ops.AvgPool(
        value,
        strides=windows.strides,
        pads_begin=windows.pads_begin,
        pads_end=windows.pads_end,
        kernel_shape=kernel,
        exclude_pad=not node.get_attribute("count_include_pad", 0),
        rounding_type=_rounding(node, windows, kernel),
        auto_pad=windows.auto_pad,
    )


def _rounding(node: OnnxNodeContext, windows: Windows, kernel: tuple[int, ...]) -> str:
    """``floor`` or ``ceil``.

    With ceil_mode ONNX drops a last window that would begin behind the data, where OpenVINO's "ceil" keeps it: where
    that happens on every axis that rounds, "floor" is what is meant.
    """
    if not node.get_attribute("ceil_mode", 0) or windows.auto_pad != "explicit":
        return "floor"
    extents = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, windows.dilations)]
    if all(end <= extent - stride for end, extent, stride in zip(windows.pads_end, extents, windows.strides)):
        return "ceil"  # no window can begin there
    lengths = node.get_input(0).partial_shape[2:]
    if lengths.is_dynamic:
        raise FrontendError("ceil_mode with windows that may begin behind the data needs an input of known shape")
    kept = set()
    for length, extent, stride, begin, end in zip(
        lengths.to_shape(), extents, windows.strides, windows.pads_begin, windows.pads_end
    ):
        room = length + begin + end - extent
        if room % stride:
            kept.add(-(-room // stride) * stride < length + begin)
    if len(kept) > 1:
        raise FrontendError("ceil_mode that adds a window on one axis but not on another is not supported")
    return "ceil" if True in kept else "floor"
