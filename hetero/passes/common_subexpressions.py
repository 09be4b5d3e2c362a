"""Compute once what the model computes several times from the same values."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from hetero.graph import Constant, Model, Node, Op, Parameter, Result
from hetero.graph.runtime_info import copy_runtime_info

# Constants up to this many bytes are compared by content: the scalars and shapes that exporters repeat.
_COMPARED = 1 << 12


def eliminate_common_subexpressions(model: Model) -> bool:
    """Let the readers of a node read an earlier one of the same operation, attributes and inputs instead.

    Requires nothing. Ensures: no two nodes with the same inputs compute the same, except those whose outputs may
    differ from run to run. The node that stays stands for those that go.
    """
    changed = False
    known: dict[Hashable, Node] = {}
    for node in model.get_ordered_ops():
        key = _identity(node)
        if key is None:
            continue
        first = known.setdefault(key, node)
        if first is not node:
            copy_runtime_info([node, first], first)
            for mine, other in zip(node.outputs(), first.outputs()):
                mine.replace(other)
            node.disconnect()
            changed = True
    return changed


def _identity(node: Node) -> Hashable | None:
    """What two nodes that compute the same have in common; None for one that must stay."""
    if isinstance(node, Constant):
        return _identity_of_constant(node.data)
    if isinstance(node, (Parameter, Result)) or not node.deterministic:
        return None
    if not isinstance(node, Op) or not node.is_declared():
        return None  # a class that makes its nodes itself may keep more in them than attributes
    try:
        attributes = tuple((name, _hashable(value)) for name, value in node.get_attributes().items())
    except TypeError:
        return None
    return (type(node), attributes, tuple(node.input_values()))


def _identity_of_constant(data: np.ndarray) -> Hashable | None:
    if data.nbytes > _COMPARED or data.dtype == object:
        return None
    return (Constant, data.dtype.str, data.dtype.name, data.shape, data.tobytes())


def _hashable(value: object) -> Hashable:
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    hash(value)
    return value  # type: ignore[return-value]
