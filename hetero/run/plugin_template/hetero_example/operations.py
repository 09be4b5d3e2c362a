"""The operations that the device runs, and which it refuses and why."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hetero import Node, Type
from hetero.graph import Constant, Parameter, Result


def relu(node: Node, x: np.ndarray) -> np.ndarray:
    """The output for an input array; ``node`` has the attributes of operations that have any."""
    return np.maximum(x, 0)


# By type and operation set: an operation may change its meaning from one set to the next.
OPERATIONS: dict[tuple[str, str], Callable[..., np.ndarray]] = {
    ("Relu", "opset1"): relu,
}
TYPES = (Type.f32, Type.f16)


def find(node: Node) -> Callable[..., np.ndarray] | None:
    """The function that computes a node; None where there is none."""
    return OPERATIONS.get((node.type_info.name, node.type_info.version_id))


def unsupported_reason(node: Node) -> str | None:
    """Why the device cannot run a node; None where it can. Whatever it lets through must work."""
    if isinstance(node, (Parameter, Constant, Result)):
        return None
    if find(node) is None:
        return f"there is no {node.type_info.name} of {node.type_info.version_id} in operations.py"
    for value in node.input_values():
        if value.element_type not in TYPES:
            return f"it takes {' or '.join(map(str, TYPES))} elements, not {value.element_type}"
    return None
