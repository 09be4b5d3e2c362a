"""Removal of operations that return their input unchanged."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Model, Node, Output, Parameter, Result
from hetero.graph.rt_info import copy_rt_info
from hetero.ops.values import exact_value


def remove_identities(model: Model) -> bool:
    """Remove operations that change neither type nor shape nor contents.

    Requires: constants are folded. These are Identity, a Convert to the same type, a Reshape, Squeeze, Unsqueeze,
    Transpose, Broadcast, Tile, Pad or Slice that does nothing, and a Concat of one value. Those whose result is an
    output of the model stay, as the output has their name.
    """
    changed = False
    for node in model.get_ordered_ops():
        if not _is_identity(node):
            continue
        data, result = node.input_value(0), node.output(0)
        if any(isinstance(target.node, Result) for target in result.get_target_inputs()):
            continue
        if not isinstance(data.node, Parameter):
            copy_rt_info([node, data.node], data.node)
        result.replace(data)
        node.disconnect()
        changed = True
    return changed


def _is_identity(node: Node) -> bool:
    if node.get_input_size() == 0 or node.get_output_size() != 1:
        return False
    data, result = node.input_value(0), node.output(0)
    if result.element_type != data.element_type:
        return False
    if isinstance(node, (ops.Identity, ops.Convert)):
        return True
    if isinstance(node, ops.Concat):
        return node.get_input_size() == 1
    if isinstance(node, ops.Transpose):
        order = exact_value(node.input_value(1))
        return order is not None and order.size > 0 and bool((np.diff(order) == 1).all())
    if isinstance(node, (ops.Reshape, ops.Squeeze, ops.Unsqueeze, ops.Broadcast, ops.Tile)):
        return _same_static_shape(data, result)
    if isinstance(node, ops.Pad):
        return all(_is_zero(value) for value in node.input_values()[1:3])
    if not isinstance(node, ops.Slice) or not _same_static_shape(data, result):
        return False
    steps = exact_value(node.input_value(3))
    return steps is not None and bool((steps > 0).all())


def _same_static_shape(data: Output, result: Output) -> bool:
    return data.partial_shape.is_static and data.partial_shape == result.partial_shape


def _is_zero(value: Output) -> bool:
    known = exact_value(value)
    return known is not None and not known.any()
