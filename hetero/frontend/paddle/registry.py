"""Registry of the translators of PaddlePaddle operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hetero.frontend.translation.operator_table import OperatorTable
from hetero.frontend.translation.translators import ConversionResult
from hetero.graph import Output

# Values in the order of the outputs that something reads, or by port; None for a variable that stays without a value.
PaddleTranslation = ConversionResult | Mapping[str, Sequence[Output | None]]
# A function of a PaddleNodeContext.
PaddleTranslator = Callable[[Any], PaddleTranslation]

translators = OperatorTable()
# Decorator that registers a translator for operators by their types in ProgramDesc, and rows of operators.
translator, rows = translators.register, translators.register_rows


def find_translator(op_type: str) -> PaddleTranslator | None:
    """Return the translator of an operator, or None."""
    from hetero.frontend.paddle import translators as registered  # noqa: F401 (fills the registry)

    return translators.find(op_type)
