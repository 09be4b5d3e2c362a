"""SPACE_TO_DEPTH, SPACE_TO_BATCH_ND and their inverses."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import preserves_quantization
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import channels_last, channels_second, int64, rank_of, scalar_like
from hetero.graph import Output

_DEPTH = {"DEPTH_TO_SPACE": ops.DepthToSpace, "SPACE_TO_DEPTH": ops.SpaceToDepth}


@translator(*_DEPTH)
@preserves_quantization
def space_to_depth_or_back(node: TfliteNodeContext) -> Translation:
    data, size = channels_second(node.get_input(0)), node.get_attribute("block_size")
    return channels_last(_DEPTH[node.get_op_type()](data, "blocks_first", size))


@translator("SPACE_TO_BATCH_ND")
def space_to_batch(node: TfliteNodeContext) -> Translation:
    """Quantized data is padded by its zero point."""
    data, params = node.get_input(0), node.input_tensor(0).quantization
    blocks, begin, end = _block_shape_and_pads(node)
    if params is not None and params.zero_point:
        data = ops.Pad(data, begin, end, "constant", scalar_like(data, params.zero_point)).output(0)
        begin = end = int64([0] * rank_of(data)).output(0)
    return ops.SpaceToBatch(data, blocks, begin, end)


@translator("BATCH_TO_SPACE_ND")
def batch_to_space(node: TfliteNodeContext) -> Translation:
    return ops.BatchToSpace(node.get_input(0), *_block_shape_and_pads(node))


def _block_shape_and_pads(node: TfliteNodeContext) -> tuple[Output, Output, Output]:
    """Return the block shape and the pads (or crops) before and after, for all axes of the data.

    Inputs 1 and 2 have them for the spatial axes only.
    """
    blocks, pads = (convert_to(node.get_input(index), Type.i64) for index in (1, 2))
    begin, end = (ops.Gather(pads, int64(column), int64(1)).output(0) for column in (0, 1))
    axes_after = rank_of(node.get_input(0)) - 1 - blocks.shape[0]

    def for_all_axes(values: Output, neutral: int) -> Output:
        return ops.Concat([int64([neutral]), values, int64([neutral] * axes_after)], 0).output(0)

    return for_all_axes(blocks, 1), for_all_axes(begin, 0), for_all_axes(end, 0)
