"""Translators: which function translates which operator of a format, from which version on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hetero.frontend.translation import Translation

# A function of the format's own NodeContext.
Translator = Callable[[Any], Translation]


class Translators:
    """The translators of one format, by domain, type of operator and version; the first and last where it has such."""

    def __init__(self) -> None:
        self._by_operator: dict[tuple[str, str], dict[int, Translator]] = {}

    def register(self, *op_types: str, since: int = 1, domain: str = "") -> Callable[[Translator], Translator]:
        """Decorator: the function translates these operators as they are from version ``since`` of the domain on."""

        def register(function: Translator) -> Translator:
            for op_type in op_types:
                self._by_operator.setdefault((domain, op_type), {})[since] = function
            return function

        return register

    def find(self, op_type: str, version: int = 1, domain: str = "") -> Translator | None:
        """The newest translator of the operator that is not newer than the version; None where there is none."""
        by_version = self._by_operator.get((domain, op_type), {})
        return by_version.get(max((since for since in by_version if since <= version), default=-1))
