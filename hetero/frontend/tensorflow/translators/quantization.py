"""Fake quantization, quantization and dequantization by the range of real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, rows, translator
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import convert_to, int64, rank_of, reshape, scalar_like
from hetero.graph import Constant, Node, Op, Output
from hetero.system.errors import FrontendError


def _fake_quantize(value: Output, low: Output, high: Output, bits: int, is_narrow: bool) -> Op:
    """Round to levels in a range that is shifted so that 0 is one of them.

    ``low``, ``high``: the ends of the range, a number or one per channel for the last axis of the data. Ties are
    rounded up. An empty range gives zeros.
    """
    least, most = int(is_narrow), (1 << bits) - 1
    zero, least_level, most_level = (scalar_like(value, number) for number in (0, least, most))
    extent = ops.Subtract(high, low)
    is_empty = ops.Equal(extent, zero)
    step = ops.Divide(ops.Select(is_empty, scalar_like(value, 1), extent), scalar_like(value, most - least))
    rounded_offset = ops.Round(ops.Subtract(least_level, ops.Divide(low, step)), "half_away_from_zero")
    offset = ops.Maximum(ops.Minimum(rounded_offset, most_level), least_level)
    nudged_low = ops.Multiply(ops.Subtract(least_level, offset), step)
    nudged_high = ops.Multiply(ops.Subtract(most_level, offset), step)
    clamped = ops.Minimum(ops.Maximum(value, nudged_low), nudged_high)
    steps = ops.Divide(ops.Subtract(clamped, nudged_low), step)
    level = ops.Floor(ops.Add(steps, scalar_like(value, 0.5)))
    rounded = ops.Add(ops.Multiply(level, step), nudged_low)
    return ops.Select(is_empty, zero, rounded)


def _fake_quantize_by_numbers(value: Output, low: float, high: float, **levels: Any) -> Op:
    return _fake_quantize(value, scalar_like(value, low).output(0), scalar_like(value, high).output(0), **levels)


_LEVELS: dict[str, Any] = {"bits": Attr("num_bits", 8, int), "is_narrow": Attr("narrow_range", False, bool)}
rows(
    {
        "FakeQuantWithMinMaxArgs": Row(
            _fake_quantize_by_numbers, low=Attr("min", -6.0, float), high=Attr("max", 6.0, float), **_LEVELS
        ),
        "FakeQuantWithMinMaxVars": Row(_fake_quantize, **_LEVELS),
        "FakeQuantWithMinMaxVarsPerChannel": Row(_fake_quantize, **_LEVELS),
    }
)


_ROUNDING = {"HALF_TO_EVEN": "half_to_even", "HALF_AWAY_FROM_ZERO": "half_away_from_zero"}


@translator("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4")
def quantize_and_dequantize(node: TensorflowNodeContext) -> Translation:
    """Round to multiples of the step of a range, that of the data unless ``range_given`` is set.

    Only a given range limits the results.
    """
    value, axis = node.get_input(0), node.get_attribute("axis", -1, int)
    is_signed, is_narrow = (
        node.get_attribute("signed_input", True, bool),
        node.get_attribute("narrow_range", False, bool),
    )
    if node.get_op_type().endswith("V3"):
        bits = int(np.ravel(node.get_values_from_const_input(3))[0])
        rounding = "half_to_even"
    else:
        bits = node.get_attribute("num_bits", 8, int)
        mode = node.get_attribute("round_mode", "HALF_TO_EVEN")
        # TensorFlow's HALF_UP is floor(x + 0.5).
        rounding = "half_to_even" if mode == "HALF_TO_EVEN" else "half_up"
    is_given = node.get_attribute("range_given", node.get_op_type().endswith("V3"), bool)
    low, high = _range_of(node, axis) if is_given else _range_of_data(value, axis)
    most = (1 << (bits - is_signed)) - 1
    least = (-most if is_narrow else -most - 1) if is_signed else 0
    zero, least_level, most_level = (scalar_like(value, number) for number in (0, least, most))

    def levels_per_unit(level: Constant, limit: Output) -> Node:
        """Return the scale at which the limit is the level; the largest number if their signs differ."""
        fits = ops.Greater(ops.Multiply(level, limit), zero)
        safe = ops.Select(fits, limit, scalar_like(value, 1))
        return ops.Select(fits, ops.Divide(level, safe), scalar_like(value, np.finfo(np.float32).max))

    scale = ops.Minimum(levels_per_unit(least_level, low), levels_per_unit(most_level, high))
    if is_given:
        low, high = ops.Divide(least_level, scale).output(0), ops.Divide(most_level, scale).output(0)
        value = ops.Minimum(ops.Maximum(value, low), high).output(0)
    scaled = ops.Multiply(value, scale)
    if rounding == "half_up":
        rounded: Node = ops.Floor(ops.Add(scaled, scalar_like(value, 0.5)))
    else:
        rounded = ops.Round(scaled, rounding)
    return ops.Divide(rounded, scale)


def _range_of(node: TensorflowNodeContext, axis: int) -> tuple[Output, Output]:
    """Return the lowest and the highest number in inputs 1 and 2, per index of an axis unless it is -1."""
    shape = (-1, *[1] * (rank_of(node.get_input(0)) - axis - 1)) if axis >= 0 else ()
    return reshape(node.get_input(1), shape), reshape(node.get_input(2), shape)


def _range_of_data(value: Output, axis: int) -> tuple[Output, Output]:
    """Return the lowest and the highest number of a value, per index of an axis unless it is -1."""
    axes = int64([other for other in range(rank_of(value)) if other != axis])
    return ops.ReduceMin(value, axes, axis >= 0).output(0), ops.ReduceMax(value, axes, axis >= 0).output(0)


@translator("Dequantize")
def dequantize(node: TensorflowNodeContext) -> Translation:
    value, low, high = node.get_inputs()
    kind, axis = value.element_type, node.get_attribute("axis", -1, int)
    mode, is_narrow = node.get_attribute("mode", "MIN_COMBINED"), node.get_attribute("narrow_range", False, bool)
    limits = np.iinfo(kind.to_dtype())
    if axis >= 0:
        shape = (-1, *[1] * (rank_of(value) - axis - 1))
        low, high = reshape(low, shape), reshape(high, shape)
    number = ops.Convert(value, Type.f32)
    least, most = np.float32(limits.min), np.float32(limits.max)
    if mode == "SCALED":
        least = np.float32(limits.min + is_narrow)
        scale: Node = ops.Divide(high, most)
        if limits.min:
            scale = ops.Maximum(ops.Divide(low, least), scale)
        result: Node = ops.Multiply(number, scale)
    elif mode == "MIN_COMBINED":
        half = np.float32((limits.max - limits.min + 1) / 2 if limits.min else 0)
        scale = ops.Divide(ops.Subtract(high, low), np.float32(limits.max - limits.min))
        result = ops.Add(ops.Multiply(ops.Add(number, half), scale), low)
    else:
        # MIN_FIRST rounds the low end of the range to a multiple of the step.
        scale = ops.Divide(ops.Subtract(high, low), np.float32(limits.max - limits.min))
        start = ops.Multiply(ops.Round(ops.Divide(low, scale), "half_away_from_zero"), scale)
        result = ops.Add(ops.Multiply(ops.Subtract(number, least), scale), start)
    return convert_to(result.output(0), node.get_attribute("dtype", Type.f32))


@translator("QuantizeV2")
def quantize(node: TensorflowNodeContext) -> Translation:
    """Return the integers and the ends of the range that they represent."""
    value, low, high = node.get_inputs()
    if node.get_attribute("axis", -1, int) != -1:
        raise FrontendError("quantization along an axis is not supported")
    kind, mode = node.get_attribute("T"), node.get_attribute("mode", "MIN_COMBINED")
    low, high = _extended_range(node, reshape(low, ()), reshape(high, ()))
    if mode == "SCALED":
        levels, low, high = _scaled_levels(node, value, low, high)
    else:
        levels = _shifted_levels(value, low, high, kind, mode)
    limits = np.iinfo(kind.to_dtype())
    return [ops.Convert(ops.Clamp(levels, float(limits.min), float(limits.max)), kind), low, high]


def _extended_range(node: TensorflowNodeContext, low: Output, high: Output) -> tuple[Output, Output]:
    """Extend a range so that it contains 0 and is not empty."""
    zero, one = scalar_like(low, 0), scalar_like(low, 1)
    low = ops.Minimum(low, zero).output(0)
    largest = ops.Maximum(one, ops.Maximum(ops.Abs(low), ops.Abs(high)))
    gap = ops.Multiply(largest, np.float32(node.get_attribute("ensure_minimum_range", 0.01, float)))
    return low, ops.Maximum(ops.Maximum(high, zero), ops.Add(low, gap)).output(0)


def _scaled_levels(
    node: TensorflowNodeContext, value: Output, low: Output, high: Output
) -> tuple[Node, Output, Output]:
    """Return the products of the value and a scale that fits the range, rounded, and the ends of the new range."""
    limits, is_narrow = np.iinfo(node.get_attribute("T").to_dtype()), node.get_attribute("narrow_range", False, bool)
    least, most = np.float32(limits.min + is_narrow), np.float32(limits.max)
    scale: Node = ops.Divide(most, high)
    if limits.min:
        is_negative = ops.Less(low, scalar_like(low, 0))
        from_low = ops.Divide(least, ops.Select(is_negative, low, scalar_like(low, -1)))
        scale = ops.Select(is_negative, ops.Minimum(scale, from_low), scale)
    rounded = ops.Round(ops.Multiply(value, scale), _ROUNDING[node.get_attribute("round_mode", "HALF_AWAY_FROM_ZERO")])
    ends = [ops.Divide(end, scale).output(0) for end in (least, most)]
    return ops.Maximum(rounded, least), ends[0], ends[1]


def _shifted_levels(value: Output, low: Output, high: Output, kind: Type, mode: str) -> Node:
    """Return the levels of a value in a range whose low end is the least level."""
    limits = np.iinfo(kind.to_dtype())
    scale = ops.Divide(np.float32(limits.max - limits.min), ops.Subtract(high, low))
    if mode == "MIN_FIRST":
        first = ops.Round(ops.Multiply(low, scale), "half_away_from_zero")
        steps = ops.Subtract(ops.Round(ops.Multiply(value, scale), "half_away_from_zero"), first)
        return ops.Add(steps, np.float32(limits.min))
    clamped = ops.Minimum(ops.Maximum(value, low), high)
    half = np.float32((limits.max - limits.min + 1) / 2 if limits.min else 0)
    return ops.Round(ops.Subtract(ops.Multiply(ops.Subtract(clamped, low), scale), half), "half_away_from_zero")
