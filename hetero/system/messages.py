"""Helpers for messages: escaping of names from untrusted files, suggestions for misspelled names, loggers."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

# Control characters, line separators, bidirectional marks and overrides, and lone surrogates.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: str) -> str:
    r"""Return the text with escapes such as ``\x1b`` for all characters that move the cursor or reorder text."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def suggest(name: object, choices: Iterable[str]) -> str:
    """Return "did you mean X?" with the choice most similar to an unknown name, or "it has X, Y, Z"."""
    choices = list(choices)
    return nearest(name, choices) or f"it has {', '.join(choices)}"


def nearest(name: object, choices: Iterable[str]) -> str:
    """Return "did you mean X?" with the choice most similar to an unknown name, or "" if none is similar."""
    import difflib

    similar = difflib.get_close_matches(str(name), choices, n=1)
    return f"did you mean {similar[0]}?" if similar else ""


def get_logger(name: str) -> logging.Logger:
    """Return the logger of this name, with each message escaped to one line."""
    logger = logging.getLogger(name)
    logger.addFilter(_escape_message)
    return logger


def _escape_message(record: logging.LogRecord) -> bool:
    record.msg, record.args = escaped(record.getMessage()), None
    return True
