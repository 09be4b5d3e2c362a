"""Compressed weights of products of matrices, in the forms that OpenVINO decompresses right.

Right are scales and zero points that do not change along the common axis of the product, and blocks along it with an
axis of their own: ``[N, K / block, block] · [N, K / block, 1]`` and a Reshape. With others OpenVINO reads wrong scales,
or ends the process. What cannot be divided into blocks is decompressed when the model is compiled.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
import openvino

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Node, Output
from hetero.passes import computed_constant
from hetero.reference import evaluate
from hetero_openvino.memory import constant
from hetero_openvino.translation.corrections import make

_EIGHT_BITS = (Type.u8, Type.i8)
# Smaller blocks take as much memory as decompressed weights.
_LEAST_BLOCK = 8
# The numbers of outputs for which OpenVINO reads wrong zero points of blocks of less than 8 bits.
_WRONG_ZERO_POINTS = (8, 16)


class _Weights(NamedTuple):
    """(elements - zero point) · scale, where both are broadcast; ``common``: the axis that the product sums."""

    elements: Constant
    convert: ops.Convert
    zero_point: np.ndarray | None
    scale: np.ndarray
    common: int


def decompressed(node: Node) -> openvino.Output | None:
    """Return the weights that a Multiply computes of compressed ones; None if OpenVINO computes them right."""
    axes = _common_axes(node.output(0)) if isinstance(node, ops.Multiply) else ()
    found = [weights for axis in axes if (weights := _weights_of(node, axis))]
    if all(map(_are_right, found)):
        return None
    kind = node.get_output_element_type(0)
    return (len(found) == 1 and _in_blocks(found[0], kind)) or _as_constant(found[0], kind)


def _weights_of(node: Node, common: int) -> _Weights | None:
    for data, factor in (node.input_values(), node.input_values()[::-1]):
        subtract = data.node if isinstance(data.node, ops.Subtract) else None
        convert = subtract.input_value(0).node if subtract else data.node
        elements = convert.input_value(0).node if isinstance(convert, ops.Convert) else None
        if not isinstance(convert, ops.Convert) or not isinstance(elements, Constant):
            continue
        if elements.get_element_type().bitwidth > 8 or len(elements.contents.shape) not in (2, 3):
            continue
        scale, zero_point = computed_constant(factor), computed_constant(subtract.input_value(1)) if subtract else None
        if scale is not None and (zero_point is not None or subtract is None):
            return _Weights(elements, convert, zero_point, scale, common)
    return None


def _common_axes(value: Output, axis_is_last: bool = True) -> set[int]:
    """Return which axes of weights of two dimensions products sum, 0 or 1."""
    axes = set()
    for target in value.get_target_inputs():
        reader = target.node
        if isinstance(reader, ops.MatMul):
            is_last = reader.transpose_b if target.index == 1 else not reader.transpose_a
            axes.add(int(is_last == axis_is_last))
        elif isinstance(reader, (ops.Convert, ops.Reshape, ops.Transpose)):
            axes |= _common_axes(reader.output(0), axis_is_last != isinstance(reader, ops.Transpose))
    return axes


def _are_right(weights: _Weights) -> bool:
    shape, common = weights.elements.contents.shape, weights.common
    if len(shape) == 3:
        return _reads_zero_points(weights, shape[-1 if common == 0 else 0])
    changes = [np.broadcast_to(a, shape) for a in (weights.scale, weights.zero_point) if a is not None and a.size > 1]
    along = [array.strides[common] != 0 and shape[common] > 1 for array in changes]
    if weights.elements.get_element_type() in _EIGHT_BITS and weights.scale.shape == shape:
        return True
    return not any(along)


def _reads_zero_points(weights: _Weights, outputs: int) -> bool:
    """Return whether OpenVINO reads the right zero points of weights in blocks."""
    is_wide = weights.elements.get_element_type() in _EIGHT_BITS
    return weights.zero_point is None or weights.zero_point.size == 1 or is_wide or outputs not in _WRONG_ZERO_POINTS


def _in_blocks(weights: _Weights, kind: Type) -> openvino.Output | None:
    """Return the weights in blocks, None if scales do not come in blocks."""
    elements, shape, common = weights.elements, weights.elements.contents.shape, weights.common
    if len(shape) != 2:
        return None
    scale = np.broadcast_to(weights.scale, shape)
    zero_point = None if weights.zero_point is None else np.broadcast_to(weights.zero_point, shape)
    block = math.gcd(*(_block_of(array, common) for array in (scale, zero_point) if array is not None))
    if block < _LEAST_BLOCK or not _reads_zero_points(weights, shape[1 - common]):
        return None
    blocks = [(length // block, block) if axis == common else (length,) for axis, length in enumerate(shape)]
    first = tuple(slice(None, None, block) if axis == common else slice(None) for axis in (0, 1))
    scales = [(length // block, 1) if axis == common else (length,) for axis, length in enumerate(shape)]

    def of_blocks(array: np.ndarray, element_type: Type) -> openvino.Output:
        of_type = np.ascontiguousarray(array[first]).reshape(list(itertools.chain(*scales)))
        return constant(of_type.astype(element_type.to_dtype()), element_type).output(0)

    low = elements.get_element_type()
    result = _converted(constant(elements.data.reshape(list(itertools.chain(*blocks))), low).output(0), kind)
    if zero_point is not None:
        same = bool((zero_point == zero_point.flat[0]).all())
        point = zero_point.flat[:1].reshape(()) if same else None
        low_point = (
            constant(point.astype(low.to_dtype()), low).output(0) if point is not None else of_blocks(zero_point, low)
        )
        result = make("Subtract", result, _converted(low_point, kind))
    result = make("Multiply", result, of_blocks(scale, kind))
    return make("Reshape", result, constant(np.array(shape), Type.i64).output(0), special_zero=False)


def _block_of(array: np.ndarray, axis: int) -> int:
    """Return the length of the blocks along an axis in which elements are equal."""
    rows = np.moveaxis(array, axis, 0)
    changes = [i + 1 for i in range(len(rows) - 1) if not np.array_equal(rows[i], rows[i + 1])]
    return math.gcd(len(rows), *changes)


def _converted(value: openvino.Output, kind: Type) -> openvino.Output:
    return make("Convert", value, destination_type=kind.to_string())


def _as_constant(weights: _Weights, kind: Type) -> openvino.Output:
    data = np.array(evaluate(weights.convert, [weights.elements.data])[0], np.float32)
    if weights.zero_point is not None:
        data -= weights.zero_point.astype(np.float32)
    data *= weights.scale.astype(np.float32)
    return constant(data.astype(kind.to_dtype()), kind).output(0)
