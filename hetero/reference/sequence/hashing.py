"""64-bit hash functions of bytes: FarmHash, vectorized over many keys, MurmurHash and SipHash.

FarmHash is farmhashna of G. Pike's: 64-bit words, mixed by rotations and wrapping multiplications.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero.reference.registry import Array

_MASK = (1 << 64) - 1


def murmurhash64(data: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """Return the MurmurHash64A of A. Appleby. The default seed is TensorFlow's."""
    factor = 0xC6A4A7935BD1E995
    state = seed ^ (len(data) * factor & _MASK)
    whole = len(data) // 8 * 8
    for begin in range(0, whole, 8):
        word = int.from_bytes(data[begin : begin + 8], "little") * factor & _MASK
        word = (word ^ word >> 47) * factor & _MASK
        state = (state ^ word) * factor & _MASK
    if whole < len(data):
        state = (state ^ int.from_bytes(data[whole:], "little")) * factor & _MASK
    state = (state ^ state >> 47) * factor & _MASK
    return state ^ state >> 47


def siphash64(data: bytes, key: Sequence[int]) -> int:
    """Return the SipHash-2-4 with a key of two 64-bit words.

    Aumasson & Bernstein, "SipHash: a fast short-input PRF", 2012.
    """
    first, second = (word & _MASK for word in key)
    state = [
        first ^ 0x736F6D6570736575, second ^ 0x646F72616E646F6D, first ^ 0x6C7967656E657261, second ^ 0x7465646279746573
    ]  # fmt: skip
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for begin in range(0, len(padded), 8):
        word = int.from_bytes(padded[begin : begin + 8], "little")
        state[3] ^= word
        state = _sip_rounds(state, 2)
        state[0] ^= word
    state[2] ^= 0xFF
    a, b, c, d = _sip_rounds(state, 4)
    return a ^ b ^ c ^ d


def _sip_rounds(state: list[int], count: int) -> list[int]:
    a, b, c, d = state
    for _ in range(count):
        a, c = (a + b) & _MASK, (c + d) & _MASK
        b, d = _rotate_left(b, 13) ^ a, _rotate_left(d, 16) ^ c
        a, c = (_rotate_left(a, 32) + d) & _MASK, (c + b) & _MASK
        d, b = _rotate_left(d, 21) ^ a, _rotate_left(b, 17) ^ c
        c = _rotate_left(c, 32)
    return [a, b, c, d]


def _rotate_left(word: int, bits: int) -> int:
    return (word << bits | word >> 64 - bits) & _MASK


_K0, _K1, _K2 = (np.uint64(k) for k in (0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F))


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
