"""rt_info: notes on nodes that survive transformations, above all which original nodes one stands for."""

from __future__ import annotations

from collections.abc import Iterable

from hetero.graph.node import Node

ORIGINAL_NAMES = "originalLayersNames"  # OpenVINO's key
AFFINITY = "affinity"


def original_names(node: Node) -> tuple[str, ...]:
    """The friendly names, in the model as the user gave it, of the nodes that this one stands for."""
    return node.rt_info.get(ORIGINAL_NAMES) or (node.friendly_name,)


def copy_runtime_info(sources: Iterable[Node], target: Node) -> None:
    """Let a node that replaces others stand for them: it takes over their notes and original names."""
    names: dict[str, None] = {}
    for source in sources:
        names.update(dict.fromkeys(original_names(source)))
        target.rt_info.update(source.rt_info)
    target.rt_info[ORIGINAL_NAMES] = tuple(names)
