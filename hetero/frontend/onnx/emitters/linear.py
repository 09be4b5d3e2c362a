"""Matrix products, attention and Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_writer import Argument, NodeWriter, NotInOnnx, emitter


@emitter(ops.MatMul)
def matmul(node: NodeWriter) -> str:
    operands = node.inputs
    for index, transposed in enumerate((node.op.transpose_a, node.op.transpose_b)):
        if transposed and (rank := node.rank(index)) > 1:
            operands[index] = node.transpose(operands[index], _swapped(rank))
    return node.add("MatMul", *operands)


@emitter(ops.ScaledDotProductAttention, ops.SoftmaxAttention)
def attention(node: NodeWriter) -> str:
    """softmax(query · keyᵀ · scale + mask) · value."""
    op = node.op
    if op.has_input("sink"):
        raise NotInOnnx("a sink")
    scores = node.add("MatMul", node.input(0), node.transpose(node.input(1), _swapped(node.rank(1))))
    if op.has_input("scale"):
        scores = node.add("Mul", scores, node.input(4))
    else:
        width = node.cast(node.lengths(node.input(0), [-1]), node.kind(0))
        scores = node.add("Div", scores, node.add("Sqrt", width))
    lowest = node.number(-math.inf)
    if op.causal:
        ones = node.add("Expand", node.number(1), node.lengths(scores, [-2, -1]))
        allowed = node.add("Cast", node.add("Trilu", ones, upper=0), to=9)
        scores = node.add("Where", allowed, scores, lowest)
    elif op.has_input("attention_mask") and node.kind(3) == Type.boolean:
        scores = node.add("Where", node.input(3), scores, lowest)
    elif op.has_input("attention_mask"):
        scores = node.add("Add", scores, node.input(3))
    weights = node.add("Softmax", scores)
    has_mask = op.has_input("attention_mask") and not op.causal
    if has_mask and not isinstance(op, ops.SoftmaxAttention):  # a fully masked row gets zeros
        is_masked = node.add("Equal", node.add("ReduceMax", scores, [-1]), lowest)
        weights = node.add("Where", is_masked, node.number(0), weights)
    return node.add("MatMul", weights, node.input(2))


def _swapped(rank: int) -> Sequence[int]:
    return [*range(rank - 2), rank - 1, rank - 2]


@emitter(ops.LinearAttention)
def linear_attention(node: NodeWriter) -> Sequence[str]:
    op = node.op
    decay, beta = None, None
    gates = node.inputs[4:]
    if op.is_gated:
        decay = gates.pop(0)
    if op.has_delta:
        beta = gates.pop(0)
    return node.add_outputs(
        2, "LinearAttention", *node.inputs[:4], decay, beta, q_num_heads=op.query_heads,
        kv_num_heads=op.heads, update_rule=op.update_rule, scale=op.scale or None,
    )  # fmt: skip


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
