"""Reshape, Transpose, Concat and other rearrangements; views of the data if numpy supports it."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.shape import PartialShape
from hetero.ops.movement.movement import depth_to_space_blocks, space_to_depth_blocks
from hetero.reference.registry import Array, evaluates


@evaluates(ops.Reshape)
def reshape(node: ops.Reshape, data: Array, output_shape: Array) -> Array:
    shape = node.reshaped(PartialShape(data.shape), output_shape.reshape(-1).tolist())
    return data.reshape(shape.to_shape())


@evaluates(ops.Squeeze, ops.SqueezeV1)
def squeeze(node: ops.SqueezeV1, data: Array, axes: Array | None = None) -> Array:
    if axes is None or axes.size == 0:
        return np.squeeze(data)
    squeezed = {int(axis) % data.ndim for axis in axes.reshape(-1)}
    return data.reshape([length for axis, length in enumerate(data.shape) if axis not in squeezed or length != 1])


@evaluates(ops.Unsqueeze)
def unsqueeze(node: ops.Unsqueeze, data: Array, axes: Array) -> Array:
    return np.expand_dims(data, tuple(node.axes_of(axes, data.ndim)))


@evaluates(ops.Transpose)
def transpose(node: ops.Transpose, data: Array, input_order: Array) -> Array:
    return data.transpose(input_order.reshape(-1).tolist() or None)


@evaluates(ops.Concat)
def concat(node: ops.Concat, *arrays: Array) -> Array:
    return np.concatenate(arrays, axis=node.axis)


@evaluates(ops.ShapeOf, ops.ShapeOfV1)
def shape_of(node: ops.ShapeOfV1, data: Array) -> Array:
    return np.array(data.shape, node.output_type.to_dtype())


@evaluates(ops.Identity)
def identity(node: ops.Identity, data: Array) -> Array:
    return data


@evaluates(ops.DepthToSpace)
def depth_to_space(node: ops.DepthToSpace, data: Array) -> Array:
    batch, channels, *spatial = data.shape
    size = node.block_size
    shape = batch, channels // size ** len(spatial), *(length * size for length in spatial)
    return depth_to_space_blocks(node, data).reshape(shape)


@evaluates(ops.SpaceToDepth)
def space_to_depth(node: ops.SpaceToDepth, data: Array) -> Array:
    batch, channels, *spatial = data.shape
    size = node.block_size
    shape = batch, channels * size ** len(spatial), *(length // size for length in spatial)
    return space_to_depth_blocks(node, data).reshape(shape)
