"""Renewal of objects in a child process of os.fork().

The child has only the thread that forked: the others do not exist there, and locks that they held stay locked.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any

_renewals: weakref.WeakKeyDictionary[Any, Callable[[Any], None]] = weakref.WeakKeyDictionary()


def renew_after_fork(owner: Any, renew: Callable[[Any], None]) -> None:
    """Call ``renew(owner)`` in every child process forked while the owner lives, in the order of registration.

    ``renew`` replaces locks by new ones: resetting the old ones would break the ``with`` block of a thread that forks
    inside it.
    """
    _renewals[owner] = renew


def _renew_all() -> None:
    for owner, renew in list(_renewals.items()):
        renew(owner)


if hasattr(os, "register_at_fork"):  # not on Windows, which cannot fork
    os.register_at_fork(after_in_child=_renew_all)
