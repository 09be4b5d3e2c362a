"""Reference evaluation of operations with numpy: one module or folder per family, named as in ops/."""

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
from hetero.system.submodules import import_submodules

__all__ = [
    "Program", "UncancelledRun", "VariableValues", "evaluate", "evaluates", "has_evaluate", "prepares",
    "unknown_operation",
]  # fmt: skip

# Importing a file registers its functions.
import_submodules(__name__, __path__)
