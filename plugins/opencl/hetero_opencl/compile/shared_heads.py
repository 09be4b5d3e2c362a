"""Attention in groups: several heads of queries share a head of keys and values, without copies of these.

Ainslie et al., GQA: Training Generalized Multi-Query Transformer Models, 2023. Exporters repeat keys and values for each
head of a group: Unsqueeze, Broadcast and Reshape.
"""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.lengths.length import Length
from hetero.graph import Model, Node, Output
from hetero.passes.matching.rewriting import replace, rewrite_each


def share_heads(model: Model) -> bool:
    """Let attention broadcast keys and values that are repeated for the heads of a group. Requires: shapes are static."""
    return rewrite_each(model, (ops.ScaledDotProductAttention, ops.SoftmaxAttention), _share)


def _share(attention: Node) -> bool:
    query, key, value, *others = attention.input_values()
    own_key, own_value = _before_repetition(key), _before_repetition(value)
    if own_key is None or own_value is None or own_key.shape[1] != own_value.shape[1] or len(query.shape) != 4:
        return False
    heads, groups, sizes = query.shape[1], own_key.shape[1], (query.shape[-1], value.shape[-1])
    if heads != key.shape[1] or any(isinstance(length, Length) for length in (heads, groups, *sizes)):
        return False
    if len(others) > 2:  # a sink is for each head
        return False
    if others and len(others[0].shape) == 4:
        if others[0].shape[1] != 1:
            return False
        others[0] = ops.Unsqueeze(others[0], np.array([1])).output(0)
    grouped = ops.Reshape(query, np.array([0, groups, heads // groups, -1, sizes[0]]), True)
    shared = [ops.Unsqueeze(own, np.array([2])).output(0) for own in (own_key, own_value)]
    result = type(attention).of([grouped.output(0), *shared, *others], attention.attribute_values())
    joined = ops.Reshape(result, np.array([0, heads, -1, sizes[1]]), True)
    replace([attention], joined)
    for node in (key.node, value.node):
        while not node.output(0).get_target_inputs():  # so that what they read has one reader
            node.disconnect()
            node = node.input_value(0).node
    return True


def _before_repetition(value: Output) -> Output | None:
    """Return ``[B, G, T, H]`` if the value repeats each of the G matrices as ``[B, G·M, T, H]``, else None."""
    reshape = value.node
    broadcast = reshape.input_value(0).node if type(reshape) is ops.Reshape else None
    if type(broadcast) is not ops.Broadcast:
        return None
    unsqueeze = broadcast.input_value(0).node
    if type(unsqueeze) is not ops.Unsqueeze or len(value.shape) != 4:
        return None
    own, repeated = unsqueeze.input_value(0), broadcast.output(0).shape
    if len(own.shape) != 4 or unsqueeze.output(0).shape[2] != 1 or len(repeated) != 5:
        return None
    batch, groups, *matrix = own.shape
    is_repetition = repeated == (batch, groups, repeated[2], *matrix)
    return own if is_repetition and value.shape == (batch, groups * repeated[2], *matrix) else None
