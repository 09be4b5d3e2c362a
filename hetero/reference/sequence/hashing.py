"""Locality-sensitive hashing, and FarmHash's Fingerprint64 vectorized over many keys.

The hash function is farmhashna of G. Pike's FarmHash: 64-bit words, mixed by rotations and wrapping multiplications.
"""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import Array, evaluates

_K0, _K1, _K2 = (np.uint64(k) for k in (0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F))

Array = Array


@evaluates(ops.LshProjection)
def lsh_projection(node: ops.LshProjection, seeds: Array, data: Array, weight: Array | None = None) -> Array:
    rows = np.ascontiguousarray(data).reshape(len(data), -1).view(np.uint8)
    keys = np.empty((seeds.size, len(rows), 4 + rows.shape[1]), np.uint8)
    keys[..., :4] = seeds.astype("<f4").reshape(-1, 1).view(np.uint8)[:, None]
    keys[..., 4:] = rows
    numbers = fingerprint64(keys.reshape(-1, keys.shape[-1])).view(np.int64).astype(np.float64)
    numbers = numbers.reshape(seeds.size, len(rows))
    # Sequential sums (cumsum instead of sum), as the rounding depends on the order.
    sums = np.cumsum(numbers if weight is None else numbers * weight, axis=1)
    bits = (sums[:, -1] > 0).astype(np.int32) if len(rows) else np.zeros(seeds.size, np.int32)
    if not node.is_sparse:
        return bits
    count, width = seeds.shape
    powers = np.left_shift(np.int64(1), np.arange(width)[::-1])
    numbers = bits.reshape(seeds.shape) @ powers + np.arange(count) * (np.int64(1) << np.int64(width))
    return numbers.astype(np.int32)


def fingerprint64(keys: Array) -> Array:
    """Return the hashes, u64 ``[N]``, of keys ``[N, bytes]``."""
    length = keys.shape[1]
    if length > 64:
        return _hash_long(keys)
    if length > 32:
        return _hash_33_to_64(keys)
    if length > 16:
        return _hash_17_to_32(keys)
    return _hash_0_to_16(keys)


def _hash_0_to_16(keys: Array) -> Array:
    length = keys.shape[1]
    factor = _K2 + np.uint64(2 * length)
    if length >= 8:
        a, b = _word(keys, 0) + _K2, _word(keys, -8)
        return _mix(_rotate(b, 37) * factor + a, (_rotate(a, 25) + b) * factor, factor)
    if length >= 4:
        first, last = (_word(keys, start, 4) for start in (0, -4))
        return _mix(np.uint64(length) + (first << np.uint64(3)), last, factor)
    if not length:
        return np.full(len(keys), _K2)
    first, middle, last = (keys[:, index].astype(np.uint64) for index in (0, length >> 1, -1))
    low, high = first + (middle << np.uint64(8)), np.uint64(length) + (last << np.uint64(2))
    return _shift_mix(low * _K2 ^ high * _K0) * _K2


def _hash_17_to_32(keys: Array) -> Array:
    factor = _K2 + np.uint64(2 * keys.shape[1])
    a, b, c, d = _word(keys, 0) * _K1, _word(keys, 8), _word(keys, -8) * factor, _word(keys, -16) * _K2
    return _mix(_rotate(a + b, 43) + _rotate(c, 30) + d, a + _rotate(b + _K2, 18) + c, factor)


def _hash_33_to_64(keys: Array) -> Array:
    factor = _K2 + np.uint64(2 * keys.shape[1])
    a, b, c, d = _word(keys, 0) * _K2, _word(keys, 8), _word(keys, -8) * factor, _word(keys, -16) * _K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d
    z = _mix(y, a + _rotate(b + _K2, 18) + c, factor)
    e, f, g, h = (
        _word(keys, 16) * factor, _word(keys, 24), (y + _word(keys, -32)) * factor, (z + _word(keys, -24)) * factor
    )  # fmt: skip
    return _mix(_rotate(e + f, 43) + _rotate(g, 30) + h, e + _rotate(f + a, 18) + g, factor)


def _hash_long(keys: Array) -> Array:
    """Hash keys of more than 64 bytes: all blocks of 64 bytes in order, then the last 64 bytes again."""
    count, length = keys.shape
    seed = np.full(count, 81, np.uint64)
    y = seed * _K1 + np.uint64(113)
    z = _shift_mix(y * _K2 + np.uint64(113)) * _K2
    state = seed * _K2 + _word(keys, 0), y, z, *(np.zeros(count, np.uint64) for _ in range(4))
    for begin in range(0, (length - 1) // 64 * 64, 64):
        state = _after_block(keys[:, begin : begin + 64], state, _K1, np.uint64(1))
    x, y, z, v1, v2, w1, w2 = state
    factor = _K1 + ((z & np.uint64(0xFF)) << np.uint64(1))
    w1 = w1 + np.uint64((length - 1) & 63)
    v1 = v1 + w1
    w1 = w1 + v1
    x, y, z, v1, v2, w1, w2 = _after_block(keys[:, -64:], (x, y, z, v1, v2, w1, w2), factor, np.uint64(9))
    first = _mix(v1, w1, factor) + _shift_mix(y) * _K0 + z
    return _mix(first, _mix(v2, w2, factor) + x, factor)


def _after_block(
    block: Array, state: tuple[Array, ...], factor: Array | np.uint64, times: np.uint64
) -> tuple[Array, ...]:
    x, y, z, v1, v2, w1, w2 = state
    x = _rotate(x + y + v1 + _word(block, 8), 37) * factor
    y = _rotate(y + v2 + _word(block, 48), 42) * factor
    x = x ^ w2 * times
    y = y + v1 * times + _word(block, 40)
    z = _rotate(z + w1, 33) * factor
    v1, v2 = _weak_hash(block[:, :32], v2 * factor, x + w1)
    w1, w2 = _weak_hash(block[:, 32:], z + w2, y + _word(block, 16))
    return z, y, x, v1, v2, w1, w2


def _weak_hash(half: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Hash 32 bytes with two seeds (weakHashLen32WithSeeds)."""
    w, x, y, z = (_word(half, start) for start in (0, 8, 16, 24))
    a = a + w
    b = _rotate(b + a + z, 21)
    start = a
    a = a + x + y
    return a + z, b + _rotate(a, 44) + start


def _mix(u: Array, v: Array, factor: Array | np.uint64) -> Array:
    a = _shift_mix((u ^ v) * factor)
    return _shift_mix((v ^ a) * factor) * factor


def _shift_mix(value: Array) -> Array:
    return value ^ (value >> np.uint64(47))


def _rotate(value: Array, bits: int) -> Array:
    """Rotate to the right."""
    return (value >> np.uint64(bits)) | (value << np.uint64(64 - bits))


def _word(keys: Array, start: int, size: int = 8) -> Array:
    """Return the little-endian word of ``size`` bytes at ``start``, which may be negative, as u64."""
    start %= keys.shape[1]
    return np.ascontiguousarray(keys[:, start : start + size]).view(f"<u{size}")[:, 0].astype(np.uint64)
