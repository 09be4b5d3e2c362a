"""Registry of the translators of PaddlePaddle operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hetero.frontend.translation.translators import ConversionResult
from hetero.graph import Output

# Values in the order of the outputs that something reads, or by port; None for a variable that stays without a value.
PaddleTranslation = ConversionResult | Mapping[str, Sequence[Output | None]]
# A function of a PaddleNodeContext.
PaddleTranslator = Callable[[Any], PaddleTranslation]

translators: dict[str, PaddleTranslator] = {}


def translator(*op_types: str) -> Callable[[PaddleTranslator], PaddleTranslator]:
    """Return a decorator that registers a translator for operators, by their types in ProgramDesc."""

    def decorate(function: PaddleTranslator) -> PaddleTranslator:
        translators.update(dict.fromkeys(op_types, function))
        return function

    return decorate


def find_translator(op_type: str) -> PaddleTranslator | None:
    """Return the translator of an operator, or None."""
    from hetero.frontend.paddle import translators as registered  # noqa: F401 (fills the registry)

    return translators.get(op_type)
