"""Reference evaluation of operations with numpy: one file per family, named as in ops/."""

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
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
