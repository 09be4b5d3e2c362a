"""Random numbers: Philox 4x32-10 and the Mersenne Twister, aligned with TensorFlow and PyTorch."""

from __future__ import annotations

import math
import secrets
import threading
from weakref import WeakKeyDictionary

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.reference.registry import Array, evaluates
from hetero.system.fork import renew_after_fork

_Random = ops.RandomUniform | ops.Multinomial


class _Positions:
    """The position of each node's generator, from which the next inference continues. Thread-safe."""

    def __init__(self) -> None:
        self._next: WeakKeyDictionary[Node, int] = WeakKeyDictionary()
        self._renew()
        renew_after_fork(self, _Positions._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def advance(self, node: Node, count: int) -> int:
        """Return the position of a node, and move it by ``count``."""
        with self._lock:
            start = self._next.get(node, 0)
            self._next[node] = start + count
        return start


_positions = _Positions()

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@evaluates(ops.RandomUniform)
def random_uniform(node: ops.RandomUniform, output_shape: Array, min_val: Array, max_val: Array) -> Array:
    shape = tuple(output_shape.reshape(-1).tolist())
    dtype = node.output_type.to_dtype()
    low, high = min_val.reshape(()).item(), max_val.reshape(()).item()
    draw = _from_philox if node.alignment == "tensorflow" else _from_mersenne
    return draw(node, math.prod(shape), dtype, low, high).reshape(shape)


@evaluates(ops.Multinomial)
def multinomial(node: ops.Multinomial, probs: Array, num_samples: Array) -> Array:
    count = int(num_samples.reshape(-1)[0])
    weights = probs.astype(np.float64)
    if node.log_probs:
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
    uniform = _from_philox(node, len(weights) * count, np.dtype(np.float32), 0.0, 1.0).reshape(len(weights), count)
    if node.with_replacement:
        return _columns_at(weights, uniform)
    chosen = np.empty(uniform.shape, np.int64)
    for sample in range(count):
        chosen[:, sample] = _columns_at(weights, uniform[:, sample : sample + 1])[:, 0]
        weights[np.arange(len(weights)), chosen[:, sample]] = 0
    return chosen


def _columns_at(weights: Array, uniform: Array) -> Array:
    """Map uniform numbers from 0 to 1 to columns by the cumulative weights of each row."""
    ends = np.cumsum(weights, axis=1)
    return np.stack([np.searchsorted(row, numbers * row[-1], "right") for row, numbers in zip(ends, uniform)])


def _from_philox(node: _Random, count: int, dtype: np.dtype, low: float, high: float) -> Array:
    words = 2 if dtype.itemsize == 8 else 1
    calls = -(-count * words // 4)
    key, stream = _seeds(node)
    start = _positions.advance(node, calls)
    raw = _philox(key, stream, np.arange(start, start + calls, dtype=np.uint64)).reshape(-1)[: count * words]
    if dtype.kind in "fV":
        # The random bits become the mantissa of a number from 1 to 2, an f32 number for bf16.
        unit: Array
        if dtype == np.float64:
            unit = (_pairs(raw, 0, 1) & np.uint64((1 << 52) - 1) | np.uint64(0x3FF << 52)).view(np.float64)
        elif dtype == np.float16:
            unit = (raw.astype(np.uint16) & np.uint16((1 << 10) - 1) | np.uint16(0xF << 10)).view(np.float16)
        else:
            unit = (raw & np.uint32((1 << 23) - 1) | np.uint32(0x7F << 23)).view(np.float32)
        number = unit.dtype.type
        return ((unit - number(1)) * number(high - low) + number(low)).astype(dtype)
    numbers = _pairs(raw, 1, 0) if words == 2 else raw.astype(np.uint64)
    return (numbers % np.uint64(high - low)).astype(dtype) + dtype.type(low)


def _from_mersenne(node: _Random, count: int, dtype: np.dtype, low: float, high: float) -> Array:
    # As in PyTorch, two words are drawn for f64, and for integers whose range exceeds one word.
    words = 2 if dtype == np.float64 or (dtype.kind in "iu" and high - low > 1 << 32) else 1
    start = _positions.advance(node, count * words)
    generator = np.random.RandomState(_seeds(node)[0] & 0xFFFFFFFF)._bit_generator
    raw = generator.random_raw(start + count * words)[start:]
    numbers = _pairs(raw, 0, 1) if words == 2 else raw
    if dtype.kind in "iu":
        return (numbers % np.uint64(high - low)).astype(dtype) + dtype.type(low)
    bits = {8: 53, 4: 24}.get(dtype.itemsize, 8 if dtype.kind == "V" else 11)
    unit = (numbers & np.uint64((1 << bits) - 1)) / float(1 << bits)
    return (unit * (high - low) + low).astype(dtype)


def _seeds(node: _Random) -> tuple[int, int]:
    """Return the key and the stream of a node's generator; a random key if both seeds are 0."""
    if node.global_seed or node.op_seed:
        return node.global_seed, node.op_seed
    return secrets.randbits(64), 0


def _pairs(raw: Array, high: int, low: int) -> Array:
    """Combine each two consecutive 32-bit words into one 64-bit word, with the word at index ``high`` on top."""
    words = raw.reshape(-1, 2).astype(np.uint64)
    return words[:, high] << _HALF | words[:, low]


def _philox(key: int, stream: int, counters: Array) -> Array:
    """Return four 32-bit words for each counter, by Philox 4x32-10.

    J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
    """
    upper = np.full_like(counters, stream & 0xFFFFFFFFFFFFFFFF)
    words = [counters & _LOW, counters >> _HALF, upper & _LOW, upper >> _HALF]
    first, second = key & 0xFFFFFFFF, key >> 32 & 0xFFFFFFFF
    for _ in range(10):
        one, two = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [
            (two >> _HALF) ^ words[1] ^ np.uint64(first),
            two & _LOW,
            (one >> _HALF) ^ words[3] ^ np.uint64(second),
            one & _LOW,
        ]
        first, second = first + 0x9E3779B9 & 0xFFFFFFFF, second + 0xBB67AE85 & 0xFFFFFFFF
    return np.stack(words, axis=1).astype(np.uint32)
