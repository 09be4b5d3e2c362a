"""Fusion of a Pad of zeros into the padding of the convolution that reads it."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Model, Node, is_constant
from hetero.passes.rewriting import replace, rewrite_each


def fuse_pad_into_convolution(model: Model) -> bool:
    """Let a convolution pad its data itself if it is the only reader of a Pad of zeros.

    Requires: constants are folded, operations are of their newest versions. Applies to a Pad of spatial axes only and
    by no negative amount, and to convolutions without automatic padding.
    """
    return rewrite_each(model, (ops.Convolution, ops.GroupConvolution), _fuse)


def _fuse(convolution: Node) -> bool:
    pad = convolution.input_value(0).node
    if type(pad) is not ops.Pad or convolution.auto_pad.startswith("same") or not _pads_zeros(pad):
        return False
    begin, end = (value.node.data.tolist() for value in pad.input_values()[1:3])
    if any((*begin[:2], *end[:2])) or min((*begin, *end)) < 0 or len(pad.output(0).get_target_inputs()) != 1:
        return False
    if convolution.auto_pad == "explicit":
        begin[2:] = np.add(begin[2:], convolution.pads_begin)
        end[2:] = np.add(end[2:], convolution.pads_end)
    attributes = convolution.get_attributes() | {
        "pads_begin": begin[2:], "pads_end": end[2:], "auto_pad": "explicit",
    }  # fmt: skip
    replace([pad, convolution], type(convolution).of([pad.input_value(0), convolution.input_value(1)], attributes))
    return True


def _pads_zeros(pad: Node) -> bool:
    """Return whether a Pad adds a constant number of zeros."""
    parameters = pad.input_values()[1:]
    if pad.pad_mode != "constant" or not all(map(is_constant, parameters)):
        return False
    return len(parameters) < 3 or not parameters[2].node.data.any()
