"""Files of parameters: their tensors one after the other, in the order of their names, which are not in the file."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from hetero.frontend.paddle.element_types import type_of
from hetero.frontend.protobuf import Schema, WireError, decode
from hetero.frontend.source import map_file
from hetero.system.errors import FrontendError

TENSOR = Schema("TensorDesc", data_type=(1, "int"), dims=(2, ["int"]))
_MAX_RANK = 64


def read_combined(data: memoryview, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Return the arrays of these parameters, which are views of the file. Raises FrontendError if it is damaged."""
    offset, arrays = 0, {}
    for name in sorted(names):
        arrays[name], offset = _read_tensor(data, offset, name)
    if offset != len(data):
        raise FrontendError(f"the file of parameters has {len(data) - offset} bytes after its {len(arrays)} parameters")
    return arrays


def read_separate(folder: Path, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Return the arrays of parameters that have a file each, named as the parameter. Raises FrontendError."""
    arrays = {}
    for name in names:
        if os.path.basename(name) != name:
            raise FrontendError(f"the parameter '{name}' has no file in {folder}")
        try:
            data = map_file(folder / name)
        except (OSError, ValueError) as error:
            raise FrontendError(f"the parameter '{name}' cannot be read: {error}") from error
        arrays[name], _ = _read_tensor(data, 0, name)
    return arrays


def _read_tensor(data: memoryview, offset: int, name: str) -> tuple[np.ndarray, int]:
    """Return the tensor at an offset, and the offset after it.

    Layout: u32 version, u64 number of levels of detail, u64 size and bytes of each; u32 version, i32 size and bytes of
    a TensorDesc, elements.
    """
    try:
        version, levels = struct.unpack_from("<IQ", data, offset)
        offset += 12
        for _ in range(levels if levels <= _MAX_RANK else 0):
            (size,) = struct.unpack_from("<Q", data, offset)
            offset += 8 + size
        tensor_version, size = struct.unpack_from("<Ii", data, offset)
        offset += 8
        if version or tensor_version or levels > _MAX_RANK or not 0 <= size <= len(data) - offset:
            raise FrontendError(f"the file of parameters has no tensor for '{name}'")
        tensor = decode(data[offset : offset + size], TENSOR)
    except (struct.error, WireError) as error:
        raise FrontendError(f"the file of parameters ends or is damaged before '{name}': {error}") from error
    offset += size
    dtype, shape = type_of(tensor.data_type).to_dtype(), tensor.dims
    length = math.prod(shape) * dtype.itemsize
    if len(shape) > _MAX_RANK or any(dimension < 0 for dimension in shape) or length > len(data) - offset:
        raise FrontendError(f"parameter '{name}' of shape {shape} does not fit into the file of parameters")
    array = np.frombuffer(data[offset : offset + length], dtype).reshape(shape)
    return array, offset + length
