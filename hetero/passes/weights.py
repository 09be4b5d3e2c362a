"""Weights that are kept in a smaller type than they are computed with."""

from __future__ import annotations

from hetero import ops
from hetero.graph import Model, Node, is_constant
from hetero.graph.node import Input
from hetero.ops.convolution import CONVOLUTIONS
from hetero.passes.constant_folding import FoldingBudget, fold_node

# What reads weights, and may arrange them for its kernels once where they are Constants.
_READERS = (*CONVOLUTIONS, ops.MatMul, ops.RNNSequence, ops.GRUSequence, ops.LSTMSequence)
# Integers of four bits as f32.
_GROWTH = 8


def fold_weights(model: Model) -> bool:
    """Compute weights of products that are made of Constants, though they take more memory then.

    For a device that would compute and arrange them again in every inference. Integers that are multiplied as integers
    stay as they are but for convolutions, whose filters are looked at when they are compiled.
    """
    order, wanted = model.get_ordered_ops(), set()
    computed = _made_of_constants(order)
    for node in reversed(order):
        targets = (target for output in node.outputs() for target in output.get_target_inputs())
        if node in computed and any(target.node in wanted or _is_weight(target) for target in targets):
            wanted.add(node)
    budget = FoldingBudget(order, _GROWTH)
    return any([fold_node(node, budget) for node in order if node in wanted])


def _made_of_constants(order: list[Node]) -> set[Node]:
    made: set[Node] = set()
    for node in order:
        sources = [value.node for value in node.input_values()]
        if sources and node.deterministic and all(source in made or is_constant(source) for source in sources):
            made.add(node)
    return made


def _is_weight(target: Input) -> bool:
    if not isinstance(target.node, _READERS):
        return False
    return isinstance(target.node, CONVOLUTIONS) or target.get_element_type().is_real()
