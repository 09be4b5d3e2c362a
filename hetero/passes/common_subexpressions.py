"""Common subexpression elimination."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from hetero.graph import Constant, Model, Node, Op, Parameter, Result
from hetero.graph.rt_info import copy_rt_info

# Constants up to this many bytes are compared by content. Exporters repeat scalars and shapes.
_MAX_COMPARED_BYTES = 1 << 12


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
        data = node.data
        is_small = data.nbytes <= _MAX_COMPARED_BYTES and data.dtype != object
        return (Constant, data.dtype.str, data.dtype.name, data.shape, data.tobytes()) if is_small else None
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
