"""Friendly names that are different from each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hetero.graph.model import Model


class UniqueNames:
    """A set of names, to which a name that is taken is added with a number: ``x``, ``x_1``, ``x_2``, …"""

    def __init__(self, names: Iterable[str] = ()) -> None:
        # The number to try next for each name.
        self._next = dict.fromkeys(names, 1)

    def take(self, wanted: str) -> str:
        """Add a name and return it, with a number if it was taken."""
        name = wanted
        while name in self._next:
            name = f"{wanted}_{self._next[wanted]}"
            self._next[wanted] += 1
        self._next[name] = 1
        return name


def make_names_unique(model: Model) -> bool:
    """Add ``_1``, ``_2``, … to friendly names that an earlier node has, so that no two nodes share one."""
    unique = UniqueNames()
    changed = False
    for node in model.get_ordered_ops():
        name = unique.take(node.friendly_name)
        if name != node.friendly_name:
            node.friendly_name, changed = name, True
    return changed
