"""Check of an operation's output sizes before it is evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.core.types import Type
from hetero.graph import Constant, Node, Output, Parameter, is_constant
from hetero.ops.work_estimate import bytes_of
from hetero.system.allocation import MIN_CHECKED_BYTES, check_allocation

if TYPE_CHECKING:
    from hetero.reference.registry import Run, Runner

# Operations whose outputs are views of their input, or copies of a part of it.
_VIEWS = {"Identity", "Reshape", "Slice", "Split", "Squeeze", "StridedSlice", "Transpose", "Unsqueeze", "VariadicSplit"}
# Operations whose output size depends on the contents of an input, so that small inputs may give large outputs.
_SIZED_BY_CONTENTS = {
    "AdaptiveAvgPool", "AdaptiveMaxPool", "BatchToSpace", "Broadcast", "Col2Im", "ConvolutionBackpropData", "DFT",
    "EmbeddingSegmentsSum", "Eye", "GroupConvolutionBackpropData", "IDFT", "IRDFT", "ISTFT", "Interpolate",
    "MelWeightMatrix", "Multinomial", "OneHot", "Pad", "PriorBox", "PriorBoxClustered", "RDFT", "RandomUniform",
    "Range", "Resize", "SegmentMax", "SpaceToBatch", "SparseFillEmptyRows", "Tile",
}  # fmt: skip


def with_size_check(node: Node, run: Runner) -> Runner:
    """Return ``run`` with a check of the output sizes before it, if the node may have large outputs.

    The check raises MemoryError if they exceed the available memory, and GraphError if dynamic shapes turn out to be
    invalid.
    """
    kind = node.type_info.name
    is_static = all(output.partial_shape.is_static for output in node.outputs())
    if is_static and (kind in _VIEWS or max(map(_byte_size, node.outputs()), default=0) < MIN_CHECKED_BYTES):
        return run
    if not is_static and kind not in _SIZED_BY_CONTENTS:
        return run

    def checked(context: Run, *arrays: np.ndarray) -> Any:
        _check(node if is_static else specialized(node, arrays))
        return run(context, *arrays)

    return checked


def specialized(node: Node, arrays: Sequence[np.ndarray]) -> Node:
    """Return a copy of the node with the static types and shapes of these inputs, and outputs inferred from them."""
    sources = []
    for index, (value, array) in enumerate(zip(node.input_values(), arrays)):
        is_known = index in node.shape_inputs or is_constant(value)
        sources.append((Constant(array) if is_known else Parameter(Type(array.dtype), array.shape)).output(0))
    return node.copy_with_new_inputs(sources)


def _check(node: Node) -> None:
    for output in node.outputs():
        if output.partial_shape.is_static:
            check_allocation(_byte_size(output), f"its output {output.element_type}{output.partial_shape}")


def _byte_size(output: Output) -> int:
    return bytes_of(output, {output: output.shape})
