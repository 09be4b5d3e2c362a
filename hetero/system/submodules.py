"""Import of all modules of a package, which register what they define."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable


def import_submodules(name: str, path: Iterable[str]) -> None:
    """Import the modules in a package and in those below it. ``name``, ``path``: its ``__name__``, ``__path__``."""
    for module in pkgutil.walk_packages(path, f"{name}."):
        importlib.import_module(module.name)
