"""String operations and locality-sensitive hashing."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hetero import ops
from hetero.ops.sequence.strings import pool_grams
from hetero.reference.registry import Array, evaluates
from hetero.reference.sequence.hashing import fingerprint64, murmurhash64, siphash64
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
    hashes = [_hash(node, key) % node.num_buckets for key in keys]
    return np.array(hashes, np.int64).reshape(data.shape)


def _hash(node: ops.StringHashBucket, text: bytes) -> int:
    if node.algorithm == "siphash":
        return siphash64(text, node.key)
    if node.algorithm == "murmurhash":
        return murmurhash64(text)
    return int(fingerprint64(np.frombuffer(text, np.uint8).reshape(1, -1))[0])


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
