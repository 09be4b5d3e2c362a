"""Folding of weights that are stored in a smaller type than they are computed with."""

from __future__ import annotations

from hetero import ops
from hetero.graph import Input, Model
from hetero.ops.convolution import CONVOLUTIONS
from hetero.passes.constant_folding import FoldingBudget, constant_nodes, fold_node

# The operations that read weights, and rearrange them for their kernels once if they are Constants.
_READERS = (*CONVOLUTIONS, ops.MatMul, ops.RNNSequence, ops.GRUSequence, ops.LSTMSequence)
# Bytes of f32 per byte of four-bit integers.
_GROWTH = 8


def fold_weights(model: Model) -> bool:
    """Fold weights of convolutions, MatMuls and recurrent operations that are computed from Constants.

    Takes more memory, but a device would compute and rearrange them again in every inference. Integer weights of
    operations on integers stay, except those of convolutions, which inspect their filters when they are compiled.
    """
    order, weights = model.get_ordered_ops(), set()
    constant = constant_nodes(order)
    for node in reversed(order):
        targets = (target for output in node.outputs() for target in output.get_target_inputs())
        if node in constant and any(target.node in weights or _is_weight(target) for target in targets):
            weights.add(node)
    budget = FoldingBudget(order, _GROWTH)
    return any([fold_node(node, budget) for node in order if node in weights])


def _is_weight(target: Input) -> bool:
    if not isinstance(target.node, _READERS):
        return False
    return isinstance(target.node, CONVOLUTIONS) or target.get_element_type().is_real()
