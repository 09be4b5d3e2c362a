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
    """Open a regular file for reading. Raises OSError for anything else, because a pipe or device may block forever."""
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # open() rejects a folder
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return open(path, "rb")


@contextlib.contextmanager
def atomic_write(*paths: Path) -> Iterator[list[BinaryIO]]:
    """Write files atomically: yield temporary files, and rename them to ``paths`` after the block succeeds.

    Other processes see a complete file or none. If the block or a rename fails, the temporary files are deleted.
    Raises OSError.
    """
    temporary: list[Path] = []
    try:
        with contextlib.ExitStack() as files:
            opened: list[BinaryIO] = []
            for path in paths:
                # A short name, because a suffix could make the name longer than the file system accepts.
                file = path.with_name(f".hetero-{secrets.token_hex(8)}")
                opened.append(files.enter_context(open(file, "xb")))
                temporary.append(file)
            yield opened
        for file, path in zip(list(temporary), paths):
            os.replace(file, path)
            temporary.remove(file)
    except BaseException:
        for file in temporary:
            file.unlink()
        raise
