"""Storage of constants that are quantized by FakeQuantize in integers of 8 or 4 bits."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.type_conversion import converted
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Output

# The numbers of levels that are stored, and those that take 4 bits: OpenVINO's rules.
_LEVELS, _LEVELS_OF_4_BITS = range(3, 257), range(3, 17)


def compress_quantized_weights(model: Model) -> None:
    """Replace each FakeQuantize of a constant by ``(convert(integers) - zero_point) * scale``, in bodies too.

    One whose output is a single value other than 0 stays, as no scale gives it, and so does one with 2 levels or more
    than 256.
    """
    for node in model.get_ordered_ops():
        for body in node.bodies:
            if body is not None:
                compress_quantized_weights(body)
        if isinstance(node, ops.FakeQuantize) and node.levels in _LEVELS:
            _compress(node)


def _compress(node: ops.FakeQuantize) -> None:
    arrays = [_constant_of(value) for value in node.input_values()]
    if any(array is None for array in arrays):
        return
    x, input_low, input_high, output_low, output_high = (np.asarray(array, np.float64) for array in arrays)
    steps, lowest = node.levels - 1, -(node.levels // 2)
    scale = (output_high - output_low) / steps
    if ((scale == 0) & (output_low != 0)).any():
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        position = np.rint((x - input_low) / (input_high - input_low) * steps)
    position = np.where(x > np.maximum(input_low, input_high), steps, position)
    position = np.where(x <= np.minimum(input_low, input_high), 0, position)
    zero_point = lowest - np.divide(output_low, scale, out=np.full(scale.shape, float(lowest)), where=scale != 0)
    element_type = node.get_element_type()
    stored = converted(position + lowest, Type.i4 if node.levels in _LEVELS_OF_4_BITS else Type.i8)
    value: Node = ops.Convert(Constant(stored), element_type)
    # Rounding makes a zero point of 0 some 1e-6.
    if not np.allclose(zero_point, 0, atol=1e-4):
        value = ops.Subtract(value, Constant(converted(zero_point, element_type)))
    value = ops.Multiply(value, Constant(converted(scale, element_type)), name=node.friendly_name)
    value.rt_info.update(node.rt_info)
    node.output(0).replace(value.output(0))


def _constant_of(value: Output) -> np.ndarray | None:
    """Return the numbers of a constant, or of one that is converted, as f16 weights are; None for anything else."""
    node = value.node.input_value(0).node if isinstance(value.node, ops.Convert) else value.node
    return converted(node.data, Type.f32) if isinstance(node, Constant) else None
