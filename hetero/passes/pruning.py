"""Removal of channels that are always zero: filters of zeros, and the weights that read their results."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Constant, Input, Model, Node, constant_array
from hetero.passes.matching.rewriting import only_reader, per_channel, rewrite_each

# Element-wise operations that keep zero zero.
_KEEP_ZERO = (ops.Relu, ops.Tanh, ops.Abs, ops.Negative, ops.Swish, ops.Gelu, ops.HSwish, ops.Elu)


def prune_channels(model: Model) -> bool:
    """Remove the filters of zeros of convolutions whose channels reach only one other convolution.

    Between the two there may be biases that are zero in these channels, factors, and functions that keep zero. Returns
    whether any were removed; types and shapes are inferred again then.
    """
    changed = rewrite_each(model, (ops.Convolution,), _prune)
    if changed:
        model.validate_nodes_and_infer_types()
    return changed


def _prune(convolution: ops.Convolution) -> bool:
    weights = constant_array(convolution.input_value(1))
    if weights is None:
        return False
    removed = np.asarray(~weights.reshape(len(weights), -1).any(1))
    operands: list[Input] = []
    reader = only_reader(convolution)
    while reader is not None and not isinstance(reader.node, ops.Convolution):
        node: Node = reader.node
        if isinstance(node, (ops.Add, ops.Multiply)):
            values = per_channel(reader)
            if values is None or reader.partial_shape != node.output(0).partial_shape:
                return False
            if isinstance(node, ops.Add):
                removed = np.logical_and(removed, values == 0)
            if len(values) > 1:
                operands.append(node.input(1 - reader.index))
        elif not isinstance(node, _KEEP_ZERO) or reader.index:
            return False
        reader = only_reader(node)
    if reader is None or reader.index or not removed.any() or removed.all():
        return False
    following = constant_array(reader.node.input_value(1))
    if following is None or following.shape[1] != len(removed):
        return False
    _replace(convolution.input(1), weights[~removed])
    _replace(reader.node.input(1), following[:, ~removed])
    for operand in operands:
        array = constant_array(operand.get_source_output())
        assert array is not None  # per_channel has read it
        axis = array.ndim - (len(convolution.output(0).partial_shape) - 1)
        _replace(operand, np.compress(~removed, array, axis))
    return True


def _replace(read: Input, array: np.ndarray) -> None:
    name = read.get_source_output().node.friendly_name
    read.replace_source_output(Constant(np.ascontiguousarray(array), name=name).output(0))
