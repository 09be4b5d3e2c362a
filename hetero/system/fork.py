"""Child processes of os.fork(): reinitialization of objects, and libraries that do not work there.

Only the thread that called fork() exists in the child. Locks that other threads held stay locked there.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any

from hetero.system.errors import DeviceError

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


class ForkGuard:
    """Detection of processes that were forked after a library was loaded, where it hangs as its threads are gone."""

    def __init__(self, device: str, event: str) -> None:
        """``event`` says in messages what happened before the fork, such as "the library was loaded"."""
        self._device, self._event, self.is_forked = device, event, False

    def watch(self) -> None:
        """Let ``check`` fail in every process forked from now on. To be called before the library is loaded."""
        self.check()
        renew_after_fork(self, ForkGuard._note_fork)

    def check(self) -> None:
        """Raise DeviceError if this process was forked after ``watch`` was called."""
        if self.is_forked:
            raise DeviceError(
                f"{self._device} cannot be used in this process, which was forked after {self._event}: start "
                'processes by the spawn method, as multiprocessing.get_context("spawn") does'
            )

    def _note_fork(self) -> None:
        self.is_forked = True


if hasattr(os, "register_at_fork"):  # missing on Windows, which has no fork()
    os.register_at_fork(after_in_child=_renew_all)
