"""Operators that make more elements: pads, copies, sequences, and what shapes they are told by."""

from __future__ import annotations

import numpy as np
import tflite

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, reshape, scalar_like
from hetero.graph import Output
from hetero.ops.values import exact_value


@translator("PAD")
def pad(node: TfliteNodeContext) -> Translation:
    """Pads are zeros: of quantized data the integers that stand for zero."""
    by = node.output_tensor(0).quantization
    zero = scalar_like(node.get_input(0), 0 if by is None else by.zero_point)
    return ops.Pad(node.get_input(0), *_pads(node), "constant", zero)


@translator("PADV2")
def pad_by_value(node: TfliteNodeContext) -> Translation:
    return ops.Pad(node.get_input(0), *_pads(node), "constant", reshape(node.get_input(2), ()))


@translator("MIRROR_PAD")
def mirror_pad(node: TfliteNodeContext) -> Translation:
    reflect = node.get_attribute("mode", tflite.MirrorPadMode.REFLECT) == tflite.MirrorPadMode.REFLECT
    return ops.Pad(node.get_input(0), *_pads(node), "reflect" if reflect else "symmetric")


def _pads(node: TfliteNodeContext) -> list[Output]:
    """How much is added before and behind: the columns of input 1."""
    known = exact_value(node.get_input(1))
    if known is not None:
        return [int64(column).output(0) for column in np.reshape(known, (-1, 2)).T]
    return [ops.Squeeze(column, int64([1])).output(0) for column in ops.Split(node.get_input(1), int64(1), 2).outputs()]


@translator("TILE")
def tile(node: TfliteNodeContext) -> Translation:
    return ops.Tile(node.get_input(0), node.get_input(1))


@translator("BROADCAST_TO")
def broadcast(node: TfliteNodeContext) -> Translation:
    return ops.Broadcast(node.get_input(0), node.get_input(1))


@translator("FILL")
def fill(node: TfliteNodeContext) -> Translation:
    """The shape is the first input."""
    return ops.Broadcast(node.get_input(1), node.get_input(0))


@translator("ZEROS_LIKE")
def zeros_like(node: TfliteNodeContext) -> Translation:
    return ops.Broadcast(scalar_like(node.get_input(0), 0), ops.ShapeOf(node.get_input(0)))


@translator("SHAPE")
def shape(node: TfliteNodeContext) -> Translation:
    return ops.ShapeOf(node.get_input(0), node.output_tensor(0).element_type)


@translator("RANK")
def rank(node: TfliteNodeContext) -> Translation:
    return ops.Convert(int64(rank_of(node.get_input(0))), node.output_tensor(0).element_type)


@translator("RANGE")
def numbers(node: TfliteNodeContext) -> Translation:
    return ops.Range(*(node.get_input(index) for index in range(3)), node.get_input(0).element_type)
