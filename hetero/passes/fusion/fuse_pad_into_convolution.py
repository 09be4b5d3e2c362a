"""Fusion of a Pad of zeros into the padding of the convolution that reads it."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model
from hetero.passes.matching.rewriting import replace, rewrite_each

_CONVOLUTIONS = (ops.Convolution, ops.GroupConvolution)


def fuse_pad_into_convolution(model: Model) -> bool:
    """Let convolutions pad their data themselves if nothing else reads a Pad of zeros.

    Requires: constants are folded, operations are of their newest versions. Applies to a Pad of spatial axes only and
    by no negative amount, and to convolutions without automatic padding.
    """
    return rewrite_each(model, _CONVOLUTIONS, _fuse)


def _fuse(convolution: ops.Convolution | ops.GroupConvolution) -> bool:
    pad = convolution.input_value(0).node
    if type(pad) is not ops.Pad or pad.pad_mode != "constant" or convolution.auto_pad.startswith("same"):
        return False
    constants = [value.node.data for value in pad.input_values()[1:] if isinstance(value.node, Constant)]
    readers = pad.output(0).get_target_inputs()
    if any(type(one.node) not in _CONVOLUTIONS or one.index for one in readers):
        return False
    if len(constants) < pad.get_input_size() - 1:
        return False
    begin, end = constants[0].tolist(), constants[1].tolist()
    if any((*begin[:2], *end[:2])) or min((*begin, *end)) < 0 or np.any(constants[2:]):
        return False
    if convolution.auto_pad == "explicit":
        begin[2:] = np.add(begin[2:], convolution.pads_begin)
        end[2:] = np.add(end[2:], convolution.pads_end)
    attributes = convolution.attribute_values() | {
        "pads_begin": begin[2:], "pads_end": end[2:], "auto_pad": "explicit",
    }  # fmt: skip
    replace([pad, convolution], type(convolution).of([pad.input_value(0), convolution.input_value(1)], attributes))
    return True
