"""Fourier transforms."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.onnx.emitters.registry import emitter
from hetero.frontend.onnx.node_writer import Argument, NodeWriter


@emitter(ops.DFT, ops.IDFT)
def dft(node: NodeWriter) -> str:
    """One ONNX node for each axis; the last axis of the data has the real and the imaginary part."""
    value = node.input(0)
    inverse = int(isinstance(node.op, ops.IDFT))
    for axis, size in _axes(node, node.rank(0) - 1):
        value = node.add("DFT", value, size, _scalar(axis), inverse=inverse)
    return value


@emitter(ops.RDFT)
def rdft(node: NodeWriter) -> str:
    value = node.add("Unsqueeze", node.input(0), [-1])
    *others, last = _axes(node, node.rank(0))
    value = node.add("DFT", value, last[1], _scalar(last[0]), onesided=1)
    for axis, size in others:
        value = node.add("DFT", value, size, _scalar(axis))
    return value


@emitter(ops.IRDFT)
def irdft(node: NodeWriter) -> str:
    value = node.input(0)
    *others, last = _axes(node, node.rank(0) - 1)
    for axis, size in others:
        value = node.add("DFT", value, size, _scalar(axis), inverse=1)
    value = node.add("DFT", value, last[1], _scalar(last[0]), inverse=1, onesided=1)
    return node.add("Squeeze", value, [-1])


@emitter(ops.STFT)
def stft(node: NodeWriter) -> str:
    signal, window, frame_size, frame_step = node.inputs
    signal = node.add("Unsqueeze", signal, [-1])
    if node.rank(0) == 1:
        signal = node.add("Unsqueeze", signal, [0])
    (size,) = node.numbers(2)
    # ONNX has windows as long as the frames.
    missing = size - node.static_shape(1)[0]
    if missing:
        window = node.add("Pad", window, [missing // 2, missing - missing // 2])
    result = node.add("STFT", signal, frame_step, window, frame_size, onesided=1)
    if node.op.transpose_frames:
        result = node.transpose(result, [0, 2, 1, 3])
    return node.add("Squeeze", result, [0]) if node.rank(0) == 1 else result


def _axes(node: NodeWriter, rank: int) -> list[tuple[int, Argument]]:
    """Return each axis, with the length of the signal along it, or None for its own length."""
    axes = node.axes(1, rank)
    sizes = node.numbers(2) if node.op.has_input("signal_size") else [-1] * len(axes)
    return [(axis, None if size == -1 else _scalar(size)) for axis, size in zip(axes, sizes)]


def _scalar(number: int) -> Argument:
    return np.array(number, np.int64)
