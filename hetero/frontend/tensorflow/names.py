"""Names of resources: nodes with the same name stand for the same variable or table."""

from __future__ import annotations

from hetero.frontend.tensorflow.decoded import DecodedNode


def variable_name(node: DecodedNode) -> str:
    """Return the name of the variable that a node stands for: its ``shared_name``, else the name of the node."""
    return str(node.attributes.get("shared_name") or node.name)
