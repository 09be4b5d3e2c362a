"""Causal convolution over time, with the last elements of the previous call as its state."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, known_length, scalar_like
from hetero.graph import Op, Output
from hetero.system.errors import FrontendError


@translator("CausalConvWithState", since=27)
@translator("CausalConvWithState", domain="com.microsoft")
def causal_convolution(node: OnnxNodeContext) -> Translation:
    """Convolve ``[B, C, T]`` with one filter ``[C, 1, k]`` per channel; return the result and the new state.

    The state ``[B, C, (k - 1) · dilation]`` holds the elements before the input.
    """
    node.check_only_supported(state_window=0, channels_last=0, ndim=1)
    value, filters, dilation = node.get_input(0), node.get_input(1), node.get_attribute("dilation", 1)
    past = (known_length(filters, 2, "the size of the filters") - 1) * dilation
    padded = ops.Concat([node.get_input(3) if node.has_input(3) else _zeros(value, past), value], 2).output(0)
    grouped = ops.Unsqueeze(filters, int64([1]))
    result: Op = ops.GroupConvolution(padded, grouped, [1], [0], [0], [dilation])
    if node.has_input(2):
        result = ops.Add(result, ops.Unsqueeze(node.get_input(2), int64([1])))
    activation = node.get_attribute("activation", "none")
    if activation not in ("none", "silu", "swish"):
        raise FrontendError(f"activation must be none, silu or swish, but is {activation}")
    result = result if activation == "none" else ops.Swish(result)
    length = axis_length(padded, [2])
    state = ops.Slice(padded, ops.Subtract(length, int64(past)), length, int64([1]), int64([2]))
    return [result.output(0), state.output(0)]


def _zeros(value: Output, count: int) -> Output:
    """Return zeros ``[B, C, count]``."""
    return ops.Broadcast(scalar_like(value, 0), ops.Concat([axis_length(value, [0, 1]), int64([count])], 0)).output(0)
