"""Reversal, rolling, and moves between space, depth and batch."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import (
    channels_last,
    channels_second,
    dimension_count,
    int64,
    rank_of,
    scalar_like,
)
from hetero.graph import Output, constant_array
from hetero.system.errors import FrontendError


@translator("Reverse")
def reverse_by_mask(node: TensorflowNodeContext) -> Translation:
    return ops.Reverse(node.get_input(0), node.get_input(1), "mask")


@translator("ReverseV2")
def reverse(node: TensorflowNodeContext) -> Translation:
    data, axes = node.get_inputs()
    known = constant_array(axes)
    if known is not None:
        rank = rank_of(data) - node.is_complex()
        axes = int64([axis % rank for axis in known.reshape(-1).tolist()]).output(0)
    return ops.Reverse(data, axes, "index")


@translator("ReverseSequence")
def reverse_sequence(node: TensorflowNodeContext) -> Translation:
    batch, sequence = node.get_attribute("batch_dim", 0, int), node.get_attribute("seq_dim", 0, int)
    return ops.ReverseSequence(node.get_input(0), node.get_input(1), batch, sequence)


@translator("Roll")
def roll(node: TensorflowNodeContext) -> Translation:
    data, shifts, axes = node.get_inputs()
    if node.is_complex():
        # Negative axes do not count the axis of real and imaginary parts.
        axes = ops.FloorMod(axes, scalar_like(axes, rank_of(data) - 1)).output(0)
    return ops.Roll(data, shifts, axes)


def columns_of(pads: Output) -> list[Output]:
    """Return the two columns of a matrix of pads or crops: those before and those after."""
    pads = convert_to(pads, Type.i64)
    known = constant_array(pads)
    if known is not None:
        return [int64(column).output(0) for column in np.reshape(known, (-1, 2)).T]
    return [ops.Gather(pads, int64(column), int64(1)).output(0) for column in (0, 1)]


_DEPTH = {"DepthToSpace": ops.DepthToSpace, "SpaceToDepth": ops.SpaceToDepth}


@translator(*_DEPTH)
def space_to_depth_or_back(node: TensorflowNodeContext) -> Translation:
    data, size = node.get_input(0), node.get_attribute("block_size", dtype=int)
    layout = node.get_attribute("data_format", "NHWC")
    if layout not in ("NHWC", "NCHW"):
        raise FrontendError(f"data_format must be NHWC or NCHW, but is {layout}")
    moved = _DEPTH[node.get_op_type()](channels_second(data) if layout == "NHWC" else data, "blocks_first", size)
    return channels_last(moved) if layout == "NHWC" else moved


@translator("SpaceToBatchND", "SpaceToBatch")
def space_to_batch(node: TensorflowNodeContext) -> Translation:
    return ops.SpaceToBatch(node.get_input(0), *_blocks_and_pads(node))


@translator("BatchToSpaceND", "BatchToSpace")
def batch_to_space(node: TensorflowNodeContext) -> Translation:
    return ops.BatchToSpace(node.get_input(0), *_blocks_and_pads(node))


def _blocks_and_pads(node: TensorflowNodeContext) -> tuple[Output, Output, Output]:
    """Return the block shape and the pads (or crops) before and after, for all axes of the data.

    The node has them for the spatial axes only; operators without ND in their name have an attribute block_size.
    """
    if node.get_op_type().endswith("ND"):
        blocks, pads = convert_to(node.get_input(1), Type.i64), node.get_input(2)
    else:
        blocks, pads = int64([node.get_attribute("block_size", dtype=int)] * 2).output(0), node.get_input(1)
    begin, end = columns_of(pads)
    axes_after = rank_of(node.get_input(0)) - 1 - dimension_count(blocks)

    def for_all_axes(values: Output, neutral: int) -> Output:
        return ops.Concat([int64([neutral]), values, int64([neutral] * axes_after)], 0).output(0)

    return for_all_axes(blocks, 1), for_all_axes(begin, 0), for_all_axes(end, 0)
