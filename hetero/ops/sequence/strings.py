"""String operations and hashing. Those without an operation set are from ONNX and TensorFlow Lite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice, floats, integers, texts
from hetero.ops.checks import check_type, is_index, merge_dimensions, non_scalar_shape, shape_of_rank


def _is_string(element_type: Type) -> bool:
    return element_type is Type.string


class StringTensorPack(Op, opset=15):
    """Strings of the shape of ``begins``, decoded from the UTF-8 bytes ``symbols[begins[i]:ends[i]]``."""

    input_names = ("begins", "ends", "symbols")

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), is_index, "i32 or i64")
        check_type(self, (2,), lambda t: t is Type.u8, "u8")
        begins, ends = self.get_input_partial_shape(0), self.get_input_partial_shape(1)
        if not begins.compatible(ends):
            self.fail(f"begins and ends must have the same shape, but have {begins} and {ends}")
        if not self.get_input_partial_shape(2).compatible([Dimension()]):
            self.fail(f"symbols must have one dimension, but has the shape {self.get_input_partial_shape(2)}")
        self.set_output_type(0, Type.string, begins.merge(ends))


class StringTensorUnpack(Op, opset=15):
    """The begin and end positions of strings (i32, the shape of the data), and their concatenated UTF-8 bytes."""

    input_names = ("data",)
    output_size = 3

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), _is_string, "a string")
        shape = self.get_input_partial_shape(0)
        self.set_output_type(0, Type.i32, shape)
        self.set_output_type(1, Type.i32, shape)
        self.set_output_type(2, Type.u8, [Dimension()])


class StringConcat(Op):
    """Element-wise concatenation of strings, with numpy broadcasting.

    - ``first``, ``second``: strings, whose shapes are broadcast.
    """

    input_names = ("first", "second")

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), _is_string, "a string")
        self.set_output_type(0, Type.string, self.get_input_partial_shape(0).broadcast(self.get_input_partial_shape(1)))


class StringSplit(Op):
    """Each string split at a delimiter, by default whitespace.

    Outputs: the substrings on a new last axis, padded with empty strings; the number of substrings of each string. A
    non-negative ``maxsplit`` limits the number of splits, from the left.

    - ``delimiter``: what separates the substrings; whitespace if empty.
    """

    input_names = ("data",)
    delimiter = Attribute(str, "")
    maxsplit = Attribute(int, -1)
    output_size = 2

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), _is_string, "a string")
        shape = self.get_input_partial_shape(0)
        parts = concatenate(shape, [Dimension()]) if shape.has_rank else PartialShape.dynamic()
        self.set_output_type(0, Type.string, parts)
        self.set_output_type(1, Type.i64, shape)


class StringNormalizer(Op):
    """Strings ``[C]`` or ``[1, C]`` without ``stopwords``, in lower or upper case; one empty string if none is left.

    - ``case_change_action``: which case the output has.
    - ``is_case_sensitive``: whether stopwords match in the same case only.
    """

    input_names = ("data",)
    stopwords = Attribute(texts, ())
    case_change_action = Attribute(choice("none", "lower", "upper"), "none")
    is_case_sensitive = Attribute(bool, False)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), _is_string, "a string")
        shape = self.get_input_partial_shape(0)
        if not (shape.compatible([Dimension()]) or shape.compatible([1, Dimension()])):
            self.fail(f"data must be [C] or [1, C], but has the shape {shape}")
        if self.stopwords and shape.has_rank:
            longest = shape[len(shape) - 1].max_length
            shape = concatenate(shape[:-1], [Dimension(1, max(1, longest) if longest != -1 else -1)])
        self.set_output_type(0, Type.string, shape)


class RegexFullMatch(Op):
    """Whether each whole string matches the regular expression.

    - ``pattern``: the regular expression.
    """

    input_names = ("data",)
    pattern = Attribute(str)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), _is_string, "a string")
        self.set_output_type(0, Type.boolean, self.get_input_partial_shape(0))


class RegexReplace(Op):
    r"""Each string with the matches of a regular expression replaced, all or only the first.

    In ``rewrite``, ``\1`` to ``\9`` are the groups of the match, ``\0`` is the whole match. Character classes such as
    ``\s`` are those of ASCII.

    - ``pattern``: the regular expression.
    - ``replace_global``: whether all matches are replaced.
    """

    input_names = ("data",)
    pattern = Attribute(str)
    rewrite = Attribute(str)
    replace_global = Attribute(bool, True)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), _is_string, "a string")
        self.set_output_type(0, Type.string, self.get_input_partial_shape(0))


class StringHashBucket(Op):
    """A 64-bit hash of the UTF-8 bytes of each string, modulo ``num_buckets``, i64.

    - ``algorithm``: FarmHash's Fingerprint64, MurmurHash64A with TensorFlow's seed, or SipHash-2-4.
    - ``key``: two 64-bit words, the key of SipHash.
    """

    input_names = ("data",)
    num_buckets = Attribute(int)
    algorithm = Attribute(choice("farmhash", "murmurhash", "siphash"), "farmhash")
    key = Attribute(integers, ())

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), _is_string, "a string")
        if self.num_buckets < 1:
            self.fail(f"num_buckets must be positive, but is {self.num_buckets}")
        if len(self.key) != (2 if self.algorithm == "siphash" else 0):
            self.fail(f"key must have two numbers for siphash, none otherwise, but is {list(self.key)}")
        self.set_output_type(0, Type.i64, self.get_input_partial_shape(0))


class TfIdfVectorizer(Op):
    """Counts of the n-grams of a pool in rows ``[C]`` or ``[N, C]`` of words or numbers: f32 ``[…, columns]``.

    ``ngram_counts`` has the positions in the pool where the n-grams of 1, 2, … items start, ``ngram_indexes`` the
    output column of each n-gram. Up to ``max_skip_count`` items are skipped between the items of an n-gram. By ``mode``
    the output is the count (tf), the weight if the n-gram occurs (idf), or the product of both (tfidf).

    - ``min_gram_length``, ``max_gram_length``: the numbers of items of the n-grams that are counted.
    - ``pool_int64s``, ``pool_strings``: the items of the pool's n-grams, one of both.
    - ``weights``: the weight of each n-gram, in modes idf and tfidf; 1 if empty.
    """

    input_names = ("data",)
    mode = Attribute(choice("tf", "idf", "tfidf"))
    min_gram_length = Attribute(int)
    max_gram_length = Attribute(int)
    max_skip_count = Attribute(int)
    ngram_counts = Attribute(integers)
    ngram_indexes = Attribute(integers)
    pool_int64s = Attribute(integers, ())
    pool_strings = Attribute(texts, ())
    weights = Attribute(floats, ())

    def validate_and_infer_types(self) -> None:
        if not 1 <= self.min_gram_length <= self.max_gram_length <= len(self.ngram_counts):
            self.fail(
                f"n-grams of {self.min_gram_length} to {self.max_gram_length} items do not fit ngram_counts of "
                f"{len(self.ngram_counts)}"
            )
        if self.weights and len(self.weights) != len(self.ngram_indexes):
            self.fail(f"there are {len(self.weights)} weights for {len(self.ngram_indexes)} n-grams")
        shape = self.get_input_partial_shape(0)
        if shape.has_rank and len(shape) not in (1, 2):
            self.fail(f"data must be [C] or [N, C], but has the shape {shape}")
        columns = max(self.ngram_indexes, default=-1) + 1
        output_shape = concatenate(shape[:-1], [columns]) if shape.has_rank else PartialShape.dynamic()
        self.set_output_type(0, Type.f32, output_shape)


def pool_grams(node: TfIdfVectorizer, pool: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the n-grams of the pool in order: first those of one item, then those of two, and so on."""
    ends = [*node.ngram_counts[1:], len(pool)]
    for length, (start, end) in enumerate(zip(node.ngram_counts, ends), 1):
        for first in range(start, end, length):
            yield tuple(pool[first : first + length])


class SkipGram(Op):
    """The n-grams of ``ngram_size`` words of the first string, joined by spaces; none if it has fewer words.

    Up to ``max_skip_size`` words are skipped between the words of an n-gram. With ``include_all_ngrams`` the output
    includes shorter n-grams, each after the longer ones that start with it.
    """

    input_names = ("data",)
    ngram_size = Attribute(int)
    max_skip_size = Attribute(int, 0)
    include_all_ngrams = Attribute(bool, False)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), _is_string, "a string")
        if self.ngram_size < 1 or self.max_skip_size < 0:
            self.fail(f"ngram_size {self.ngram_size} must be positive, max_skip_size {self.max_skip_size} not negative")
        self.set_output_type(0, Type.string, [Dimension()])


class LshProjection(Op):
    """Locality-sensitive hash of ``data [N, …]`` with seeds ``hash [H, B]`` and optional weights ``[N]``.

    The bit of a seed is set if the weighted sum of the hashes of all rows is positive. The hash of a row is FarmHash's
    Fingerprint64 of the seed's bytes followed by the row's, as a signed number. The output is the bits, i32
    ``[H · B]``, or if ``is_sparse`` is set, for each row h of seeds its bits as a number plus ``h · 2^B``, i32 ``[H]``.

    - ``weight``: ``[N]``, the weight of each row.
    """

    input_names = ("hash", "data", "weight?")
    is_sparse = Attribute(bool, False)

    def validate_and_infer_types(self) -> None:
        check_type(self, [0, *range(2, self.get_input_size())], lambda kind: kind is Type.f32, "f32")
        check_type(self, [1], lambda kind: kind is not Type.string, "numbers")
        seeds, data = shape_of_rank(self, 0, 2), non_scalar_shape(self, 1)
        if seeds[1].min_length > 32:
            self.fail(f"hash {seeds} must have at most 32 columns")
        if data.has_rank and self.has_input("weight"):
            merge_dimensions(self, (data[0], shape_of_rank(self, 2, 1)[0]), "rows and weights")
        self.set_output_type(0, Type.i32, [seeds[0] if self.is_sparse else seeds[0] * seeds[1]])
