"""FakeQuantize as 8-bit integers, which products read, or as element-wise operations on real numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Model, Node, constant_array, is_constant
from hetero.passes import changes_numerics, keeps_values
from hetero.passes.matching.rewriting import replace, rewrite_each
from hetero_onednn.library.api import multiplies_int8_exactly
from hetero_onednn.quantization import dequantize

#: Entry of a model's rt_info: FakeQuantize became integers, which have no NaN.
QUANTIZES = "onednn_quantizes"
# How far the level of 0, which follows from limits in f32, may be from an integer.
_TOLERANCE = 1e-3


@changes_numerics
@keeps_values
def split_fake_quantize(model: Model) -> bool:
    """Replace each FakeQuantize of f32 with constant limits.

    It becomes 8-bit integers and their conversion to ``(integers - zero_point) · scale`` if it has up to 256 levels,
    limits of one element each, and 0 is a level of its output. The model then gets the entry QUANTIZES, as NaN becomes
    a level. Any other becomes operations on real numbers. Halves are rounded to even, as by FakeQuantize; a number that
    is within an error of rounding of a half may get the other level.
    """
    return rewrite_each(model, (ops.FakeQuantize,), lambda node: _split(node, model))


def _split(node: ops.FakeQuantize, model: Model) -> bool:
    limits = [array for value in node.input_values()[1:] if (array := constant_array(value)) is not None]
    if node.get_element_type() is not Type.f32 or len(limits) < 4:
        return False
    data = node.input_value(0)
    is_scalar = all(array.size == 1 for array in limits) and node.output(0).partial_shape == data.partial_shape
    if is_scalar:
        limits = [array.reshape(()) for array in limits]
    low, high, output_low, output_high = (np.asarray(array, np.float64) for array in limits)
    steps, spread = node.levels - 1, high - low
    if not np.isfinite(spread).all() or not (spread > 0).all():
        return False
    levels: Any = ops.Multiply(data, np.float32(steps / spread))
    if low.any():
        levels = ops.Add(levels, np.float32(-low * steps / spread))
    levels, scale = ops.Round(levels, "half_to_even"), (output_high - output_low) / steps
    result = _from_integers(levels, steps, float(scale), float(output_low)) if is_scalar else None
    if result is not None and not is_constant(data):
        model.set_rt_info(True, QUANTIZES)
    if result is None:
        levels = ops.Multiply(ops.Clamp(levels, 0, steps), np.float32(scale))
        result = ops.Add(levels, np.float32(output_low)) if output_low.any() else levels
    replace([node], result)
    return True


def _from_integers(levels: Node, steps: int, scale: float, lowest: float) -> Node | None:
    """Return ``min(max(levels, 0), steps) · scale + lowest``, computed from 8-bit integers, None if none give it."""
    if steps > 255 or not multiplies_int8_exactly() or not 0 < scale < math.inf:
        return None
    zero_point = round(-lowest / scale)
    if abs(zero_point + lowest / scale) > _TOLERANCE or abs(zero_point) > 255:
        return None
    kind = Type.i8 if zero_point <= 128 and steps - zero_point <= 127 else Type.u8
    first = -zero_point if kind is Type.i8 else 0
    if first:
        levels = ops.Add(levels, np.float32(first))
    integers = ops.Convert(ops.Clamp(levels, first, first + steps), kind)
    return dequantize(integers.output(0), zero_point + first, scale)
