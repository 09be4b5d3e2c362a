"""Denormal weights, which trained networks have where training has let a weight decay, are set to zero.

A multiplication of a denormal number takes an x86 processor some 150 cycles: a text detector with 256,000 of them ran
four times as long. What they add to a sum of products is less than 2^-126 times the input, for f32.
"""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Model
from hetero.graph.rt_info import copy_rt_info
from hetero.passes.manager import changes_numerics, keeps_values

_PRODUCTS = (
    ops.Convolution, ops.GroupConvolution, ops.ConvolutionBackpropData, ops.GroupConvolutionBackpropData, ops.MatMul,
)  # fmt: skip
# Elements that are looked at together: temporary arrays stay in the cache.
_CHUNK = 1 << 18


@changes_numerics
@keeps_values
def flush_denormal_weights(model: Model) -> bool:
    """Replace f32 constants with denormal numbers that are weights of convolutions and matrix products."""
    changed = False
    for node in model.get_ordered_ops():
        if not isinstance(node, Constant) or node.get_element_type() is not Type.f32:
            continue
        readers = [target for target in node.output(0).get_target_inputs() if isinstance(target.node, _PRODUCTS)]
        if readers and _has_denormals(node.data):
            tiny = np.finfo(np.float32).tiny
            flushed = Constant(np.where(np.abs(node.data) < tiny, np.float32(0), node.data))
            copy_rt_info([node], flushed)
            node.output(0).hand_over(flushed.output(0))
            for reader in readers:
                reader.replace_source_output(flushed.output(0))
            changed = True
    return changed


def _has_denormals(array: np.ndarray) -> bool:
    bits = np.ravel(array, order="K").view(np.uint32)
    return any(_chunk_has_denormals(bits[start : start + _CHUNK]) for start in range(0, bits.size, _CHUNK))


def _chunk_has_denormals(bits: np.ndarray) -> bool:
    # The exponent of zero and of denormal numbers is 0; most weights have neither.
    if (bits & 0x7F800000).min():
        return False
    # Without the sign, the bits of denormal numbers are 1 to 2^23 - 1, here times two. Zero wraps around.
    return int(((bits << 1) - 2).min()) < 2**24 - 2
