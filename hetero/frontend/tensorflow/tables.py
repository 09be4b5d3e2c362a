"""Hash tables, whose keys and values are known before the model runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hetero.errors import FrontendError
from hetero.frontend.source import map_file
from hetero.frontend.tensorflow.handles import Handle
from hetero.frontend.tensorflow.tensors import decode_text
from hetero.types import Type

# What stands for a key or value in a line of a file: the whole line, or its number.
_WHOLE_LINE, _LINE_NUMBER = -2, -1
_MAX_FILE_BYTES = 1 << 28


@dataclass(frozen=True)
class TableHandle(Handle):
    """A hash table, by its name."""

    name: str
    key_type: Type
    value_type: Type


def read_table_file(
    path: Path, table: TableHandle, key_index: int, value_index: int, delimiter: str, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys and values in the first ``size`` lines of a text file, all if it is -1. Raises FrontendError."""
    try:
        data = map_file(path)
    except OSError as error:
        raise FrontendError(f"the file {path} cannot be read: {error.strerror}") from error
    if len(data) > _MAX_FILE_BYTES:
        raise FrontendError(f"the file {path} is larger than {_MAX_FILE_BYTES} bytes")
    lines = decode_text(data).splitlines()
    lines = lines if size < 0 else lines[:size]
    return (
        _column(lines, key_index, delimiter, table.key_type, path),
        _column(lines, value_index, delimiter, table.value_type, path),
    )


def _column(lines: list[str], index: int, delimiter: str, element_type: Type, path: Path) -> np.ndarray:
    if index == _LINE_NUMBER:
        return np.arange(len(lines)).astype(element_type.to_dtype())
    texts = lines if index == _WHOLE_LINE else [_part(line, index, delimiter, path) for line in lines]
    try:
        return np.array(texts, np.str_).astype(element_type.to_dtype())
    except ValueError as error:
        raise FrontendError(f"the file {path} has a text where a number should be: {error}") from error


def _part(line: str, index: int, delimiter: str, path: Path) -> str:
    parts = line.split(delimiter)
    if not 0 <= index < len(parts):
        raise FrontendError(f"the file {path} has a line without a column {index}")
    return parts[index]
