"""Reading and writing files."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading. Raises OSError for anything else: a pipe or a device may block for ever."""
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # open() itself refuses a folder
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return open(path, "rb")


@contextlib.contextmanager
def replacing(*paths: Path) -> Iterator[list[BinaryIO]]:
    """Files that take their places under their names when all are written, and are gone where anything fails.

    So others see all of a file or nothing. Raises OSError.
    """
    made: list[Path] = []
    try:
        with contextlib.ExitStack() as files:
            opened = []
            for path in paths:
                scratch = path.with_name(f".hetero-{secrets.token_hex(8)}")  # not longer than most names
                opened.append(files.enter_context(open(scratch, "xb")))
                made.append(scratch)
            yield opened
        for scratch, path in zip(list(made), paths):
            os.replace(scratch, path)
            made.remove(scratch)
    except BaseException:
        for scratch in made:
            scratch.unlink()
        raise
