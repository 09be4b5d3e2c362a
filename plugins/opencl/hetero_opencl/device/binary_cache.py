"""Kernel binaries: those of an imported model, and a cache folder."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from hetero.plugin import cache_folder, write_cached

# Each file begins with the SHA-256 digest of the binary.
DIGEST_SIZE = hashlib.sha256().digest_size


class BinaryCache:
    """Kernel binaries by name. The name depends on the source, the device and the driver."""

    def __init__(self, folder: Path, imported: Mapping[str, bytes | memoryview]) -> None:
        self._folder, self._imported = cache_folder(folder), imported

    def get(self, name: str) -> bytes | None:
        """Return an imported or cached binary, or None if there is none or the cached one is damaged.

        Some drivers crash on damaged binaries.
        """
        if name in self._imported:
            return bytes(self._imported[name])
        if self._folder is None:
            return None
        try:
            content = (self._folder / name).read_bytes()
        except OSError:
            return None
        digest, binary = content[:DIGEST_SIZE], content[DIGEST_SIZE:]
        return binary if hashlib.sha256(binary).digest() == digest else None

    def store(self, name: str, binary: bytes) -> None:
        """Write a binary to the folder. Failures are ignored: the kernel is then built again the next time."""
        if self._folder:
            write_cached(self._folder / name, [hashlib.sha256(binary).digest(), binary])


def default_folder() -> Path:
    """Return the folder of binaries that is used unless CACHE_DIR is set."""
    return platformdirs.user_cache_path("hetero") / "opencl"
