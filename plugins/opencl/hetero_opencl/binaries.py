"""Binaries of kernels: those that came with an imported model, and those that are kept in a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from hetero.cache_folder import cache_folder, write_cached


class Binaries:
    """Binaries by names that tell their sources, devices and drivers apart."""

    def __init__(self, folder: Path, given: Mapping[str, bytes | memoryview]) -> None:
        self._folder, self._given = cache_folder(folder), given

    def get(self, name: str) -> bytes | None:
        """A binary that was given or is kept; None where there is none, or only a damaged one."""
        if name in self._given:
            return bytes(self._given[name])
        return _read_whole(self._folder / name) if self._folder else None

    def keep(self, name: str, binary: bytes) -> None:
        """Write a binary into the folder. If that fails, the binary is made again the next time."""
        if self._folder:
            write_cached(self._folder / name, [hashlib.sha256(binary).digest(), binary])


def default_folder() -> Path:
    """Where binaries are kept unless CACHE_DIR says otherwise."""
    return platformdirs.user_cache_path("hetero") / "opencl"


def _read_whole(file: Path) -> bytes | None:
    """What was written to a file; None where it is not there or damaged, by which some drivers crash."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    size = hashlib.sha256().digest_size
    return content[size:] if hashlib.sha256(content[size:]).digest() == content[:size] else None
