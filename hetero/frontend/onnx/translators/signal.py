"""Fourier transforms, window functions and mel filters."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_context import OnnxNodeContext, rows, translator
from hetero.frontend.onnx.tensors import element_type
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import arange, axis_length, int64, rank_of, scalar_like
from hetero.graph import Constant, Op, Output
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError


@translator("DFT", since=17)
def dft(node: OnnxNodeContext) -> Translation:
    value, rank = node.get_input(0), rank_of(node.get_input(0))
    default = int64(1 if node.get_opset_version() < 20 else -2).output(0)
    axis = node.get_optional_input_or_attribute(2, "axis") or default
    known = exact_value(axis)
    if known is not None and (not -rank <= known.item() < rank or known.item() % rank == rank - 1):
        raise FrontendError(f"axis {known.item()} is out of range for a signal of {rank - 1} axes")
    # Negative axes count the axis of real and imaginary part in ONNX, but not in the operation.
    axes = ops.Reshape(ops.FloorMod(ops.Convert(axis, "i64"), int64(rank)), int64([1]), False)
    size = (ops.Reshape(node.get_input(1), int64([1]), False),) if node.has_input(1) else ()
    inverse, onesided = node.get_attribute("inverse", 0), node.get_attribute("onesided", 0)
    if onesided and inverse:
        return ops.Unsqueeze(ops.IRDFT(_as_complex(value), axes, *size), int64([-1]))
    if onesided:
        return ops.RDFT(ops.Squeeze(value, int64([-1])), axes, *size)
    return (ops.IDFT if inverse else ops.DFT)(_as_complex(value), axes, *size)


def _as_complex(value: Output) -> Output:
    """Append an imaginary part of 0 to values ``[…, 1]`` with a real part only."""
    parts = value.partial_shape[len(value.partial_shape) - 1]
    if parts == 2:
        return value
    if parts != 1:
        raise FrontendError(f"the last axis of the signal must be known to be 1 or 2, but is {parts}")
    return ops.Concat([value, ops.Multiply(value, scalar_like(value, 0))], -1).output(0)


@translator("STFT", since=17)
def stft(node: OnnxNodeContext) -> Translation:
    signal, step = node.get_input(0), node.get_input(1)
    window, frame = node.get_optional_input(2), node.get_optional_input(3)
    if frame is None:
        if window is None:
            raise FrontendError("it needs the input window or frame_length")
        frame = ops.Squeeze(ops.ShapeOf(window)).output(0)
    if window is None:
        window = ops.Broadcast(scalar_like(signal, 1), ops.Unsqueeze(frame, int64([0]))).output(0)
    if node.get_attribute("onesided", 1):
        return ops.STFT(ops.Squeeze(signal, int64([-1])), window, frame, step, False)
    return ops.DFT(_frames(_as_complex(signal), window, frame, step), int64([2]))


def _frames(signal: Output, window: Output, frame: Output, step: Output) -> Output:
    """Return the frames ``[batch, frames, frame length, 2]`` of a signal ``[batch, length, 2]``, times the window."""
    length, stride = (ops.Convert(value, "i64") for value in (frame, step))
    starts = ops.Range(int64(0), ops.Add(ops.Subtract(axis_length(signal, 1), length), int64(1)), stride, "i64")
    indices = ops.Add(ops.Unsqueeze(starts, int64([1])), arange(length))
    return ops.Multiply(ops.Gather(signal, indices, int64(1)), ops.Unsqueeze(window, int64([1]))).output(0)


# The coefficients of cos(2πkn/N), k = 0, 1, 2: F. Harris, "On the use of windows for harmonic analysis", 1978.
_WINDOWS = {"HannWindow": (0.5, -0.5), "HammingWindow": (25 / 46, -21 / 46), "BlackmanWindow": (0.42, -0.5, 0.08)}


@translator(*_WINDOWS, since=17)
def window(node: OnnxNodeContext) -> Translation:
    size = ops.Convert(node.get_input(0), "f32")
    period = size if node.get_attribute("periodic", 1) else ops.Subtract(size, np.float32(1))
    number = ops.Range(np.float32(0), size, np.float32(1), "f32")
    first, *others = _WINDOWS[node.get_op_type()]
    total: Op = Constant(np.float32(first))
    for index, weight in enumerate(others, 1):
        angle = ops.Divide(ops.Multiply(number, np.float32(2 * math.pi * index)), period)
        total = ops.Add(total, ops.Multiply(ops.Cos(angle), np.float32(weight)))
    return ops.Convert(total, node.get_type_attribute("output_datatype", Type.f32))


rows({
    "MelWeightMatrix": Row(
        ops.MelWeightMatrix, since=17, output_type=Attr("output_datatype", Type.f32, element_type)
    )
})  # fmt: skip
