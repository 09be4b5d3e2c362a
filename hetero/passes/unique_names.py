"""Unique friendly names: one name for each node of a model."""

from __future__ import annotations

from hetero.graph import Model, UniqueNames


def make_names_unique(model: Model) -> bool:
    """Add ``_1``, ``_2``, … to friendly names that an earlier node has, so that no two nodes share one."""
    unique = UniqueNames()
    changed = False
    for node in model.get_ordered_ops():
        name = unique.take(node.friendly_name)
        if name != node.friendly_name:
            node.friendly_name, changed = name, True
    return changed
