"""Numbers of axes in another data format: optimized graphs compute them where the original graph has constants."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, known_length, scalar_like
from hetero.graph import Constant
from hetero.system.errors import FrontendError


def _formats(node: TensorflowNodeContext) -> tuple[str, str]:
    source, target = node.get_attribute("src_format", "NHWC"), node.get_attribute("dst_format", "NCHW")
    if sorted(source) != sorted(target):
        raise FrontendError(f"the data formats {source} and {target} have different axes")
    return source, target


@translator("DataFormatDimMap")
def map_axes(node: TensorflowNodeContext) -> Translation:
    """The number, in the target format, of each axis, which may be negative in the source format."""
    source, target = _formats(node)
    axes = node.get_input(0)
    positive = ops.FloorMod(axes, scalar_like(axes, len(source)))
    positions = [target.index(axis) for axis in source]
    return ops.Gather(Constant(int64(positions).data.astype(axes.element_type.to_dtype())), positive, int64(0))


@translator("DataFormatVecPermute")
def permute_numbers(node: TensorflowNodeContext) -> Translation:
    """Numbers, or rows of two numbers, for each axis; for the spatial axes only if there are two less."""
    source, target = _formats(node)
    numbers = node.get_input(0)
    if known_length(numbers, 0, "the number of axes") == len(source) - 2:
        source, target = (text.replace("N", "").replace("C", "") for text in (source, target))
    return ops.Gather(numbers, int64([source.index(axis) for axis in target]), int64(0))
