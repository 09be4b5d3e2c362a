"""The characters of strings, by the bytes of UTF-8. Strings are taken as valid: bytes of none are not replaced."""

from __future__ import annotations

from functools import reduce

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, convert_to, int64, reshape
from hetero.graph import Constant, Output
from hetero.ops.movement.slicing import TO_THE_END
from hetero.system.errors import FrontendError

# The first byte of a character of 1 to 4 bytes, without the bits of its number, and the bits that it has of that.
_LEADS, _LEAD_BITS = (0x00, 0xC0, 0xE0, 0xF0), (0x7F, 0x1F, 0x0F, 0x07)
# The first numbers of characters of 2, 3 and 4 bytes, and the first one that is no character.
_LIMITS, _END = (0x80, 0x800, 0x10000), 0x110000
_SURROGATES = (0xD800, 0xE000)


class Characters:
    """The characters of strings, numbered through all strings.

    ``first``, ``end``: the first character of each string and the one after its last, i64 in the shape of the strings.
    ``starts``: the byte where each character begins, and the number of bytes. ``symbols``: the bytes of all strings.
    """

    def __init__(self, strings: Output) -> None:
        begins, ends, self.symbols = ops.StringTensorUnpack(strings).outputs()
        numbers = ops.Convert(self.symbols, Type.i32)
        is_start = ops.NotEqual(ops.BitwiseAnd(numbers, np.int32(0xC0)), np.int32(0x80)).output(0)
        before = ops.Concat([int64([0]), ops.CumSum(convert_to(is_start, Type.i64), int64(0))], 0)
        self.first, self.end = (
            ops.Gather(before, convert_to(place, Type.i64), int64(0)).output(0) for place in (begins, ends)
        )
        places = reshape(ops.NonZero(is_start).output(0), (-1,))
        self.starts = ops.Concat([places, axis_length(self.symbols, [0])], 0).output(0)

    def lengths(self) -> Output:
        return convert_to(ops.Subtract(self.end, self.first).output(0), Type.i32)

    def code_points(self) -> Output:
        """Return the numbers of all characters, i32."""
        numbers = ops.Concat([ops.Convert(self.symbols, Type.i32), Constant(np.zeros(3, np.int32))], 0)
        starts = ops.Slice(self.starts, int64([0]), int64([-1]), int64([1]))
        lead, *others = (ops.Gather(numbers, ops.Add(starts, int64(offset)), int64(0)).output(0) for offset in range(4))
        points: list[Output] = []
        for count, bits in enumerate(_LEAD_BITS):
            point = ops.BitwiseAnd(lead, np.int32(bits)).output(0)
            for other in others[:count]:
                part = ops.BitwiseAnd(other, np.int32(0x3F))
                point = ops.Add(ops.Multiply(point, np.int32(64)), part).output(0)
            points.append(point)
        result = points[3]
        for limit, point in zip(_LEADS[:0:-1], points[2::-1]):
            result = ops.Select(ops.Less(lead, np.int32(limit)), point, result).output(0)
        # A lead byte of one byte's character is below 0x80, as no character begins with 0x80 to 0xBF.
        return result


@translator("UnicodeDecode", "UnicodeDecodeWithOffsets")
def decode(node: TensorflowNodeContext) -> Translation:
    """Return where the characters of each string begin and end, their numbers, and the bytes where they begin."""
    _check(node, "input_encoding")
    text = reshape(node.get_input(0), (-1,))
    characters = Characters(text)
    splits = convert_to(ops.Concat([int64([0]), characters.end], 0).output(0), node.get_attribute("Tsplits", Type.i64))
    outputs = [splits, characters.code_points()]
    if node.get_op_type() == "UnicodeDecodeWithOffsets":
        begins = convert_to(ops.StringTensorUnpack(text).output(0), Type.i64)
        starts = ops.Slice(characters.starts, int64([0]), int64([-1]), int64([1]))
        count = axis_length(starts, 0)
        numbers = ops.Range(int64(0), count, int64(1), Type.i64)
        row = ops.SearchSorted(characters.end, numbers, True, Type.i64)
        outputs.append(ops.Subtract(starts, ops.Gather(begins, row, int64(0))).output(0))
    return outputs


@translator("UnicodeEncode")
def encode(node: TensorflowNodeContext) -> Translation:
    """Return strings from the numbers of characters; those that are none become ``replacement_char``."""
    _check(node, "output_encoding")
    if node.get_attribute("errors", "replace") == "ignore":
        raise FrontendError("errors must be replace or strict")
    points, splits = node.get_input(0), convert_to(node.get_input(1), Type.i64)
    is_valid = _between(points, 0, _SURROGATES[0])
    is_valid = ops.LogicalOr(is_valid, _between(points, _SURROGATES[1], _END)).output(0)
    points = ops.Select(is_valid, points, np.int32(node.get_attribute("replacement_char", 0xFFFD))).output(0)
    sizes = [convert_to(ops.GreaterEqual(points, np.int32(limit)).output(0), Type.i32) for limit in _LIMITS]
    further = reduce(lambda left, right: ops.Add(left, right).output(0), sizes)  # bytes after the first
    places = Constant(np.arange(4, dtype=np.int32))
    column = ops.Unsqueeze(further, int64([1]))
    shifts = ops.Multiply(ops.Maximum(ops.Subtract(column, places), np.int32(0)), np.int32(6))
    shifted = ops.BitwiseRightShift(ops.Unsqueeze(points, int64([1])), shifts)
    later = ops.Add(ops.BitwiseAnd(shifted, np.int32(0x3F)), np.int32(0x80))
    lead = ops.Add(
        shifted, ops.Unsqueeze(ops.Gather(Constant(np.array(_LEADS, np.int32)), further, int64(0)), int64([1]))
    )
    symbols = ops.Select(ops.Equal(places, np.int32(0)), lead, later).output(0)
    is_used = reshape(ops.LessEqual(places, column).output(0), (-1,))
    used = reshape(ops.NonZero(is_used).output(0), (-1,))
    symbols = convert_to(ops.Gather(reshape(symbols, (-1,)), used, int64(0)).output(0), Type.u8)
    counts = ops.Add(convert_to(further, Type.i64), int64(1))
    before = ops.Concat([int64([0]), ops.CumSum(counts, int64(0))], 0)
    limits = ops.Gather(before, splits, int64(0))
    begins = ops.Slice(limits, int64([0]), int64([-1]), int64([1]))
    return ops.StringTensorPack(begins, ops.Slice(limits, int64([1]), int64([TO_THE_END]), int64([1])), symbols)


def _between(points: Output, low: int, end: int) -> Output:
    return ops.LogicalAnd(ops.GreaterEqual(points, np.int32(low)), ops.Less(points, np.int32(end))).output(0)


def _check(node: TensorflowNodeContext, name: str) -> None:
    encoding = str(node.get_attribute(name, "UTF-8"))
    if encoding.upper() not in ("UTF-8", "UTF8") or node.get_attribute("replace_control_characters", False, bool):
        raise FrontendError(f"only UTF-8 with control characters as they are is supported, not {encoding}")
