"""Elements moved between height and width on one side and channels or the batch on the other."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.layouts import channels_last, channels_second
from hetero.frontend.quantization import converted
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import preserves_quantization
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, rank_of, scalar_like
from hetero.graph import Output
from hetero.types import Type


@translator("SPACE_TO_DEPTH")
@preserves_quantization
def space_to_depth(node: TfliteNodeContext) -> Translation:
    data = channels_second(node.get_input(0))
    return channels_last(ops.SpaceToDepth(data, "blocks_first", node.get_attribute("block_size")))


@translator("DEPTH_TO_SPACE")
@preserves_quantization
def depth_to_space(node: TfliteNodeContext) -> Translation:
    data = channels_second(node.get_input(0))
    return channels_last(ops.DepthToSpace(data, "blocks_first", node.get_attribute("block_size")))


@translator("SPACE_TO_BATCH_ND")
def space_to_batch(node: TfliteNodeContext) -> Translation:
    """The padding stands for 0."""
    data, params = node.get_input(0), node.input_tensor(0).quantization
    blocks, begin, end = _blocks_and_edges(node)
    if params is not None and params.zero_point:
        data = ops.Pad(data, begin, end, "constant", scalar_like(data, params.zero_point)).output(0)
        begin = end = int64([0] * rank_of(data)).output(0)
    return ops.SpaceToBatch(data, blocks, begin, end)


@translator("BATCH_TO_SPACE_ND")
def batch_to_space(node: TfliteNodeContext) -> Translation:
    return ops.BatchToSpace(node.get_input(0), *_blocks_and_edges(node))


def _blocks_and_edges(node: TfliteNodeContext) -> tuple[Output, Output, Output]:
    """The lengths of blocks, and how much is added or taken in front and behind, for all axes of the data: the inputs
    have them for those between the batch and the channels."""
    blocks, edges = (converted(node.get_input(index), Type.i64) for index in (1, 2))
    begin, end = (ops.Gather(edges, int64(column), int64(1)).output(0) for column in (0, 1))
    others = rank_of(node.get_input(0)) - 1 - blocks.shape[0]

    def for_all_axes(values: Output, neutral: int) -> Output:
        return ops.Concat([int64([neutral]), values, int64([neutral] * others)], 0).output(0)

    return for_all_axes(blocks, 1), for_all_axes(begin, 0), for_all_axes(end, 0)
