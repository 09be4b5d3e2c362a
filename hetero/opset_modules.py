"""Modules that exist because OpenVINO has them: hetero.opset1 … hetero.opset17, names of the operations of hetero.ops.

They are filled on first access, because importing the operations takes longer than the rest of ``import hetero``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

# The newest operation set.
NEWEST = 17


class OpsetModule(ModuleType):
    """The operations of one operation set: the newest class of each as of that set, and a snake_case factory for it."""

    def __init__(self, opset: int) -> None:
        super().__init__(f"hetero.opset{opset}", f"The operations of opset{opset}, as classes and as factories.")
        self._opset = opset
        self.ops = self  # in OpenVINO, the module of the factories

    def __getattr__(self, name: str) -> Any:
        # Called for missing attributes: any name before the module is filled, only unknown names after that.
        if not name.startswith("__"):
            self._fill()
            if name in self.__dict__:
                return self.__dict__[name]
        raise AttributeError(f"opset{self._opset} has no operation {name}")

    def __dir__(self) -> list[str]:
        self._fill()
        return sorted(super().__dir__())

    def _fill(self) -> None:
        """Add the operations. Several threads may do it at once; they add the members of the first one."""
        if "_filled" in self.__dict__:
            return
        from hetero.ops.opsets import members_of

        for name, member in members_of(self._opset).items():
            self.__dict__.setdefault(name, member)
        self._filled = True


def make_modules() -> dict[str, OpsetModule]:
    """Create a module for each operation set and add it to sys.modules, so that ``import hetero.opset13`` works."""
    modules = {}
    for opset in range(1, NEWEST + 1):
        module = OpsetModule(opset)
        modules[f"opset{opset}"] = sys.modules[module.__name__] = sys.modules[f"{module.__name__}.ops"] = module
    return modules
