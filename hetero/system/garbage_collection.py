"""Rarer garbage collections while graphs are built: collections would go through 100,000 live nodes again and again."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# New objects until the next collection of the youngest generation, and collections until that of an older one. With
# Python's own 700, 10 and 10, collections take 40 % of the compilation of a model of 1,000 operations.
THRESHOLDS = (200_000, 100, 100)

_lock = threading.Lock()
# The thresholds to return to, once for each thread that is at it.
_before: list[tuple[int, int, int]] = []


@contextmanager
def rarer_collections() -> Iterator[None]:
    """Collect garbage after more new objects, in all threads. Works as a decorator too."""
    with _lock:
        _before.append(_before[0] if _before else gc.get_threshold())
        if _before[0][0]:  # 0 is for no collections
            gc.set_threshold(*map(max, THRESHOLDS, _before[0]))
    try:
        yield
    finally:
        with _lock:
            before = _before.pop()
            if not _before:
                gc.set_threshold(*before)
