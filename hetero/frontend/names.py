"""Friendly names: every node of a model has one of its own."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.graph import Node, Output, UniqueNames


def name_new_nodes(outputs: Sequence[Output], name: str, named: set[Node], unique: UniqueNames) -> None:
    """Name what a translator made: the node of its first output ``name``, all others ``name/Type``.

    ``named``: the nodes that have their names already; the new ones are added.
    """
    waiting = [output.node for output in reversed(outputs)]
    first = outputs[0].node if outputs else None
    while waiting:
        node = waiting.pop()
        if node in named:
            continue
        named.add(node)
        node.friendly_name = name if node is first else unique.take(f"{name}/{node.get_type_name()}")
        waiting += [value.node for value in reversed(node.input_values())]


def let_stand_for(name: str, outputs: Sequence[Output | None]) -> None:
    """Give the name of a node to what makes its first output, where that is one of those that took its place.

    Their names begin with it; the output may also be a value that the node was given.
    """
    if outputs and outputs[0] is not None and outputs[0].node.friendly_name.startswith(f"{name}/"):
        outputs[0].node.friendly_name = name
