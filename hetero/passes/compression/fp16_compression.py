"""Compression of floating-point constants to f16, each followed by a Convert to its original type."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, is_constant
from hetero.graph.rt_info import RuntimeAttribute
from hetero.ops.checks import MAX_VALUE_SIZE
from hetero.passes.specialization import shape_deciding_nodes

# The rt_info key by which OpenVINO recognizes such a Convert, so that a device may keep the constant compressed.
DECOMPRESSION = "decompression_0"
# A constant is not compressed if at least this fraction of its elements would underflow to zero: OpenVINO's rule.
MAX_UNDERFLOW = 0.75

_LARGEST = float(np.finfo(np.float16).max)
_SMALLEST = float(np.finfo(np.float16).smallest_subnormal)
# Elements checked at a time, because numpy's temporaries are as large as the array that is checked.
_CHUNK = 2**20


def compress_to_f16(model: Model) -> Model:
    """Return a copy of the model with its f32 and f64 constants stored as f16, including those in bodies.

    Three kinds of constants stay as they are: those with an element too large for f16, those of which three quarters
    would become zero, and short ones that determine shapes, because rounding could change a shape. As in OpenVINO, a
    quantized model keeps all of them: its few floating-point constants, such as scales, decide about its integers.
    """
    compressed = model.clone()
    compress_model(compressed)
    return compressed


def compress_model(model: Model) -> None:
    """Compress the constants of a model in place, see ``compress_to_f16``."""
    shape_nodes = shape_deciding_nodes(model)
    is_quantized = any(map(_quantizes, model.get_ordered_ops()))
    for node in model.get_ordered_ops():
        for body in node.bodies:
            if body is not None:
                compress_model(body)
        if is_quantized or not isinstance(node, Constant) or node.get_element_type() not in (Type.f32, Type.f64):
            continue
        if (node in shape_nodes and node.contents.size <= MAX_VALUE_SIZE) or not _fits(node.data):
            continue
        half = Constant(node.data.astype(np.float16), name=f"{node.friendly_name}_compressed")
        decompressed = ops.Convert(half, node.get_element_type(), name=node.friendly_name)
        decompressed.rt_info.update({**node.rt_info, DECOMPRESSION: RuntimeAttribute()})
        node.output(0).replace(decompressed.output(0))


def _quantizes(node: Node) -> bool:
    """Return whether a node is a FakeQuantize, or multiplies stored integers, less their zero points, by scales."""
    if not isinstance(node, ops.Multiply) or not is_constant(node.input_value(1)):
        return isinstance(node, ops.FakeQuantize)
    converted = node.input_value(0).node
    if isinstance(converted, ops.Subtract):
        converted = converted.input_value(0).node
    if not isinstance(converted, ops.Convert) or not is_constant(converted.input_value(0)):
        return False
    stored = converted.get_input_element_type(0)
    return stored is not Type.boolean and stored.bitwidth <= 8


def _fits(array: np.ndarray) -> bool:
    """Return whether f16 represents the elements well enough. False for an empty array: nothing to compress."""
    flat = array.reshape(-1)
    underflows = 0
    for begin in range(0, flat.size, _CHUNK):
        magnitudes = np.abs(flat[begin : begin + _CHUNK])
        if ((magnitudes > _LARGEST) & np.isfinite(magnitudes)).any():
            return False
        underflows += int(np.count_nonzero((magnitudes < _SMALLEST) & (magnitudes != 0)))
    return underflows < MAX_UNDERFLOW * flat.size
