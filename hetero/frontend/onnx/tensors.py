"""TensorReader, which reads ONNX tensors as numpy arrays, without a copy of mapped files and external data."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from onnx import TensorProto, numpy_helper

from hetero.core.compressed import PackedArray
from hetero.core.packing import is_packed, pack, packed_size
from hetero.core.types import Type
from hetero.frontend.source import Companion, map_file
from hetero.system.allocation import string_array
from hetero.system.errors import FrontendError

_TYPES: dict[int, Type] = {
    TensorProto.FLOAT: Type.f32, TensorProto.UINT8: Type.u8, TensorProto.INT8: Type.i8, TensorProto.UINT16: Type.u16,
    TensorProto.INT16: Type.i16, TensorProto.INT32: Type.i32, TensorProto.INT64: Type.i64,
    TensorProto.STRING: Type.string, TensorProto.BOOL: Type.boolean, TensorProto.FLOAT16: Type.f16,
    TensorProto.DOUBLE: Type.f64, TensorProto.UINT32: Type.u32, TensorProto.UINT64: Type.u64,
    TensorProto.BFLOAT16: Type.bf16, TensorProto.FLOAT8E4M3FN: Type.f8e4m3, TensorProto.FLOAT8E5M2: Type.f8e5m2,
    TensorProto.FLOAT8E4M3FNUZ: Type.f8e4m3fnuz, TensorProto.FLOAT8E5M2FNUZ: Type.f8e5m2fnuz,
    TensorProto.INT4: Type.i4, TensorProto.UINT4: Type.u4,
    TensorProto.FLOAT4E2M1: Type.f4e2m1, TensorProto.FLOAT8E8M0: Type.f8e8m0, TensorProto.UINT2: Type.u2,
    TensorProto.INT2: Type.i2, TensorProto.FLOAT6E2M3: Type.f6e2m3, TensorProto.FLOAT6E3M2: Type.f6e3m2,
}  # fmt: skip


def element_type(data_type: int) -> Type:
    """Return the Type of a TensorProto.DataType. Raises FrontendError if hetero does not support it."""
    if data_type not in _TYPES:
        known = data_type in TensorProto.DataType.values()
        name = TensorProto.DataType.Name(data_type) if known else f"number {data_type}"
        raise FrontendError(f"the element type {name} is not supported")
    return _TYPES[data_type]


def data_type(element_type: Type) -> int:
    """Return the TensorProto.DataType of a Type; UNDEFINED (0) if ONNX does not have it."""
    return next((number for number, kind in _TYPES.items() if kind is element_type), TensorProto.UNDEFINED)


def tensor_proto(array: np.ndarray, name: str = "") -> TensorProto:
    """Return an array of a type that ONNX has as a TensorProto."""
    kind = Type(array.dtype)
    proto = TensorProto(name=name, data_type=data_type(kind), dims=array.shape)
    if kind is Type.string:
        proto.string_data.extend(text.encode() for text in array.reshape(-1).tolist())
    else:
        proto.raw_data = (pack(array, kind) if is_packed(kind) else np.ascontiguousarray(array)).tobytes()
    return proto


class TensorReader:
    """A reader of the TensorProtos of one model as arrays.

    ``model``: the bytes of the file, for the tensors that wire.detach_tensors replaced by references, or None.
    ``path``: that of the file, for external data beside it, or None for models that are not files.
    """

    def __init__(self, model: memoryview | None, path: Path | None) -> None:
        self._model, self._path = model, path
        self._files: dict[str, memoryview] = {}

    def read(self, tensor: TensorProto) -> np.ndarray:
        """Return a tensor as an array; see ``contents``."""
        found = self.contents(tensor)
        return found.decode() if isinstance(found, PackedArray) else found

    def contents(self, tensor: TensorProto) -> np.ndarray | PackedArray:
        """Return a tensor as a read-only array, packed if the file has it so.

        Raises FrontendError if its type, shape and data do not match.
        """
        try:
            return self._read(tensor)
        except (ValueError, TypeError, FrontendError) as error:
            raise FrontendError(f"tensor '{tensor.name}' cannot be read: {error}") from error

    def _read(self, tensor: TensorProto) -> np.ndarray | PackedArray:
        kind, shape = element_type(tensor.data_type), tuple(tensor.dims)
        if min(shape, default=0) < 0:
            raise FrontendError(f"its shape {list(shape)} has a negative dimension")
        if tensor.data_location == TensorProto.EXTERNAL:
            data = self._external(tensor, packed_size(math.prod(shape), kind))
        elif tensor.HasField("raw_data"):
            data = memoryview(tensor.raw_data)
        elif kind is Type.string:
            return string_array([text.decode() for text in tensor.string_data]).reshape(shape)
        else:
            return numpy_helper.to_array(tensor)
        needed = packed_size(math.prod(shape), kind)
        if len(data) != needed:
            raise FrontendError(f"it holds {len(data)} bytes, but {kind}{list(shape)} needs {needed}")
        if is_packed(kind):
            return PackedArray(np.frombuffer(data, np.uint8), kind, shape)
        if not needed:
            return np.empty(shape, kind.to_dtype())
        return np.frombuffer(data, kind.to_dtype()).reshape(shape)

    def _external(self, tensor: TensorProto, needed: int) -> memoryview:
        """Return the external data of a tensor, which is shorter than ``needed`` if the file is truncated."""
        entries = {entry.key: entry.value for entry in tensor.external_data}
        offset, length = int(entries.get("offset", 0)), int(entries.get("length", needed))
        if offset < 0 or length < 0:
            raise FrontendError(f"its data lies at the impossible offset {offset}, length {length}")
        return self._file(entries.get("location", ""))[offset : offset + length]

    def _file(self, location: str) -> memoryview:
        if not location:
            if self._model is None:
                raise FrontendError("it is external data without a location")
            return self._model
        if self._path is None:
            raise FrontendError(
                f"its data is in the file {location}, which is found only if the model is given by its path"
            )
        if location not in self._files:
            try:
                path = self._path.parent / location
                if not Companion(path, self._path).is_inside():
                    raise FrontendError(f"its data is in the file {location}, which is outside of the model's folder")
                self._files[location] = map_file(path)
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                raise FrontendError(f"its data is in the file {location}: {reason}") from error
        return self._files[location]
