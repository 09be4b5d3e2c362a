"""UniqueNames: friendly names that are different from each other."""

from __future__ import annotations

from collections.abc import Iterable


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
