"""Text that people read on a terminal or in a log: names from models, files and packages cannot change how it looks."""

from __future__ import annotations

import logging
import re

# Control characters, line separators, marks and overrides of the writing direction, and lone surrogates.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: str) -> str:
    r"""Return a text with ``\x1b`` or ``\u202e`` in the place of characters that move the cursor or reorder text."""
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def get_logger(name: str) -> logging.Logger:
    """Return the logger of a name. Its messages are one line each, and escaped."""
    logger = logging.getLogger(name)
    logger.addFilter(_escape_message)
    return logger


def _escape_message(record: logging.LogRecord) -> bool:
    record.msg, record.args = escaped(record.getMessage()), None
    return True
