"""rt_info of nodes: keys, and the original nodes that a node stands for after transformations."""

from __future__ import annotations

from collections.abc import Iterable

from hetero.graph.node import Node

ORIGINAL_NAMES = "originalLayersNames"  # OpenVINO's key
AFFINITY = "affinity"


def original_names(node: Node) -> tuple[str, ...]:
    """Return the friendly names, in the user's model, of the nodes that this node was made from."""
    return node.rt_info.get(ORIGINAL_NAMES) or (node.friendly_name,)


def copy_runtime_info(sources: Iterable[Node], target: Node) -> None:
    """Copy the rt_info and the original names of nodes to the node that replaces them."""
    names: dict[str, None] = {}
    for source in sources:
        names.update(dict.fromkeys(original_names(source)))
        target.rt_info.update(source.rt_info)
    target.rt_info[ORIGINAL_NAMES] = tuple(names)
