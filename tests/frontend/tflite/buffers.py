"""Encoding of constants as buffers of a TensorFlow Lite file."""

import ml_dtypes
import numpy as np

BITS = {np.dtype(ml_dtypes.int2): 2, np.dtype(ml_dtypes.int4): 4, np.dtype(ml_dtypes.uint4): 4}


def encode(array: np.ndarray) -> np.ndarray:
    """Return the bytes. Elements narrower than a byte are packed, the first in the lowest bits."""
    if array.dtype == object:
        return _strings([text if isinstance(text, bytes) else str(text).encode() for text in array.flat])
    if array.dtype in BITS:
        return _packed(array, BITS[array.dtype])
    return np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)


def _strings(texts: list[bytes]) -> np.ndarray:
    """Encode strings as their count, the offset of each and of the end (all int32), and the text."""
    start = 4 * (len(texts) + 2)
    places = start + np.cumsum([0, *map(len, texts)])
    head = np.array([len(texts), *places], np.int32).tobytes()
    return np.frombuffer(head + b"".join(texts), np.uint8)


def _packed(array: np.ndarray, bits: int) -> np.ndarray:
    each = 8 // bits
    values = array.astype(np.int8).view(np.uint8).ravel() & (2**bits - 1)
    rows = np.pad(values, (0, -values.size % each)).reshape(-1, each)
    return np.bitwise_or.reduce(rows << (bits * np.arange(each, dtype=np.uint8)), axis=1).astype(np.uint8)
