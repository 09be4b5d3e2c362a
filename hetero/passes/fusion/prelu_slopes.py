"""Alignment of the slopes of PRelu, so that they broadcast by numpy's rule."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model, Node
from hetero.passes.matching.rewriting import rewrite_each


def align_prelu_slopes(model: Model) -> bool:
    """Reshape slopes ``[C]`` of PRelu, which belong to axis 1, to ``[C, 1, ...]``, if the rank of the data is known."""
    return rewrite_each(model, (ops.PRelu,), _align)


def _align(node: Node) -> bool:
    data, slope = (value.partial_shape for value in node.input_values())
    if not data.has_rank or not slope.has_rank or len(slope) != 1 or slope == [1] or len(data) < 3:
        return False
    if not slope[0].compatible(data[1]):
        return False  # the slopes belong to the last axis, as numpy broadcasts them
    axes = Constant(np.arange(1, len(data) - 1), name=f"{node.friendly_name}/axes")
    aligned = ops.Unsqueeze(node.input_value(1), axes, name=f"{node.friendly_name}/slope")
    node.input(1).replace_source_output(aligned.output(0))
    return True
