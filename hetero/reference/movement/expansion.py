"""Broadcast, Tile, Pad, Range and OneHot."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.reference.registry import Array, evaluates


@evaluates(ops.Broadcast, ops.BroadcastV1)
def broadcast(
    node: ops.Broadcast | ops.BroadcastV1, data: Array, target_shape: Array, axes_mapping: Array | None = None
) -> Array:
    return node.broadcast_data(data, target_shape.reshape(-1).tolist(), axes_mapping)


@evaluates(ops.Tile)
def tile(node: ops.Tile, data: Array, repeats: Array) -> Array:
    return np.tile(data, np.maximum(repeats, 0).reshape(-1))


@evaluates(ops.Pad, ops.PadV1)
def pad(
    node: ops.Pad | ops.PadV1, data: Array, pads_begin: Array, pads_end: Array, arg_pad_value: Array | None = None
) -> Array:
    pads = list(zip(pads_begin.reshape(-1).tolist(), pads_end.reshape(-1).tolist()))
    positive = [(max(begin, 0), max(end, 0)) for begin, end in pads]
    if any(map(any, positive)):
        value = 0 if arg_pad_value is None else arg_pad_value.reshape(-1)[0]
        constant = {"constant_values": value} if node.pad_mode == "constant" else {}
        padded = np.pad(data, positive, mode=node.pad_mode, **constant)
    else:
        padded = data
    # Cropping by negative pads comes last, as the other end is padded from the whole data.
    cropped = (slice(max(-begin, 0), length - max(-end, 0)) for (begin, end), length in zip(pads, padded.shape))
    return padded[tuple(cropped)]


@evaluates(ops.Range, ops.RangeV1)
def range_(node: ops.Range | ops.RangeV1, start: Array, stop: Array, step: Array) -> Array:
    return node.numbers([start, stop, step])


@evaluates(ops.OneHot, ops.OneHotV1)
def one_hot(node: ops.OneHot | ops.OneHotV1, indices: Array, depth: Array, on_value: Array, off_value: Array) -> Array:
    axis, length = node.axis % (indices.ndim + 1), int(depth.reshape(-1)[0])
    before, after = math.prod(indices.shape[:axis]), math.prod(indices.shape[axis:])
    result = np.full((before, length, after), off_value.reshape(-1)[0], np.result_type(on_value, off_value))
    flat = indices.reshape(before, after).astype(np.int64)
    if node.negative_indices_mode == "normalize":
        flat = np.where(flat < 0, flat + length, flat)
    valid = (flat >= 0) & (flat < length)
    rows, columns = valid.nonzero()
    result[rows, flat[valid], columns] = on_value.reshape(-1)[0]
    return result.reshape(*indices.shape[:axis], length, *indices.shape[axis:])
