"""The operations that the device supports."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hetero.core.types import Type
from hetero.graph import Node


def relu(node: Node, x: np.ndarray) -> np.ndarray:
    """Return the output for an input array; ``node`` has the operation's attributes."""
    return np.maximum(x, 0)


# By type and operation set: the meaning of an operation may differ between sets.
OPERATIONS: dict[tuple[str, str], Callable[..., np.ndarray]] = {
    ("Relu", "opset1"): relu,
}
TYPES = (Type.f32, Type.f16)


def find(node: Node) -> Callable[..., np.ndarray] | None:
    """Return the function that computes a node, None if the device does not support it."""
    return OPERATIONS.get((node.type_info.name, node.type_info.version_id))


def unsupported_reason(node: Node) -> str | None:
    """Return why the device cannot run a node, None if it can. Every node that is accepted must compile and run."""
    if find(node) is None:
        return f"there is no {node.type_info.name} of {node.type_info.version_id} in operations.py"
    for value in node.input_values():
        if value.element_type not in TYPES:
            return f"it takes {' or '.join(kind.to_string() for kind in TYPES)} elements, not {value.element_type}"
    return None
