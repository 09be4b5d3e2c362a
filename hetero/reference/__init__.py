"""Reference evaluation of operations with numpy: one module or folder per family, named as in ops/."""

import importlib
import pkgutil

from hetero.reference.program import Program
from hetero.reference.registry import (
    UncancelledRun,
    VariableValues,
    evaluate,
    evaluates,
    has_evaluate,
    prepares,
    unknown_operation,
)

__all__ = [
    "Program", "UncancelledRun", "VariableValues", "evaluate", "evaluates", "has_evaluate", "prepares",
    "unknown_operation",
]  # fmt: skip

# Importing a file registers its functions.
for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
