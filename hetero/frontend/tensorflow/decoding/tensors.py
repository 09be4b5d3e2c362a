"""Arrays of the TensorProto messages in attributes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero.core.types import Type
from hetero.frontend.protobuf import Message
from hetero.frontend.tensorflow.decoding.element_types import complex_dtype, dtype_of, shape_of, type_of
from hetero.system.errors import FrontendError

# Maximum bytes of an array whose elements the file does not list one by one. Protobuf limits the others.
_MAX_REPEATED_BYTES = 1 << 31
# The field with the numbers of each type; types that are not listed have theirs in ``int_val``.
_FIELDS = {
    Type.f32: "float_val", Type.f64: "double_val", Type.i64: "int64_val", Type.boolean: "bool_val",
    Type.u32: "uint32_val", Type.u64: "uint64_val", Type.f16: "half_val", Type.bf16: "half_val",
    Type.f8e4m3: "float8_val", Type.f8e5m2: "float8_val",
}  # fmt: skip


def array_of(tensor: Message) -> np.ndarray:
    """Return the contents of a TensorProto, a view of the file if possible. Raises FrontendError if it is damaged.

    Fewer numbers than elements mean that the last number is repeated.
    """
    shape = shape_of(tensor.tensor_shape)
    if shape.is_dynamic:
        raise FrontendError(f"a constant has the shape {shape}")
    lengths = shape.to_shape()
    if len(lengths) > 32:
        raise FrontendError(f"a constant has {len(lengths)} dimensions")
    if type_of(tensor.dtype) is Type.string:
        return _repeated(text_array(tensor.string_val), lengths)
    dtype = dtype_of(tensor.dtype)
    if len(tensor.tensor_content):
        if len(tensor.tensor_content) != math.prod(lengths) * dtype.itemsize:
            raise FrontendError(f"a constant of {dtype} {list(lengths)} has {len(tensor.tensor_content)} bytes")
        return np.frombuffer(tensor.tensor_content, dtype).reshape(lengths)
    return _repeated(_listed_numbers(tensor, dtype), lengths)


def text_array(texts: Sequence[memoryview]) -> np.ndarray:
    """Return a vector of strings. Raises FrontendError if they need too much memory: each has that of the longest."""
    longest = max(map(len, texts), default=0)
    if np.dtype("U1").itemsize * len(texts) * longest > _MAX_REPEATED_BYTES:
        raise FrontendError(f"{len(texts)} strings of up to {longest} bytes are more than {_MAX_REPEATED_BYTES} bytes")
    return np.array([decode_text(text) for text in texts], np.str_)


def decode_text(text: memoryview) -> str:
    """Return a string tensor's element; bytes that are not UTF-8 become surrogates, as in Python's file names."""
    return bytes(text).decode("utf-8", "surrogateescape")


def _listed_numbers(tensor: Message, dtype: np.dtype) -> np.ndarray:
    if complex_dtype(tensor.dtype) is not None:
        parts = np.array([*tensor.scomplex_val, *tensor.dcomplex_val], np.float64)
        return (parts[0::2] + 1j * parts[1::2]).astype(dtype)
    field = _FIELDS.get(type_of(tensor.dtype), "int_val")
    numbers = getattr(tensor, field)
    if field == "float8_val":
        return np.frombuffer(numbers, np.uint8).view(dtype)
    if field == "half_val":
        return np.array(numbers, np.int64).astype(np.uint16).view(dtype)
    if field in ("uint32_val", "uint64_val"):
        # The decoder returns numbers of 64 bits as signed ones.
        return np.array(numbers, np.int64).astype(dtype)
    return np.array(numbers, np.int64).astype(dtype) if field == "int_val" else np.array(numbers, dtype)


def _repeated(numbers: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Reshape numbers, after repeating the last one to the size of the shape. Raises FrontendError."""
    count = math.prod(shape)
    if len(numbers) == count:
        return numbers.reshape(shape)
    if count * max(numbers.itemsize, 1) > _MAX_REPEATED_BYTES:
        raise FrontendError(f"a constant of shape {list(shape)} is larger than {_MAX_REPEATED_BYTES} bytes")
    if len(numbers) > count:
        raise FrontendError(f"a constant of shape {list(shape)} has {len(numbers)} numbers")
    if len(numbers) <= 1:
        # A broadcast view of one element: no memory is needed for the others. No number at all means zero.
        last = numbers[0] if len(numbers) else np.zeros((), numbers.dtype)[()]
        return np.broadcast_to(np.array(last, numbers.dtype), shape)
    return np.concatenate([numbers, np.full(count - len(numbers), numbers[-1])]).reshape(shape)
