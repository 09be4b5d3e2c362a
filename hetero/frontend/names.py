"""Unique friendly names for the nodes of a model."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.graph import Node, Output, UniqueNames


def name_new_nodes(outputs: Sequence[Output], name: str, named: set[Node], unique: UniqueNames) -> None:
    """Name the nodes that a translator made: the node of the first output ``name``, the others ``name/Type``.

    ``named``: the nodes that have names already. The new nodes are added to it.
    """
    worklist = [output.node for output in reversed(outputs)]
    first = outputs[0].node if outputs else None
    while worklist:
        node = worklist.pop()
        if node in named:
            continue
        named.add(node)
        node.friendly_name = name if node is first else unique.take(f"{name}/{node.get_type_name()}")
        worklist += [value.node for value in reversed(node.input_values())]


def name_first_output(name: str, outputs: Sequence[Output | None]) -> None:
    """Give an inlined call's name to the node of its first output.

    Only nodes of the inlined body are renamed; their names begin with ``name/``. An output may also be one of the
    call's inputs, whose node keeps its name.
    """
    if outputs and outputs[0] is not None and outputs[0].node.friendly_name.startswith(f"{name}/"):
        outputs[0].node.friendly_name = name
