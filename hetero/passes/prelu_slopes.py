"""Let the slopes of PRelu broadcast as any other input does."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model


def align_prelu_slopes(model: Model) -> bool:
    """Give slopes that go with the channels, axis 1, the dimensions of length 1 that numpy's rule asks for.

    Requires nothing. Ensures: the slope of every PRelu over data of known rank broadcasts to the data by numpy's rule.
    """
    changed = False
    for node in model.get_ordered_ops():
        if not isinstance(node, ops.PRelu):
            continue
        data, slope = (value.partial_shape for value in node.input_values())
        if not data.has_rank or not slope.has_rank or len(slope) != 1 or slope == [1] or len(data) < 3:
            continue
        if not slope[0].compatible(data[1]):
            continue  # another length than the channels': it goes with the last axis, as numpy has it
        axes = Constant(np.arange(1, len(data) - 1), name=f"{node.friendly_name}/axes")
        aligned = ops.Unsqueeze(node.input_value(1), axes, name=f"{node.friendly_name}/slope")
        node.input(1).replace_source_output(aligned.output(0))
        changed = True
    return changed
