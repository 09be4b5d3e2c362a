"""Reading and writing files."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


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
                scratch = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
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
