"""What lower layers need from higher ones: operation classes, numpy evaluation, writers and frontends.

The package states how to import them; nothing is imported before a method needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

_importers: dict[str, Callable[[], ModuleType]] = {}


def provide(role: str, importer: Callable[[], ModuleType]) -> None:
    """State how to import the module of a role: ``operations``, ``evaluation``, ``writers`` or ``runtime``."""
    _importers[role] = importer


def need(role: str) -> ModuleType:
    """Return the module of a role."""
    return _importers[role]()
