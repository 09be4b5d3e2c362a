"""String operations, locality-sensitive hashing, and FarmHash's Fingerprint64 vectorized over many keys.

The hash function is farmhashna of G. Pike's FarmHash: 64-bit words, mixed by rotations and wrapping multiplications.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hetero import ops
from hetero.ops.sequence.strings import pool_grams
from hetero.reference.registry import Array, evaluates
from hetero.system.allocation import check_allocation, string_array

_WHITE_SPACE = " \t\n\v\f\r"
_CHANGE_CASE: dict[str, Callable[[str], str]] = {"none": str, "lower": str.lower, "upper": str.upper}


@evaluates(ops.StringTensorPack)
def string_tensor_pack(node: ops.StringTensorPack, begins: Array, ends: Array, symbols: Array) -> Array:
    text = symbols.tobytes()
    bounds = zip(begins.reshape(-1).tolist(), ends.reshape(-1).tolist())
    return string_array([text[begin:end].decode() for begin, end in bounds]).reshape(begins.shape)


@evaluates(ops.StringTensorUnpack)
def string_tensor_unpack(node: ops.StringTensorUnpack, data: Array) -> tuple[Array, Array, Array]:
    encoded = [text.encode() for text in data.reshape(-1).tolist()]
    ends = np.cumsum([len(part) for part in encoded], dtype=np.int32)
    begins = np.concatenate([np.zeros(1, np.int32), ends])[: len(encoded)]
    symbols = np.frombuffer(b"".join(encoded), np.uint8)
    return begins.reshape(data.shape), ends.reshape(data.shape), symbols


@evaluates(ops.StringConcat)
def string_concat(node: ops.StringConcat, first: Array, second: Array) -> Array:
    width, count = first.itemsize + second.itemsize, math.prod(np.broadcast_shapes(first.shape, second.shape))
    check_allocation(width * count, f"an array of {count} strings")
    return np.char.add(first, second)


@evaluates(ops.StringSplit)
def string_split(node: ops.StringSplit, data: Array) -> tuple[Array, Array]:
    parts = [text.split(node.delimiter or None, node.maxsplit) for text in data.reshape(-1).tolist()]
    counts = np.array([len(part) for part in parts], np.int64)
    width = int(counts.max(initial=0))
    padded = string_array([word for part in parts for word in part + [""] * (width - len(part))])
    return padded.reshape(*data.shape, width), counts.reshape(data.shape)


@evaluates(ops.StringNormalizer)
def string_normalizer(node: ops.StringNormalizer, data: Array) -> Array:
    fold = str if node.is_case_sensitive else str.lower
    stopwords = set(map(fold, node.stopwords))
    kept = [
        _CHANGE_CASE[node.case_change_action](text) for text in data.reshape(-1).tolist() if fold(text) not in stopwords
    ]
    return string_array(kept or [""]).reshape(*data.shape[:-1], -1)


@evaluates(ops.RegexFullMatch)
def regex_full_match(node: ops.RegexFullMatch, data: Array) -> Array:
    pattern = re.compile(node.pattern)
    return np.array([bool(pattern.fullmatch(text)) for text in data.reshape(-1).tolist()], bool).reshape(data.shape)


@evaluates(ops.RegexReplace)
def regex_replace(node: ops.RegexReplace, data: Array) -> Array:
    pattern = re.compile(node.pattern, re.ASCII)
    # A number after \0 … \9 is no part of the group's number, as it would be in Python.
    rewrite = re.sub(r"\\(.)", lambda match: rf"\g<{match[1]}>" if match[1].isdecimal() else match[0], node.rewrite)
    count = 0 if node.replace_global else 1
    return string_array([pattern.sub(rewrite, text, count) for text in data.reshape(-1).tolist()]).reshape(data.shape)


@evaluates(ops.StringHashBucket)
def string_hash_bucket(node: ops.StringHashBucket, data: Array) -> Array:
    keys = [text.encode("utf-8", "surrogateescape") for text in data.reshape(-1).tolist()]
    hashes = [fingerprint64(np.frombuffer(key, np.uint8).reshape(1, -1))[0] for key in keys]
    buckets = np.array(hashes, np.uint64) % np.uint64(node.num_buckets)
    return buckets.astype(np.int64).reshape(data.shape)


@evaluates(ops.TfIdfVectorizer)
def tf_idf_vectorizer(node: ops.TfIdfVectorizer, data: Array) -> Array:
    pool = node.pool_strings or node.pool_int64s
    numbers = {gram: index for index, gram in enumerate(pool_grams(node, pool))}
    rows = data.reshape(1, -1) if data.ndim == 1 else data
    result = np.zeros((len(rows), max(node.ngram_indexes, default=-1) + 1), np.float32)
    weights = node.weights or (1.0,) * len(numbers)
    for row, counts in zip(rows.tolist(), result):
        for gram in _grams(node, row):
            number = numbers.get(gram)
            if number is None:
                continue
            column, weight = node.ngram_indexes[number], weights[number]
            if node.mode == "idf":
                counts[column] = weight
            else:
                counts[column] += weight if node.mode == "tfidf" else 1
    return result.reshape(*data.shape[:-1], result.shape[1])


def _grams(node: ops.TfIdfVectorizer, items: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield every n-gram in the items, for each number of skipped items; n-grams of one item only once."""
    for length in range(node.min_gram_length, node.max_gram_length + 1):
        for step in range(1, 2 if length == 1 else node.max_skip_count + 2):
            for first in range(len(items) - (length - 1) * step):
                yield tuple(items[first : first + (length - 1) * step + 1 : step])


@evaluates(ops.SkipGram)
def skip_gram(node: ops.SkipGram, data: Array) -> Array:
    words = _words(str(data.reshape(-1)[0]))

    def grams(indices: list[int]) -> Iterator[str]:
        if len(indices) < node.ngram_size:
            for index in range(indices[-1] + 1, min(indices[-1] + node.max_skip_size + 2, len(words))):
                yield from grams([*indices, index])
        if node.include_all_ngrams or len(indices) == node.ngram_size:
            yield " ".join(words[index] for index in indices)

    if len(words) < node.ngram_size:
        return string_array([])
    return string_array([gram for first in range(len(words)) for gram in grams([first])])


def _words(text: str) -> list[str]:
    """Split a text at whitespace.

    As in LiteRT, whitespace at index 0 is treated as a part of the first word, which is dropped if more whitespace
    follows it.
    """
    words, begin = [], 0
    for end in range(1, len(text)):
        if text[end] in _WHITE_SPACE:
            if end > begin and text[begin] not in _WHITE_SPACE:
                words.append(text[begin:end])
            begin = end + 1
    return [*words, text[begin:]] if begin < len(text) else words


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
