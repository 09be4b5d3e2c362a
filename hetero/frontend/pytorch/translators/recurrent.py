"""RNN, GRU and LSTM: their cells, and networks of several layers and directions."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.numerics.recurrent import RECURRENT_KINDS, recurrent_network, recurrent_weights, with_swapped_axes
from hetero.frontend.pytorch.node_context import TorchNodeContext, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, known_length, rank_of
from hetero.system.errors import FrontendError


@translator(*(f"aten::{name}_cell" for name in RECURRENT_KINDS))
def cell(node: TorchNodeContext) -> Translation:
    kind = RECURRENT_KINDS[node.get_op_type().removeprefix("aten::").removesuffix("_cell")]
    states = node.get_inputs("hx")
    weights = recurrent_weights(kind, [node.get_optional_input(name) for name in ("w_ih", "w_hh", "b_ih", "b_hh")])
    size = known_length(weights[1], -1, "the size of the state")
    return kind.cell(node.get_input("input"), *states, *weights, hidden_size=size, **kind.attributes).outputs()


@translator(*(f"aten::{name}.input" for name in RECURRENT_KINDS))
def network(node: TorchNodeContext) -> Translation:
    """All layers; the states are ``[layers · directions, batch, size]``, the data ``[time, batch, size]``."""
    kind = RECURRENT_KINDS[node.get_op_type().removeprefix("aten::")]
    value, states, parameters = node.get_input("input"), node.get_inputs("hx"), node.get_inputs("params")
    layers, directions = node.get_attribute("num_layers"), 2 if node.get_attribute("bidirectional") else 1
    if node.get_attribute("train") and node.get_attribute("dropout"):
        raise FrontendError("dropout in training mode is not supported: export the module after eval()")
    count = 4 if node.get_attribute("has_biases") else 2
    if len(parameters) != layers * directions * count:
        raise FrontendError("a projection of the state is not supported")
    is_unbatched, is_batch_first = rank_of(value) == 2, node.get_attribute("batch_first")
    if is_unbatched:
        value, *states = (ops.Unsqueeze(tensor, [1]).output(0) for tensor in (value, *states))
    if is_unbatched or not is_batch_first:
        value = with_swapped_axes(value)
    weights = [parameters[first : first + count] for first in range(0, len(parameters), count)]
    value, finals = recurrent_network(kind, value, states, weights, layers)
    if is_unbatched or not is_batch_first:
        value = with_swapped_axes(value)
    results = [value, *finals]
    return [ops.Squeeze(result, int64([1])) for result in results] if is_unbatched else results
