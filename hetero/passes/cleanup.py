"""Removal of what the results do not need: dead code, operations that do nothing, operations that are there twice."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model, Node, Op, Output, Parameter, Result
from hetero.graph.rt_info import copy_rt_info
from hetero.ops.checks import exact_value
from hetero.passes.manager import keeps_values


@keeps_values
def eliminate_dead_code(model: Model) -> bool:
    """Disconnect nodes that read values of the model but lead to no result or sink.

    Every reader of a value is then a node of the model, so fusions that need a value with one reader apply.
    """
    live = set(model.get_ordered_ops())
    dead = [
        target.node
        for node in live
        for output in node.outputs()
        for target in output.get_target_inputs()
        if target.node not in live
    ]
    for node in dead:
        node.disconnect()
    return bool(dead)


@keeps_values
def remove_identities(model: Model, keeps_outputs: bool = True) -> bool:
    """Remove operations that change neither type nor shape nor contents.

    Requires: constants are folded. These are Identity, a Convert to the same type, a Reshape, Squeeze, Unsqueeze,
    Transpose, Broadcast, Tile, Pad or Slice that does nothing, and a Concat of one value. Those whose result is an
    output of the model stay with ``keeps_outputs``, as the output has their name.
    """
    changed = False
    for node in model.get_ordered_ops():
        if not is_identity(node):
            continue
        data, result = node.input_value(0), node.output(0)
        if keeps_outputs and any(isinstance(target.node, Result) for target in result.get_target_inputs()):
            continue
        if not isinstance(data.node, Parameter):
            copy_rt_info([node, data.node], data.node)
        result.replace(data)
        node.disconnect()
        changed = True
    return changed


def is_identity(node: Node) -> bool:
    """Return whether an operation changes neither type nor shape nor contents."""
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


# Constants up to this many bytes are compared by content. Exporters repeat scalars and shapes.
_MAX_COMPARED_BYTES = 1 << 12


@keeps_values
def eliminate_common_subexpressions(model: Model) -> bool:
    """Merge nodes of the same operation, attributes and inputs into the first of them.

    Nodes whose outputs may differ from run to run are kept. The first node takes the original names of the others.
    """
    changed = False
    first_of: dict[Hashable, Node] = {}
    for node in model.get_ordered_ops():
        key = _key(node)
        if key is None:
            continue
        first = first_of.setdefault(key, node)
        if first is not node:
            copy_rt_info([node, first], first)
            for output, first_output in zip(node.outputs(), first.outputs()):
                output.replace(first_output)
            node.disconnect()
            changed = True
    return changed


def _key(node: Node) -> Hashable | None:
    """Return a key that nodes share only if they compute the same; None for a node that must stay."""
    if isinstance(node, Constant):
        if node.decoded_bytes > _MAX_COMPARED_BYTES or (data := node.data).dtype == object:
            return None
        return (Constant, data.dtype.str, data.dtype.name, data.shape, data.tobytes())
    if isinstance(node, (Parameter, Result)) or not node.deterministic:
        return None
    if not isinstance(node, Op) or not node.is_declared():
        return None  # its nodes may hold more than attributes
    try:
        attributes = tuple((name, _hashable(value)) for name, value in node.attribute_values().items())
    except TypeError:
        return None
    return (type(node), attributes, tuple(node.input_values()))


def _hashable(value: object) -> Hashable:
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    hash(value)
    return value
