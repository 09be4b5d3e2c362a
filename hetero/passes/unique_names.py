"""Give every node of a model a friendly name of its own."""

from __future__ import annotations

from hetero.graph import Model


def make_names_unique(model: Model) -> bool:
    """Add ``_1``, ``_2``, … to friendly names that an earlier node has. Ensures: no two nodes share one.

    Returns whether a name changed.
    """
    taken: set[str] = set()
    changed = False
    for node in model.get_ordered_ops():
        name, number = node.friendly_name, 0
        while name in taken:
            number += 1
            name = f"{node.friendly_name}_{number}"
        taken.add(name)
        if number:
            node.friendly_name, changed = name, True
    return changed
