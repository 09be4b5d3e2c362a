"""How TensorFlow Lite keeps the contents of a constant in a buffer."""

import ml_dtypes
import numpy as np

BITS = {np.dtype(ml_dtypes.int2): 2, np.dtype(ml_dtypes.int4): 4, np.dtype(ml_dtypes.uint4): 4}


def encode(array: np.ndarray) -> np.ndarray:
    """The bytes: elements narrower than one are packed, the first in the lowest bits; strings follow their places."""
    if array.dtype == object:
        return _strings([text if isinstance(text, bytes) else str(text).encode() for text in array.flat])
    if array.dtype in BITS:
        return _packed(array, BITS[array.dtype])
    return np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)


def _strings(texts: list[bytes]) -> np.ndarray:
    """How many there are, where each begins and the last one ends, all int32, and then the strings."""
    start = 4 * (len(texts) + 2)
    places = start + np.cumsum([0, *map(len, texts)])
    head = np.array([len(texts), *places], np.int32).tobytes()
    return np.frombuffer(head + b"".join(texts), np.uint8)


def _packed(array: np.ndarray, bits: int) -> np.ndarray:
    each = 8 // bits
    values = array.astype(np.int8).view(np.uint8).ravel() & (2**bits - 1)
    rows = np.pad(values, (0, -values.size % each)).reshape(-1, each)
    return np.bitwise_or.reduce(rows << (bits * np.arange(each, dtype=np.uint8)), axis=1).astype(np.uint8)
