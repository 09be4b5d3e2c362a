"""Compression of weights of matrix products and of tables of rows: rounding to integers of 8 or 4 bits with scales."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from hetero import ops
from hetero.core.compressed import PackedArray
from hetero.core.packing import is_packed, pack
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Output, constant_array
from hetero.graph.rt_info import copy_rt_info
from hetero.system.errors import GraphError


class _Mode(NamedTuple):
    kind: Type
    has_zero_points: bool


_MODES = {
    "int8_asym": _Mode(Type.u8, True),
    "int8_sym": _Mode(Type.i8, False),
    "int4_asym": _Mode(Type.u4, True),
    "int4_sym": _Mode(Type.i4, False),
}
# The mode of layers that are not compressed to 4 bits.
_WIDER = "int8_asym"
# The rows that are rounded at once, so that temporary arrays are small.
_ROWS = 256
# The least number that f16 represents with all its digits, and the largest one.
_SMALLEST, _LARGEST = float(np.finfo(np.float16).smallest_normal), float(np.finfo(np.float16).max)


@dataclass(frozen=True)
class CompressedLayer:
    """Weights that were compressed: the name of the constant, the mode, and the bytes before and after.

    ``error`` is the root of the mean square of the differences, as a fraction of that of the weights.
    """

    name: str
    mode: str
    bytes_before: int
    bytes_after: int
    error: float


class _Weights(NamedTuple):
    """A constant with the operations that read it, after Converts and Transposes whose result is ``value``.

    Products sum its columns, or its rows if it ``is_transposed``.
    """

    constant: Constant
    value: Output
    readers: list[Node]
    is_transposed: bool

    def matrix(self) -> np.ndarray:
        array = self.constant.data
        return array.T if self.is_transposed else array

    @property
    def is_table(self) -> bool:
        return any(not isinstance(reader, ops.MatMul) for reader in self.readers)


class _Rounded(NamedTuple):
    codes: np.ndarray
    scale: np.ndarray
    zero_point: np.ndarray | None
    error: float


def compress_weights(
    model: Model,
    mode: str = "int8_asym",
    ratio: float = 1.0,
    group_size: int = 128,
    ignored_scope: Iterable[str] = (),
) -> Model:
    """Return a copy of a model whose weights are integers with scales; see ``compress_layers``."""
    copy = model.clone()
    compress_layers(copy, mode, ratio, group_size, ignored_scope)
    return copy


def compress_layers(
    model: Model,
    mode: str = "int8_asym",
    ratio: float = 1.0,
    group_size: int = 128,
    ignored_scope: Iterable[str] = (),
) -> list[CompressedLayer]:
    """Compress weights of a model in place: constants of two axes that MatMuls, and Gathers of rows, read.

    Parameters are named as those of ``nncf.compress_weights``. ``mode`` is "int8_asym", "int8_sym", "int4_asym" or
    "int4_sym", or an object with such a ``value``. In 8 bits each row has a scale, in 4 bits each ``group_size``
    elements of a row. In the modes of 4 bits, tables of rows, the last product, rows that are not whole groups, and
    weights with the largest errors stay in 8 bits, so that ``ratio`` of the elements of the others is in 4.
    ``ignored_scope`` are patterns, such as ``*/lm_head*``, of constants, or operations that read them, to leave alone.

    Weights are rounded to the nearest; a scale maps the range of a group, with 0, to all codes. Raises GraphError if
    a parameter is wrong.
    """
    name = getattr(mode, "value", mode)
    if name not in _MODES:
        raise GraphError(f"weights cannot be compressed to {name!r}: the modes are {', '.join(_MODES)}")
    if not 0 <= ratio <= 1:
        raise GraphError(f"the ratio must be between 0 and 1, but is {ratio}")
    if group_size < 8 or group_size % 8:
        raise GraphError(f"the group size must be a multiple of 8, but is {group_size}")
    found = [weights for weights in _find_weights(model) if not _is_ignored(weights, list(ignored_scope))]
    modes = _choose_modes(found, name, ratio, group_size)
    return [_compress(weights, modes[weights.constant], group_size) for weights in found]


def _find_weights(model: Model) -> list[_Weights]:
    found = []
    for node in model.get_ordered_ops():
        if not isinstance(node, Constant) or len(node.contents.shape) != 2 or not node.get_element_type().is_real():
            continue
        if node.get_element_type().bitwidth < 16 or 0 in node.contents.shape:
            continue
        value, is_moved = node.output(0), False
        targets = value.get_target_inputs()
        while len(targets) == 1 and isinstance((reader := next(iter(targets)).node), (ops.Convert, ops.Transpose)):
            is_moved ^= isinstance(reader, ops.Transpose) and _exchanges_axes(reader)
            value = reader.output(0)
            targets = value.get_target_inputs()
        products = [t.node for t in targets if isinstance(t.node, ops.MatMul) and t.index == 1]
        tables = [t.node for t in targets if isinstance(t.node, (ops.Gather, ops.GatherV7)) and t.index == 0]
        transposed = {product.transpose_b == is_moved for product in products} | ({is_moved} if tables else set())
        if value.element_type.is_real() and len(products) + len(tables) == len(targets) and len(transposed) == 1:
            found.append(_Weights(node, value, [*products, *tables], transposed.pop()))
    return found


def _exchanges_axes(transpose: ops.Transpose) -> bool:
    order = constant_array(transpose.input_value(1))
    return order is not None and order.reshape(-1).tolist() in ([], [1, 0])


def _is_ignored(weights: _Weights, patterns: Sequence[str]) -> bool:
    names = [node.friendly_name for node in (weights.constant, *weights.readers)]
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _choose_modes(found: Sequence[_Weights], mode: str, ratio: float, group_size: int) -> dict[Constant, str]:
    """Return the mode of each weights: that with the least errors in 4 bits get them, up to ``ratio`` of elements."""
    if not is_packed(_MODES[mode].kind):
        return {weights.constant: mode for weights in found}
    modes = {weights.constant: _WIDER for weights in found}
    products = [weights for weights in found if not weights.is_table]
    narrow = [weights for weights in products[:-1] if not weights.matrix().shape[1] % group_size]
    budget = ratio * sum(weights.constant.contents.size for weights in narrow)
    if ratio < 1:
        narrow.sort(key=lambda weights: _rounded(weights.matrix(), _MODES[mode], group_size).error)
    for weights in narrow:
        budget -= weights.constant.contents.size
        if budget < 0:
            break
        modes[weights.constant] = mode
    return modes


def _compress(weights: _Weights, mode: str, group_size: int) -> CompressedLayer:
    matrix, kind = weights.matrix(), _MODES[mode].kind
    in_groups = is_packed(kind)
    rounded = _rounded(matrix, _MODES[mode], group_size if in_groups else matrix.shape[1])
    # Scales of f16, as OpenVINO's tools write them, unless they would lose digits.
    scales = np.abs(rounded.scale)
    wide = Type.f16 if scales.min() >= _SMALLEST and scales.max() <= _LARGEST else Type.f32
    value: Node = ops.Convert(_constant(rounded.codes, kind, in_groups), wide)
    size = weights.constant.byte_size
    after = math.prod(matrix.shape) * kind.bitwidth // 8 + rounded.scale.size * wide.size
    if rounded.zero_point is not None:
        value = ops.Subtract(value, ops.Convert(_constant(rounded.zero_point, kind, in_groups), wide))
        after += rounded.zero_point.size * kind.bitwidth // 8
    scale = rounded.scale.astype(wide.to_dtype())
    value = ops.Multiply(value, Constant(scale if in_groups else scale[:, :, 0]))
    if in_groups:
        value = ops.Reshape(value, np.array(matrix.shape), False)
    value = ops.Convert(value, weights.value.element_type, name=weights.constant.friendly_name)
    copy_rt_info([weights.constant], value)
    for reader in weights.readers:
        if isinstance(reader, ops.MatMul):
            reader.transpose_b = True
        for target in reader.inputs():
            if target.get_source_output() == weights.value:
                target.replace_source_output(value.output(0))
        reader.infer()
    return CompressedLayer(weights.constant.friendly_name, mode, size, after, rounded.error)


def _constant(codes: np.ndarray, kind: Type, in_groups: bool) -> Constant:
    """Return codes ``[rows, groups, elements]``, or of one group ``[rows, elements]``."""
    if not in_groups:
        codes = codes[:, 0]
    return Constant(PackedArray(pack(codes, kind), kind, codes.shape) if is_packed(kind) else codes)


def _rounded(matrix: np.ndarray, mode: _Mode, group_size: int) -> _Rounded:
    """Return codes ``[rows, groups, group_size]`` with scales, and zero points if the mode has them."""
    parts = [_rounded_rows(matrix[first : first + _ROWS], mode, group_size) for first in range(0, len(matrix), _ROWS)]
    codes, scale, zero_point = (np.concatenate([part[index] for part in parts]) for index in range(3))
    differences, squares = (sum(part[index] for part in parts) for index in (3, 4))
    error = math.sqrt(differences / squares) if squares else 0.0
    return _Rounded(codes, scale, zero_point if mode.has_zero_points else None, error)


def _rounded_rows(rows: np.ndarray, mode: _Mode, group_size: int) -> Any:
    groups = rows.astype(np.float32).reshape(len(rows), -1, group_size)
    low = -(1 << mode.kind.bitwidth - 1) if mode.kind.is_signed() else 0
    high = low + (1 << mode.kind.bitwidth) - 1
    if mode.has_zero_points:
        least, most = (function(groups, 2, keepdims=True, initial=0) for function in (np.min, np.max))
        scale = (most - least) / (high - low)
    else:
        least = np.float32(0)
        scale = np.abs(groups).max(2, keepdims=True, initial=0) / high
    scale = scale.astype(np.float16).astype(np.float32) if _fits_f16(scale) else scale
    scale = np.where(scale == 0, np.float32(1), scale)
    zero_point = np.clip(np.rint(-least / scale), low, high) if mode.has_zero_points else np.zeros_like(scale)
    codes = np.clip(np.rint(groups / scale) + zero_point, low, high)
    difference = (codes - zero_point) * scale - groups
    kind = mode.kind.to_dtype()
    squares = float(np.square(difference, dtype=np.float64).sum()), float(np.square(groups, dtype=np.float64).sum())
    return codes.astype(kind), scale, zero_point.astype(kind), *squares


def _fits_f16(scale: np.ndarray) -> bool:
    return bool(scale.min() >= _SMALLEST and scale.max() <= _LARGEST)
