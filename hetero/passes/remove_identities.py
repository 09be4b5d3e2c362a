"""Take away operations that hand on what they are given."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Model, Node, Output, Parameter, Result
from hetero.graph.runtime_info import copy_runtime_info
from hetero.ops.values import exact_value


def remove_identities(model: Model) -> bool:
    """Let the readers of an operation that changes neither type nor shape nor contents read its data instead.

    Requires: constants are folded. Ensures: no Identity, no Convert to the same type, no Reshape, Squeeze, Unsqueeze,
    Transpose, Broadcast, Tile, Pad or Slice whose result is its data, and no Concat of one is left, but for those
    whose result is an output of the model, which keep their names.
    """
    changed = False
    for node in model.get_ordered_ops():
        if not _hands_on(node):
            continue
        data, made = node.input_value(0), node.output(0)
        if any(isinstance(target.node, Result) for target in made.get_target_inputs()):
            continue
        if not isinstance(data.node, Parameter):
            copy_runtime_info([node, data.node], data.node)
        made.replace(data)
        node.disconnect()
        changed = True
    return changed


def _hands_on(node: Node) -> bool:
    if node.get_input_size() == 0 or node.get_output_size() != 1:
        return False
    data, made = node.input_value(0), node.output(0)
    if made.element_type != data.element_type:
        return False
    if isinstance(node, (ops.Identity, ops.Convert)):
        return True
    if isinstance(node, ops.Concat):
        return node.get_input_size() == 1
    if isinstance(node, ops.Transpose):
        order = exact_value(node.input_value(1))
        return order is not None and order.size > 0 and (np.diff(order) == 1).all()
    if isinstance(node, (ops.Reshape, ops.Squeeze, ops.Unsqueeze, ops.Broadcast, ops.Tile)):
        return _same_static_shape(data, made)
    if isinstance(node, ops.Pad):
        return all(_is_zero(value) for value in node.input_values()[1:3])
    return isinstance(node, ops.Slice) and _same_static_shape(data, made) and _goes_forward(node)


def _same_static_shape(data: Output, made: Output) -> bool:
    return data.partial_shape.is_static and data.partial_shape == made.partial_shape


def _is_zero(value: Output) -> bool:
    known = exact_value(value)
    return known is not None and not known.any()


def _goes_forward(node: Node) -> bool:
    steps = exact_value(node.input_value(3))
    return steps is not None and (steps > 0).all()
