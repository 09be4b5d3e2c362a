"""Weights that are stored as integers with scales stay in that form: those of matrix products, and tables of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hetero import ops
from hetero.core.compressed import PackedArray, ScaledBlocks
from hetero.core.packing import is_packed, pack
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Output, constant_array
from hetero.graph.rt_info import copy_rt_info
from hetero.passes.compression.computed_constant import computed_constant
from hetero.passes.manager import keeps_values

# The operations between integers and the product that reads them; ``fold_constants`` leaves them as they are.
_DEQUANTIZING = (ops.Convert, ops.Subtract, ops.Multiply, ops.Reshape, ops.Transpose)


class _Dequantization(NamedTuple):
    """``(codes - zero point) * scale``, broadcast."""

    codes: Constant
    scale: np.ndarray
    zero_point: np.ndarray | None


def fold_compressed_weights(model: Model) -> bool:
    """Replace weights of MatMuls that are computed from integers with scales by Constants of ScaledBlocks.

    Applies to ``(integers - zero point) * scale`` with integers of 8 bits or less, followed by Reshapes that join
    blocks, Transposes and Converts, if scales and zero points change along the axis that the product sums in equal
    blocks only. Returns whether it changed anything.
    """
    changed = False
    for node in model.get_ordered_ops():
        if type(node) is not ops.MatMul or isinstance(node.input_value(1).node, Constant):
            continue
        value = node.input_value(1)
        blocks = _scaled_blocks(value, 1 if node.transpose_b else 0)
        if blocks is not None:
            folded = Constant(blocks, name=value.node.friendly_name)
            copy_rt_info([value.node], folded)
            value.replace(folded.output(0))
            changed = True
    return changed


@keeps_values
def gather_compressed_rows(model: Model) -> bool:
    """Let Gathers take rows of integers with scales, instead of rows of the real numbers that they stand for.

    So a table of words is not dequantized in each inference. Rows of integers of 4 bits are taken as bytes, as devices
    have no such elements. Returns whether it changed anything.
    """
    changed = False
    for node in model.get_ordered_ops():
        if _is_gather(node) and stays_compressed(node.input_value(0).node) and _takes_rows(node):
            rows = _gathered(node.input_value(0), node)
            rows.node.friendly_name = node.friendly_name
            copy_rt_info([node], rows.node)
            node.output(0).replace(rows)
            changed = True
    return changed


def _takes_rows(gather: Any) -> bool:
    """Return whether a Gather takes rows of a table, and each of them depends on the same row of integers alone."""
    axis, node = constant_array(gather.input_value(2)), gather.input_value(0).node
    if axis is None or axis.item() != 0 or gather.batch_dims or not gather.input_value(1).partial_shape.has_rank:
        return False
    count = node.output(0).shape[0]
    while not isinstance(node, Constant):
        shape = node.output(0).shape
        joins = type(node) is ops.Reshape and len(shape) == 2 and node.input_value(0).shape[:1] == (count,)
        if shape[0] != count or not (joins or type(node) in _ROW_WISE):
            return False
        node = node.input_value(0).node
    row = math.prod(node.contents.shape[1:])
    return node.contents.shape[0] == count > 1 and (node.get_element_type().bitwidth == 8 or _is_in_bytes(node, row))


_ROW_WISE = (ops.Convert, ops.Subtract, ops.Multiply)


def _is_in_bytes(codes: Constant, row: int) -> bool:
    return codes.get_element_type().bitwidth == 4 and not row % 2


def _gathered(value: Output, gather: Node) -> Output:
    """Return rows of a value."""
    node, indices, axis = value.node, gather.input_value(1), gather.input_value(2)
    if type(node) in _ROW_WISE:
        # What is broadcast along the rows is the same for all.
        inputs = [
            source if len(source.shape) < len(value.shape) or source.shape[0] == 1 else _gathered(source, gather)
            for source in node.input_values()
        ]
        return node.clone_with_new_inputs(inputs).output(0)
    if type(node) is ops.Reshape:
        rows = _gathered(node.input_value(0), gather)
        return ops.Reshape(rows, np.array([0] * len(indices.partial_shape) + [-1]), True).output(0)
    if isinstance(node, Constant) and is_packed(value.element_type):
        return _gathered_codes(node, indices, axis)
    return ops.Gather(value, indices, axis).output(0)


def _gathered_codes(codes: Constant, indices: Output, axis: Output) -> Output:
    """Return rows of integers of 4 bits in integers of 8 bits. Each byte has two, the first one in its lower half."""
    count, *lengths = codes.contents.shape
    row, kind = math.prod(lengths), codes.get_element_type()
    if not _is_in_bytes(codes, row):
        wide = codes.data.astype(np.int8 if kind.is_signed() else np.uint8)
        return ops.Gather(Constant(wide), indices, axis).output(0)
    content = Constant(_packed(codes).reshape(count, row // 2))
    rows = ops.Unsqueeze(ops.Gather(content, indices, axis), np.array([-1]))
    halves = ops.Concat([ops.BitwiseAnd(rows, np.uint8(15)), ops.BitwiseRightShift(rows, np.uint8(4))], -1)
    numbers: Node = ops.Reshape(halves, np.array([0] * len(indices.partial_shape) + lengths), True)
    if kind.is_signed():
        numbers = ops.Subtract(ops.Convert(ops.BitwiseXor(numbers, np.uint8(8)), Type.i8), np.int8(8))
    return numbers.output(0)


def stays_compressed(node: Node) -> bool:
    """Return whether a node dequantizes a Constant of integers for a product or a Gather."""
    if type(node) not in _DEQUANTIZING or not node.output(0).partial_shape.is_static:
        return False
    source = node
    for _ in range(_LONGEST):
        source = source.input_value(0).node
        if type(source) not in _DEQUANTIZING:
            break
    if not isinstance(source, Constant) or not _are_codes(source) or source.contents.size <= _SMALL:
        return False
    readers = node.output(0).get_target_inputs()
    for _ in range(_LONGEST):
        if len(readers) != 1 or type((reader := next(iter(readers))).node) not in _DEQUANTIZING:
            break
        readers = reader.node.output(0).get_target_inputs()
    return any((type(r.node) is ops.MatMul and r.index == 1) or (_is_gather(r.node) and r.index == 0) for r in readers)


# The most operations that dequantize, one after another.
_LONGEST = 8
# Weights of so few elements may take the memory of real numbers.
_SMALL = 1 << 9


def _is_gather(node: Node) -> bool:
    return isinstance(node, (ops.Gather, ops.GatherV1, ops.GatherV7))


def _are_codes(constant: Constant) -> bool:
    kind = constant.get_element_type()
    return kind.is_integer() and kind.bitwidth <= 8


def _scaled_blocks(value: Output, summed: int) -> ScaledBlocks | None:
    """Return a value as ScaledBlocks whose rows are along the axis that is summed, None if it is not of that form."""
    kind, joined, is_transposed = value.element_type, None, summed == 0
    node = value.node
    while type(node) is not ops.Multiply:
        source = node.input_value(0) if node.get_input_size() else None
        if source is None or not source.partial_shape.is_static:
            return None
        if type(node) is ops.Transpose and len(source.shape) == 2:
            order = constant_array(node.input_value(1))
            if order is None or order.reshape(-1).tolist() not in ([], [1, 0]):
                return None
            summed = 1 - summed
        elif type(node) is ops.Reshape and len(source.shape) == 3 and joined is None:
            joined = _joined_axis(source.shape, node.output(0).shape)
            if joined is None:
                return None
        elif type(node) is not ops.Convert or not source.element_type.is_real():
            return None
        node = source.node
    found, axis = _dequantization(node), summed
    shape = found.codes.contents.shape if found else ()
    if found is None or 0 in shape or len(shape) != (2 if joined is None else 3) or joined not in (None, summed):
        return None
    blocks = 1 if joined is None else shape[axis]
    scale, zero_point = (_by_block(array, axis, len(shape), blocks) for array in (found.scale, found.zero_point))
    if scale is None or (zero_point is None) != (found.zero_point is None):
        return None
    return ScaledBlocks(_rows(found.codes, axis), _narrowed(scale), zero_point, kind, is_transposed)


def _narrowed(scale: np.ndarray) -> np.ndarray:
    """Return scales in f16 if that is exact: files often have them so."""
    with np.errstate(over="ignore"):
        narrow = scale.astype(np.float16)
    return narrow if (narrow == scale).all() else scale.astype(np.float32)


def _joined_axis(shape: Sequence[int], target: Sequence[int]) -> int | None:
    """Return the axis of two that a Reshape makes of two neighboring axes of three, None if it does anything else."""
    first, second, third = shape
    if tuple(target) == (first, second * third):
        return 1
    return 0 if tuple(target) == (first * second, third) else None


def _dequantization(multiply: Node) -> _Dequantization | None:
    for data, factor in (multiply.input_values(), multiply.input_values()[::-1]):
        subtract = data.node if type(data.node) is ops.Subtract else None
        convert = subtract.input_value(0).node if subtract else data.node
        codes = convert.input_value(0).node if type(convert) is ops.Convert else None
        if not isinstance(codes, Constant) or not _are_codes(codes):
            continue
        scale, zero_point = computed_constant(factor), computed_constant(subtract.input_value(1)) if subtract else None
        if scale is not None and (subtract is None or zero_point is not None):
            return _Dequantization(codes, scale, zero_point)
    return None


def _by_block(array: np.ndarray | None, axis: int, rank: int, blocks: int) -> np.ndarray | None:
    """Return scales or zero points as ``[rows or 1, blocks]``, None if they change inside of blocks.

    ``axis`` is the one that products sum, of the matrix that the array broadcasts to or that its blocks are joined to.
    """
    if array is None or array.ndim > rank:
        return None
    array = array.reshape((1,) * (rank - array.ndim) + array.shape)
    if rank == 2:
        array = np.expand_dims(array, axis)
    inside = 1 + axis
    if array.shape[inside] != 1:
        return None
    array = array.squeeze(inside)
    rows = array if axis == 1 else array.T
    return np.ascontiguousarray(np.broadcast_to(rows, (rows.shape[0], blocks)))


def _rows(codes: Constant, axis: int) -> np.ndarray | PackedArray:
    """Return the codes as a matrix whose rows are along the axis that products sum."""
    contents, kind = codes.contents, codes.get_element_type()
    if axis == 1:
        shape = contents.shape[0], math.prod(contents.shape[1:])
        return PackedArray(_packed(codes), kind, shape) if is_packed(kind) else codes.data.reshape(shape)
    rows = codes.data.reshape(-1, contents.shape[-1]).T
    return PackedArray(pack(rows, kind), kind, rows.shape) if is_packed(kind) else np.ascontiguousarray(rows)


def _packed(codes: Constant) -> np.ndarray:
    contents = codes.contents
    return contents.content if isinstance(contents, PackedArray) else pack(codes.data, codes.get_element_type())
