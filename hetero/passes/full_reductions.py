"""Reductions of all elements, whatever their order."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Model
from hetero.passes.cleanup import eliminate_dead_code
from hetero.passes.matching.rewriting import replace, rewrite_each


def reduce_before_reshape(model: Model) -> bool:
    """Let ReduceMax and ReduceMin of all elements read what a Reshape reads, whose layout a device chooses."""
    changed = rewrite_each(model, (ops.ReduceMax, ops.ReduceMin), _skip_reshape)
    if changed:
        eliminate_dead_code(model)
    return changed


def _skip_reshape(node: ops.ReduceMax | ops.ReduceMin) -> bool:
    reshape, shape = node.input_value(0).node, node.get_input_partial_shape(0)
    if type(reshape) is not ops.Reshape or node.keep_dims or not shape.has_rank or not len(shape):
        return False
    data = reshape.input_value(0)
    axes = node.axes(len(shape))
    if not data.partial_shape.has_rank or axes is None or len(set(axes)) != len(shape):
        return False
    replace([node], type(node)(data, np.arange(len(data.partial_shape)), keep_dims=False))
    return True
