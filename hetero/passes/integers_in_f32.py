"""Products of small integers computed in f32, where that is exact.

f32 holds each integer up to 2^24, so a sum of products whose partial sums stay below is the same in f32, in any order.
The bound is that of what the products read, by its element type and zero point, and of the constant weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Output, Result, constant_array, copy_rt_info
from hetero.passes.bounds.intervals import I32, Interval, hull, interval_of_type
from hetero.passes.cleanup import eliminate_dead_code
from hetero.passes.manager import keeps_values
from hetero.reference import evaluate

#: f32 holds the integers from -LARGEST to LARGEST.
LARGEST = 2**24
_SMALL_TYPES = (Type.i8, Type.u8, Type.i16, Type.u16)
_PRODUCTS = (ops.Convolution, ops.GroupConvolution, ops.MatMul)
_SUMS = (ops.Add, ops.Subtract)
# Operations whose results are elements of their first input, or of all.
_MOVEMENTS = (
    ops.MaxPool, ops.Concat, ops.Reshape, ops.Squeeze, ops.Unsqueeze, ops.Transpose, ops.Gather, ops.Slice, ops.Split,
    ops.VariadicSplit,
)  # fmt: skip
_FOLLOWED = (ops.Convert, *_PRODUCTS, *_SUMS, *_MOVEMENTS)


class _Floats(NamedTuple):
    """A value of f32 with the same numbers as one of integers, and bounds of these.

    ``shifted``: the two intervals between which that of the numbers lies if one number, which is not constant, was
    subtracted from all. Bounds of sums of products are linear in that number, so those of the two hold.
    """

    value: Output
    interval: Interval
    shifted: tuple[Interval, ...] = ()


@keeps_values
def compute_integers_in_f32(model: Model) -> bool:
    """Compute products of integers that are converted to f32 in f32, if all their sums are exact.

    Requires: constants are folded. Results are equal to those of integers. What is computed between products is f32 as
    well, as sums with zero points and biases; small integers that something else reads stay as they are.
    """
    order = model.get_ordered_ops()
    if not any(type(node) in _PRODUCTS and node.get_element_type() is Type.i32 for node in order):
        return False
    found: dict[Output, _Floats] = {}
    changed = False
    for node in order:
        if type(node) is ops.Convert and node.get_element_type() is Type.f32:
            changed |= _replace_convert(node, found)
        elif type(node) in _FOLLOWED:
            for value, floats in _followed(node, found):
                found[value] = floats
    eliminate_dead_code(model)
    return changed


def _replace_convert(convert: Node, found: dict[Output, _Floats]) -> bool:
    """Replace a Convert of integers to f32 by the f32 numbers they are computed as, if they are."""
    source = convert.input_value(0)
    value = found[source].value if source in found else _rounded_sum(source.node, found)
    if value is None or value.node is convert:
        return False
    copy_rt_info([value.node, convert], value.node)
    if any(isinstance(target.node, Result) for target in convert.output(0).get_target_inputs()):
        value.node.friendly_name = convert.friendly_name
    convert.output(0).replace(value)
    convert.disconnect()
    return True


def _rounded_sum(node: Node, found: dict[Output, _Floats]) -> Output | None:
    """Return a sum of i32 that may be larger in f32: it is rounded once, as its conversion is."""
    if type(node) not in _SUMS or node.get_element_type() is not Type.i32:
        return None
    operands = _operands(node, found)
    if not operands or not I32.contains(_sum_interval(node, operands)):
        return None
    return _like(node.clone_with_new_inputs([operand.value for operand in operands]), node)


def _followed(node: Node, found: dict[Output, _Floats]) -> list[tuple[Output, _Floats]]:
    """Return the outputs of a node that f32 holds exactly, if it is computed from such values."""
    kind = node.output(0).element_type
    if not isinstance(kind, Type) or kind not in (*_SMALL_TYPES, Type.i32):
        return []
    if type(node) is ops.Convert:
        return _converted(node, found)
    if not all(type(target.node) in _FOLLOWED for value in node.outputs() for target in value.get_target_inputs()):
        return []
    if type(node) in _MOVEMENTS:
        return _moved(node, found)
    operands = _operands(node, found)
    if not operands:
        return []
    interval = _sum_interval(node, operands) if type(node) in _SUMS else _product_interval(node, operands)
    if interval.magnitude() > LARGEST or not interval_of_type(kind).contains(interval):
        return []
    made = node.clone_with_new_inputs([operand.value for operand in operands])
    arrays = [array for operand in operands if (array := constant_array(operand.value)) is not None]
    if type(node) in _SUMS and len(arrays) == 2 and arrays[0].shape == tuple(made.output(0).shape):
        made = Constant(evaluate(made, arrays)[0])
    return [(node.output(0), _Floats(_like(made, node), interval, _shifted(node, operands)))]


def _converted(convert: Node, found: dict[Output, _Floats]) -> list[tuple[Output, _Floats]]:
    value, kind = convert.output(0), convert.get_element_type()
    source = _operand(convert.input_value(0), found)
    if source is not None:
        return [(value, source)] if interval_of_type(kind).contains(source.interval) else []
    if kind not in _SMALL_TYPES or not convert.get_input_element_type(0).is_real():
        return []
    return [(value, _of_small_integers(value))]


def _of_small_integers(value: Output) -> _Floats:
    """Return small integers converted to f32, by the Convert that they may have already."""
    readers = (target.node for target in value.get_target_inputs())
    convert = next(
        (node for node in readers if type(node) is ops.Convert and node.get_element_type() is Type.f32), None
    )
    number = convert.output(0) if convert is not None else _like(ops.Convert(value, Type.f32), value.node)
    return _Floats(number, interval_of_type(value.element_type))


def _moved(node: Node, found: dict[Output, _Floats]) -> list[tuple[Output, _Floats]]:
    """Return what a movement of f32 makes of small integers, unless something reads another output."""
    data = node.input_values() if type(node) is ops.Concat else node.input_values()[:1]
    moved = [value for value in node.outputs() if value.element_type is data[0].element_type]
    if not all(value in found for value in data):
        return []
    if any(value.get_target_inputs() for value in node.outputs() if value not in moved):
        return []
    floats = [found[value] for value in data]
    made = node.clone_with_new_inputs([*(each.value for each in floats), *node.input_values()[len(data) :]])
    interval = Interval(min(each.interval.low for each in floats), max(each.interval.high for each in floats))
    _like(made, node)
    return [(value, _Floats(made.output(value.index), interval)) for value in moved]


def _operands(node: Node, found: dict[Output, _Floats]) -> list[_Floats]:
    """Return all operands of a node as f32; none if one of them is not."""
    operands = [_operand(value, found) for value in node.input_values()]
    known = [operand for operand in operands if operand is not None]
    return known if len(known) == len(operands) else []


def _operand(value: Output, found: dict[Output, _Floats]) -> _Floats | None:
    """Return an operand as f32: one that was followed, a constant, or an input of 8 or 16 bits."""
    if value in found:
        return found[value]
    array = constant_array(value)
    if array is not None:
        return _constant(array, value, found)
    if value.element_type not in _SMALL_TYPES:
        return None
    return found.setdefault(value, _of_small_integers(value))


def _constant(array: np.ndarray, value: Output, found: dict[Output, _Floats]) -> _Floats | None:
    if value.element_type not in (*_SMALL_TYPES, Type.i32) or not array.size:
        return None
    numbers, interval = array.astype(np.float32), Interval(int(array.min()), int(array.max()))
    if not np.array_equal(numbers.astype(np.float64), array):
        return None
    return found.setdefault(value, _Floats(Constant(numbers).output(0), interval))


def _sum_interval(node: Node, operands: Sequence[_Floats]) -> Interval:
    (low, high), (other_low, other_high) = (operand.interval for operand in operands)
    if type(node) is ops.Subtract:
        return Interval(low - other_high, high - other_low)
    return Interval(low + other_low, high + other_high)


def _shifted(node: Node, operands: Sequence[_Floats]) -> tuple[Interval, ...]:
    """Return the intervals of a difference for the least and the largest number that is subtracted from all."""
    shape = node.get_input_partial_shape(1)
    if type(node) is not ops.Subtract or not shape.is_static or math.prod(node.get_input_shape(1)) != 1:
        return ()
    low, high = operands[0].interval
    return tuple(Interval(low - number, high - number) for number in operands[1].interval)


def _product_interval(node: Node, operands: Sequence[_Floats]) -> Interval:
    """Return bounds of all partial sums of a product, with padding."""
    intervals = operands[0].shifted or (operands[0].interval,)
    return hull(_bounds(node, operands, interval.union(Interval(0, 0))) for interval in intervals)


def _bounds(node: Node, operands: Sequence[_Floats], data: Interval) -> Interval:
    low, high = data
    weights = constant_array(operands[1].value)
    if weights is None:
        depth = _depth(node)
        largest = data.magnitude() * operands[1].interval.magnitude() * depth
        return Interval(-largest, largest)
    axes: tuple[int, ...] | int = tuple(range(getattr(node, "filter_axes", 0) - 1, weights.ndim))
    if isinstance(node, ops.MatMul):
        axes = -1 if weights.ndim == 1 or node.transpose_b else -2
    positive, negative = (np.clip(weights, *limits).sum(axes, np.float64) for limits in ((0, None), (None, 0)))
    return Interval((positive * low + negative * high).min(), (positive * high + negative * low).max())


def _depth(node: Node) -> float:
    """Return the number of products that a product of two values adds up, infinity if it is not known."""
    shape = node.get_input_partial_shape(0)
    if not isinstance(node, ops.MatMul) or not shape.has_rank or not len(shape):
        return math.inf
    length = shape[-2 if node.transpose_a and len(shape) > 1 else -1]
    return length.get_length() if length.is_static else math.inf


def _like(made: Node, origin: Node) -> Output:
    """Return the output of a node that takes the place of another one, or of its conversion to f32."""
    copy_rt_info([origin], made)
    made.friendly_name = f"{origin.friendly_name}/f32"
    return made.output(0)
