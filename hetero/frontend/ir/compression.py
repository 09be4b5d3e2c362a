"""Constants as f16, with a conversion behind them to what they were."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.ir.runtime_info import RuntimeAttribute
from hetero.graph import Constant, Model
from hetero.ops.values import MAX_VALUE_SIZE
from hetero.passes.specialization import nodes_that_decide_shapes
from hetero.types import Type

# The note by which OpenVINO knows the conversion, so that a device may keep the constant as it is.
DECOMPRESSION = "decompression_0"
# A constant of which this part is lost, as too small for f16, stays as it is: OpenVINO's rule.
LOST_PART = 0.75

_LARGEST = float(np.finfo(np.float16).max)
_SMALLEST = float(np.finfo(np.float16).smallest_subnormal)
# Constants are looked through in pieces, since what numpy makes on the way is as large as what it looks at.
_PIECE = 2**20


def compress_to_half(model: Model) -> Model:
    """A copy of the model whose constants of f32 and f64 are f16, those in bodies too.

    But for those with a number too large for f16, those of which three quarters would become zero, and short ones
    that decide shapes, which rounding would change.
    """
    compressed = model.clone()
    _compress(compressed)
    return compressed


def _compress(model: Model) -> None:
    deciding = nodes_that_decide_shapes(model)
    for node in model.get_ordered_ops():
        for body in node.bodies:
            if body is not None:
                _compress(body)
        if not isinstance(node, Constant) or node.get_element_type() not in (Type.f32, Type.f64):
            continue
        if (node in deciding and node.data.size <= MAX_VALUE_SIZE) or not _fits(node.data):
            continue
        half = Constant(node.data.astype(np.float16), name=f"{node.friendly_name}_compressed")
        restored = ops.Convert(half, node.get_element_type(), name=node.friendly_name)
        restored.rt_info.update({**node.rt_info, DECOMPRESSION: RuntimeAttribute()})
        node.output(0).replace(restored.output(0))


def _fits(array: np.ndarray) -> bool:
    """Whether f16 holds the numbers well enough; an empty array has none to compress."""
    flat = array.reshape(-1)
    lost = 0
    for begin in range(0, flat.size, _PIECE):
        sizes = np.abs(flat[begin : begin + _PIECE])
        if ((sizes > _LARGEST) & np.isfinite(sizes)).any():
            return False
        lost += np.count_nonzero((sizes < _SMALLEST) & (sizes != 0))
    return lost < LOST_PART * flat.size
