"""Binaries of kernels: those that came with an imported model, and those that are kept in a folder."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from hetero.frontend.target import replacing


class Binaries:
    """Binaries by names that tell their sources, devices and drivers apart."""

    def __init__(self, folder: Path, given: Mapping[str, bytes | memoryview]) -> None:
        self._folder, self._given = folder, given

    def get(self, name: str) -> bytes | None:
        """A binary that was given or is kept; None where there is none, or only a damaged one."""
        return bytes(self._given[name]) if name in self._given else _read_whole(self._folder / name)

    def keep(self, name: str, binary: bytes) -> None:
        """Write a binary into the folder; where that cannot be written to, it is made again the next time."""
        _write_whole(self._folder / name, binary)


def default_folder() -> Path:
    """Where binaries are kept unless CACHE_DIR says otherwise."""
    return platformdirs.user_cache_path("hetero") / "opencl"


def _write_whole(file: Path, content: bytes) -> None:
    """Write a file so that others see all of it or nothing; a folder that cannot be written to is no error."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as (stream,):
            stream.write(hashlib.sha256(content).digest() + content)


def _read_whole(file: Path) -> bytes | None:
    """What was written to a file; None where it is not there or damaged, by which some drivers crash."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    size = hashlib.sha256().digest_size
    return content[size:] if hashlib.sha256(content[size:]).digest() == content[:size] else None
