"""Reinitialization of objects in a child process of os.fork().

Only the thread that called fork() exists in the child. Locks that other threads held stay locked there.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any

_renewals: weakref.WeakKeyDictionary[Any, Callable[[Any], None]] = weakref.WeakKeyDictionary()


def renew_after_fork(owner: Any, renew: Callable[[Any], None]) -> None:
    """Call ``renew(owner)`` in each child process forked while the owner is alive, in the order of registration.

    ``renew`` must create new locks. Releasing the old ones would break the ``with`` block of a thread that forks
    inside it.
    """
    _renewals[owner] = renew


def _renew_all() -> None:
    for owner, renew in list(_renewals.items()):
        renew(owner)


if hasattr(os, "register_at_fork"):  # missing on Windows, which has no fork()
    os.register_at_fork(after_in_child=_renew_all)
