"""String operators, and reinterpretation of the bits of numbers and strings."""

from __future__ import annotations

import re
from functools import reduce
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.elementwise import reinterpret
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, rows, translator
from hetero.frontend.tensorflow.translators.containers.unicode import Characters
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    constant_input,
    convert_to,
    int64,
    normalize_axis,
    rank_of,
    reshape,
    transpose,
)
from hetero.graph import Constant, Op, Output
from hetero.ops.movement.slicing import TO_THE_END
from hetero.system.errors import FrontendError


@translator("StringLower", "StringUpper")
def change_case(node: TensorflowNodeContext) -> Translation:
    """Change the case of ASCII letters, of all letters with the encoding "utf-8"."""
    value, is_lower = node.get_input(0), node.get_op_type() == "StringLower"
    if str(node.get_attribute("encoding", "")) != "utf-8":
        return _change_ascii_case(value, is_lower)
    # StringNormalizer takes vectors only.
    action = "lower" if is_lower else "upper"
    changed = ops.StringNormalizer(reshape(value, (-1,)), (), action, True)
    return ops.Reshape(changed, ops.ShapeOf(value), False)


def _change_ascii_case(value: Output, is_lower: bool) -> Op:
    """No byte of other letters is one of an ASCII letter in UTF-8."""
    begins, ends, symbols = ops.StringTensorUnpack(value).outputs()
    numbers = np.arange(256, dtype=np.uint8)
    changed = np.frombuffer(numbers.tobytes().lower() if is_lower else numbers.tobytes().upper(), np.uint8)
    return ops.StringTensorPack(begins, ends, ops.Gather(Constant(changed), ops.Convert(symbols, Type.i32), int64(0)))


def _join(*values: Output, separator: str) -> Output:
    def joined(left: Output, right: Output) -> Output:
        start = ops.StringConcat(left, np.array(separator)).output(0) if separator else left
        return ops.StringConcat(start, right).output(0)

    return reduce(joined, values)


def _join_segments(strings: Output, segments: Output, count: Output, separator: str) -> Op:
    """Join the strings of each segment."""
    strings, segments = reshape(strings, (-1,)), reshape(convert_to(segments, Type.i64), (-1,))
    sorted_segments, order = ops.TopK(segments, axis_length(segments, 0), 0, "min", "value", Type.i64, True).outputs()
    following = ops.Concat([ops.Slice(sorted_segments, int64([1]), int64([TO_THE_END]), int64([1])), int64([-1])], 0)
    is_last = ops.NotEqual(sorted_segments, following)
    ordered = ops.Gather(strings, order, int64(0))
    separated = ops.StringConcat(ordered, ops.Select(is_last, np.array(""), np.array(separator)))
    begins, _, symbols = ops.StringTensorUnpack(ops.Concat([separated, np.array([""])], 0)).outputs()
    numbers = arange(reshape(convert_to(count, Type.i64), ()))
    first, end = (
        ops.Gather(begins, ops.SearchSorted(sorted_segments, numbers, is_right), int64(0)) for is_right in (False, True)
    )
    return ops.StringTensorPack(first, end, symbols)


_BUCKETS: dict[str, Any] = {"num_buckets": Attr("num_buckets", dtype=int)}
rows(
    {
        "StringJoin": Row(_join, separator=Attr("separator", "", str)),
        "StringStrip": Row(ops.RegexReplace, pattern=r"\A\s+|\s+\Z", rewrite=""),
        "StringToHashBucket": Row(ops.StringHashBucket, algorithm="murmurhash", **_BUCKETS),
        "StringToHashBucketFast": Row(ops.StringHashBucket, **_BUCKETS),
        "StringToHashBucketStrong": Row(ops.StringHashBucket, algorithm="siphash", key=Attr("key"), **_BUCKETS),
        "StringToNumber": Row(ops.Cast, destination_type=Attr("out_type", Type.f32)),
        "UnsortedSegmentJoin": Row(_join_segments, separator=Attr("separator", "", str)),
    }
)


@translator("StaticRegexFullMatch", "RegexFullMatch")
def regex_full_match(node: TensorflowNodeContext) -> Translation:
    """The pattern is an attribute, or a constant input of RegexFullMatch."""
    is_static = node.get_op_type().startswith("Static")
    pattern = node.get_attribute("pattern") if is_static else node.get_values_from_const_input(1)
    return ops.RegexFullMatch(node.get_input(0), _python_pattern(str(pattern)))


@translator("StaticRegexReplace", "RegexReplace")
def regex_replace(node: TensorflowNodeContext) -> Translation:
    """The pattern and the rewrite are attributes, or constant inputs of RegexReplace."""
    if node.get_op_type().startswith("Static"):
        pattern, rewrite = (str(node.get_attribute(name)) for name in ("pattern", "rewrite"))
    else:
        pattern, rewrite = (str(node.get_values_from_const_input(index)) for index in (1, 2))
    replaces_all = node.get_attribute("replace_global", True, bool)
    return ops.RegexReplace(node.get_input(0), _python_pattern(pattern), rewrite, replaces_all)


# Parts of a pattern that Python's expressions do not have, or have with another meaning.
_ONLY_RE2 = re.compile(r"\\[pPCQz]|\\x\{|\[\[:|\(\?[imsU-]*U|\(\?[^)]*m")


def _python_pattern(pattern: str) -> str:
    """Return RE2's pattern as one of Python's. Raises FrontendError if it has what Python's have not."""
    if match := _ONLY_RE2.search(pattern):
        raise FrontendError(f"the pattern {pattern!r} has {match[0]!r}, which is not supported")
    # In Python $ also matches before a newline at the end.
    parts = re.findall(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|.", pattern, re.DOTALL)
    pattern = "".join(r"\Z" if part == "$" else part for part in parts)
    try:
        re.compile(pattern, re.ASCII)
    except re.error as error:
        raise FrontendError(f"the pattern {pattern!r} is not supported: {error}") from error
    return pattern


@translator("StringSplitV2")
def split(node: TensorflowNodeContext) -> Translation:
    """Split the strings of a vector; return the parts as a sparse matrix: indices, values and dense shape."""
    separator, limit = str(node.get_values_from_const_input(1)), node.get_attribute("maxsplit", -1, int)
    return _as_sparse(node.get_input(0), ops.StringSplit(node.get_input(0), separator, limit))


@translator("StringSplit")
def split_at_any(node: TensorflowNodeContext) -> Translation:
    """Split the strings of a vector at each of the delimiter's characters, or into bytes without a delimiter."""
    value, delimiter = node.get_input(0), str(node.get_values_from_const_input(1))
    if not delimiter:
        return _split_bytes(value)
    # Each delimiter becomes the first one, a backslash of which is escaped in a rewrite.
    rewrite = delimiter[0].replace("\\", "\\\\")
    parts = ops.StringSplit(ops.RegexReplace(value, f"[{re.escape(delimiter)}]", rewrite), delimiter[0])
    if node.get_attribute("skip_empty", True, bool):
        is_part = ops.NotEqual(parts.output(0), np.array("")).output(0)
    else:  # an empty string still has no parts
        is_part = ops.LogicalAnd(
            _are_parts(parts), ops.Unsqueeze(ops.NotEqual(value, np.array("")), int64([1]))
        ).output(0)
    places = ops.CumSum(convert_to(is_part, Type.i64), int64(1), True)
    found = ops.Transpose(ops.NonZero(is_part), int64([1, 0]))
    row = ops.Slice(found, int64([0]), int64([1]), int64([1]), int64([1]))
    indices = ops.Concat([row, ops.Unsqueeze(ops.GatherND(places, found), int64([1]))], 1)
    counts = ops.ReduceSum(convert_to(is_part, Type.i64), int64([1]), False)
    return [indices, ops.GatherND(parts.output(0), found), _sparse_shape(value, counts)]


def _split_bytes(value: Output) -> list[Op | Output]:
    """Return the bytes of the strings of a vector as a sparse matrix."""
    begins, ends, symbols = ops.StringTensorUnpack(value).outputs()
    numbers = arange(axis_length(symbols, 0))
    row = ops.SearchSorted(convert_to(ends, Type.i64), numbers, True, Type.i64)
    column = ops.Subtract(numbers, ops.Gather(convert_to(begins, Type.i64), row, int64(0)))
    indices = ops.Concat([ops.Unsqueeze(part, int64([1])) for part in (row, column)], 1)
    characters = ops.StringTensorPack(numbers, ops.Add(numbers, int64(1)), symbols)
    return [indices, characters, _sparse_shape(value, convert_to(ops.Subtract(ends, begins).output(0), Type.i64))]


def _sparse_shape(value: Output, counts: Op | Output) -> Op:
    """Return the number of strings and of the parts of the longest."""
    longest = ops.ReduceMax(ops.Concat([counts, int64([0])], 0), int64([0]), True)
    return ops.Concat([reshape(axis_length(value, 0), (1,)), longest], 0)


def _are_parts(parts: Op) -> Op:
    """Return where the rows of a split are parts, not padding."""
    return ops.Less(arange(axis_length(parts.output(0), 1)), ops.Unsqueeze(parts.output(1), int64([1])))


def _as_sparse(value: Output, parts: Op) -> list[Op | Output]:
    columns = axis_length(parts.output(0), 1)
    indices = ops.Transpose(ops.NonZero(_are_parts(parts)), int64([1, 0]))
    shape = ops.Concat([reshape(axis_length(value, 0), (1,)), reshape(columns, (1,))], 0)
    return [indices, ops.GatherND(parts.output(0), indices), shape]


@translator("StringLength")
def length(node: TensorflowNodeContext) -> Translation:
    """The number of bytes or of characters of each string."""
    if node.get_attribute("unit", "BYTE") != "BYTE":
        return Characters(node.get_input(0)).lengths()
    begins, ends, _ = ops.StringTensorUnpack(node.get_input(0)).outputs()
    return ops.Subtract(ends, begins)


@translator("Substr")
def substring(node: TensorflowNodeContext) -> Translation:
    """Return up to ``length`` bytes or characters from a position, which counts from the end if it is negative."""
    text, *numbers = node.get_inputs()
    position, length = (convert_to(number, Type.i64) for number in numbers)
    characters = Characters(text) if node.get_attribute("unit", "BYTE") != "BYTE" else None
    begins, ends, symbols = ops.StringTensorUnpack(text).outputs()
    begins, ends = convert_to(begins, Type.i64), convert_to(ends, Type.i64)
    if characters is not None:
        begins, ends = characters.first, characters.end
    start = ops.Add(ops.Select(ops.Less(position, int64(0)), ends, begins), position).output(0)
    end = ops.Minimum(ops.Add(start, length), ends).output(0)
    # The position may have more axes than the text.
    shape = ops.ShapeOf(end)
    if characters is not None:
        start, end = (ops.Gather(characters.starts, place, int64(0)).output(0) for place in (start, end))
    return ops.StringTensorPack(ops.Broadcast(start, shape), end, symbols)


@translator("ReduceJoin")
def reduce_join(node: TensorflowNodeContext) -> Translation:
    """Join the strings along axes, those along the axis that is listed first being adjacent."""
    value, axes = node.get_input(0), constant_input(node, 1, "reduction_indices").reshape(-1).tolist()
    separator, rank = str(node.get_attribute("separator", "")), rank_of(value)
    joined = [normalize_axis(axis, rank) for axis in axes]
    others = [axis for axis in range(rank) if axis not in joined]
    if not joined:
        return value
    lengths = ops.ShapeOf(value)
    kept, removed = (ops.Gather(lengths, int64(part), int64(0)) for part in (others, joined))
    counts = [ops.ReduceProd(part, int64([0]), True) for part in (kept, removed)]
    rows = ops.Reshape(transpose(value, (*others, *reversed(joined))), ops.Concat(counts, 0), False)
    # Each string with the separator after it, then one that is empty: the rows are adjacent in the symbols.
    is_last = ops.Equal(arange(axis_length(rows, 1)), ops.Subtract(axis_length(rows, 1), int64(1)))
    separated = ops.StringConcat(rows, ops.Select(is_last, np.array(""), np.array(separator)))
    empty = ops.Broadcast(np.array(""), ops.Concat([counts[0], int64([1])], 0))
    begins, ends, symbols = ops.StringTensorUnpack(ops.Concat([separated, empty], 1)).outputs()
    first, last = ops.Gather(begins, int64(0), int64(1)), ops.Gather(ends, int64(-1), int64(1))
    strings = ops.Reshape(ops.StringTensorPack(first, last, symbols), kept, False)
    return ops.Unsqueeze(strings, int64(joined)) if node.get_attribute("keep_dims", False, bool) else strings


@translator("AsString")
def as_string(node: TensorflowNodeContext) -> Translation:
    """Format numbers as printf does. Booleans and strings have no format."""
    value = node.get_input(0)
    if value.element_type is Type.boolean:
        return ops.Select(value, np.array("true"), np.array("false"))
    if value.element_type is Type.string:
        return value
    texts = ops.FormatNumber(value, _number_format(node, value.element_type))
    if not node.is_complex():
        return texts
    real, imaginary = (ops.Gather(texts, int64(index), int64(-1)).output(0) for index in range(2))
    inner = _join(real, imaginary, separator=",")
    return ops.StringConcat(ops.StringConcat(np.array("("), inner), np.array(")"))


def _number_format(node: TensorflowNodeContext, kind: Type) -> str:
    """Return the format of printf that the attributes of AsString are."""
    width, precision = (node.get_attribute(name, -1, int) for name in ("width", "precision"))
    fill, is_scientific = str(node.get_attribute("fill", "")), node.get_attribute("scientific", False, bool)
    is_shortest = node.get_attribute("shortest", False, bool)
    if kind.is_integer():
        if precision > -1 or is_scientific or is_shortest:
            raise FrontendError("precision, scientific and shortest are of floating-point numbers only")
        # In C, a sign is no flag for unsigned numbers.
        fill = fill if kind.is_signed() or fill in ("-", "0") else ""
    length = "" if width < 0 else str(width)
    digits = "" if precision < 0 else f".{precision}"
    conversion = "d" if kind.is_integer() else "e" if is_scientific else "g" if is_shortest else "f"
    return f"%{fill}{length}{digits}{conversion}"


@translator("StringFormat")
def string_format(node: TensorflowNodeContext) -> Translation:
    """Insert the texts of tensors into a template."""
    placeholder, count = str(node.get_attribute("placeholder", "%s")), node.get_attribute("summarize", 3, int)
    return ops.StringFormat(node.get_inputs(), str(node.get_attribute("template", "%s")), placeholder, count)


@translator("DecodeRaw")
def decode_raw(node: TensorflowNodeContext) -> Translation:
    """The bytes of strings, which have the same length, as numbers on a new last axis."""
    value, kind = node.get_input(0), node.get_attribute("out_type")
    if not node.get_attribute("little_endian", True, bool) and kind.bitwidth > 8:
        raise FrontendError("big-endian numbers are not supported")
    symbols = ops.StringTensorUnpack(value).output(2)
    count = int64([kind.bitwidth // 8])
    shape = ops.Concat([ops.ShapeOf(value), int64([-1])], 0)
    if kind.bitwidth > 8:
        shape = ops.Concat([shape, count], 0)
    return reinterpret(ops.Reshape(symbols, shape, False).output(0), kind)


rows({"Bitcast": Row(reinterpret, kind=Attr("type"))})
