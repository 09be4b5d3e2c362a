"""Reading of PT2 archives, which torch.export.save writes: zip files with a program as JSON and raw weights.

The format: https://docs.pytorch.org/docs/stable/export/pt2_archive.html
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from hetero.core.types import Type
from hetero.system.errors import FrontendError

# The fixed part of the header before each file in a zip archive, and where it has the lengths of name and extra field.
_HEADER, _LENGTHS = 30, slice(26, 30)
# The largest JSON text that is read. Weights are not part of it.
_LARGEST_TEXT = 1 << 30
# Element types by the numbers of torch's ScalarType in the schema of exported programs.
_SCALAR_TYPES = {
    1: Type.u8, 2: Type.i8, 3: Type.i16, 4: Type.i32, 5: Type.i64, 6: Type.f16, 7: Type.f32, 8: Type.f64,
    12: Type.boolean, 13: Type.bf16, 28: Type.u16, 29: Type.f8e4m3, 30: Type.f8e5m2, 31: Type.f8e4m3fnuz,
    32: Type.f8e5m2fnuz, 33: Type.f8e8m0, 34: Type.u32, 35: Type.u64,
}  # fmt: skip


class Archive:
    """A PT2 archive in memory; weights are views of ``data``. Raises FrontendError if it is damaged."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        try:
            with zipfile.ZipFile(_Bytes(data)) as archive:
                files = {info.filename: info for info in archive.infolist()}
        except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
            raise FrontendError(f"it is no zip archive: {error}") from error
        # All names begin with one folder, which is named like the file.
        folders = {name.partition("/")[0] for name in files}
        folder = folders.pop() if len(folders) == 1 else ""
        self._files = {name.removeprefix(f"{folder}/"): info for name, info in files.items()}

    @property
    def names(self) -> list[str]:
        return list(self._files)

    def read(self, name: str) -> memoryview:
        """Return the contents of a file as a view. Raises FrontendError if it is missing, compressed or cut off."""
        info = self._files.get(name)
        if info is None:
            raise FrontendError(f"it has no file '{name}'")
        if info.compress_type != zipfile.ZIP_STORED:
            raise FrontendError(f"its file '{name}' is compressed; torch.export.save does not do that")
        begin = info.header_offset
        lengths = self._data[begin : begin + _HEADER][_LENGTHS]
        if len(lengths) < 4:
            raise FrontendError(f"its file '{name}' begins beyond its end")
        begin += _HEADER + sum(struct.unpack("<HH", lengths))
        contents = self._data[begin : begin + info.file_size]
        if len(contents) != info.file_size:
            raise FrontendError(f"its file '{name}' ends beyond its end")
        return contents

    def read_json(self, name: str) -> Any:
        """Return the contents of a JSON file. Raises FrontendError."""
        text = self.read(name)
        if len(text) > _LARGEST_TEXT:
            raise FrontendError(f"its file '{name}' has {len(text)} bytes")
        try:
            return json.loads(bytes(text))
        except (ValueError, RecursionError) as error:
            raise FrontendError(f"its file '{name}' is not JSON: {error}") from error

    def tensors(self, folder: str) -> Mapping[str, np.ndarray]:
        """Return the arrays of a folder, ``weights`` or ``constants``, by name."""
        path = f"data/{folder}/model_{folder}_config.json"
        if path not in self._files:
            return {}
        entries = self.read_json(path)["config"]
        return {
            name: self._tensor(name, f"data/{folder}/{entry['path_name']}", entry) for name, entry in entries.items()
        }

    def _tensor(self, name: str, path: str, entry: Mapping[str, Any]) -> np.ndarray:
        if entry["use_pickle"]:
            raise FrontendError(f"'{name}' is a pickled object, which is not read, as it could run code; in a program "
                                "saved after run_decompositions() quantized weights are tensors")  # fmt: skip
        meta = entry["tensor_meta"]
        element_type = scalar_type(meta["dtype"])
        shape, strides = ([length["as_int"] for length in meta[key]] for key in ("sizes", "strides"))
        dtype, offset = element_type.to_dtype(), meta["storage_offset"]["as_int"]
        if len(shape) != len(strides) or min((*shape, *strides, offset), default=0) < 0:
            raise FrontendError(f"'{name}' has the shape {shape} and the strides {strides}")
        contents = self.read(path)
        last = offset + sum((length - 1) * stride for length, stride in zip(shape, strides)) if 0 not in shape else -1
        if (last + 1) * dtype.itemsize > len(contents):
            raise FrontendError(f"'{name}' of the shape {shape} does not fit its {len(contents)} bytes")
        array = np.frombuffer(contents[: len(contents) // dtype.itemsize * dtype.itemsize], dtype)
        byte_strides = [stride * dtype.itemsize for stride in strides]
        return np.lib.stride_tricks.as_strided(array[offset:], shape, byte_strides, writeable=False)


def scalar_type(number: int) -> Type:
    """Return the element type of a number in the schema. Raises FrontendError for complex and unknown ones."""
    if number not in _SCALAR_TYPES:
        raise FrontendError(f"elements of torch's scalar type {number} are not supported")
    return _SCALAR_TYPES[number]


class _Bytes(io.RawIOBase):
    """A view of bytes as a file, which zipfile reads in parts."""

    def __init__(self, data: memoryview) -> None:
        self._data, self._position = data, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: len(self._data)}[whence]
        if self._position < 0:
            raise ValueError(f"a position of {self._position}")
        return self._position

    def tell(self) -> int:
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        end = len(self._data) if size is None or size < 0 else self._position + size
        part = bytes(self._data[self._position : end])
        self._position += len(part)
        return part
