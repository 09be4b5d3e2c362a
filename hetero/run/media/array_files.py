"""Readers of untrusted npy and npz files. Shape and element size are checked before the data is read."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np

# Called with the shape and the bytes of one element. Raises ValueError if they do not fit.
Check = Callable[[tuple[int, ...], int], None]

# Errors that damaged files cause. numpy parses some headers with tokenize.
_DAMAGED = (EOFError, OSError, RuntimeError, SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error)
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_npy(path: Path, check: Check) -> np.ndarray:
    """Read the array of an npy file. Raises ValueError if it is not one, and OSError."""
    if zipfile.is_zipfile(path):
        raise ValueError(f"{path} is an npz file: use the key npz")
    with open(path, "rb") as file:
        return _read(file, str(path), check)


def npz_keys(path: Path) -> list[str]:
    """Return the names of the arrays in an npz file. Raises ValueError if it is not one, and OSError."""
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is not an npz file")
    try:
        with zipfile.ZipFile(path) as archive:
            return _keys(archive)
    except _DAMAGED as error:
        raise ValueError(f"{path} is damaged ({error})") from error


def read_npz(path: Path, key: str | None, check: Check) -> np.ndarray:
    """Read one array of an npz file, or its only array if ``key`` is None. Raises ValueError and OSError."""
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is not an npz file: use the key npy")
    try:
        with zipfile.ZipFile(path) as archive:
            keys = _keys(archive)
            key = keys[0] if key is None and len(keys) == 1 else key
            if key not in keys:
                problem = "needs a key" if key is None else f"has no array {key}"
                raise ValueError(f"{path} {problem}; it has {', '.join(keys)}")
            with archive.open(f"{key}.npy") as file:
                return _read(file, f"{key} in {path}", check)
    except _DAMAGED as error:
        raise ValueError(f"{path} is damaged ({error})") from error


def _keys(archive: zipfile.ZipFile) -> list[str]:
    return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]


def _read(file: IO[bytes], name: str, check: Check) -> np.ndarray:
    try:
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            raise ValueError(f"unknown format version {version}")
        shape, _, dtype = _HEADERS[version](file)
        if dtype.hasobject:
            raise ValueError("it contains Python objects; text is stored without them after astype(str)")
    except (ValueError, *_DAMAGED) as error:
        raise ValueError(f"{name} is not a numpy array of numbers or text ({error})") from error
    check(shape, dtype.itemsize)
    file.seek(0)
    try:
        return np.lib.format.read_array(file, allow_pickle=False)
    except (ValueError, *_DAMAGED) as error:
        raise ValueError(f"{name} is damaged ({error})") from error
