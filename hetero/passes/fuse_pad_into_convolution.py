"""Zeros around what a convolution reads, as padding of the convolution itself."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Model, Node, is_constant
from hetero.graph.runtime_info import copy_runtime_info


def fuse_pad_into_convolution(model: Model) -> bool:
    """Let convolutions pad that read a Pad of zeros which nothing else reads.

    Requires: constants are folded, operations are of their newest versions. Ensures: no convolution without automatic
    padding is the only reader of such a Pad of its spatial axes.
    """
    changed = False
    for node in model.get_ordered_ops():
        if type(node) in (ops.Convolution, ops.GroupConvolution):
            changed |= _fuse(node)
    return changed


def _fuse(convolution: Node) -> bool:
    pad = convolution.input_value(0).node
    if type(pad) is not ops.Pad or convolution.auto_pad.startswith("same") or not _is_of_zeros(pad):
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
    fused = type(convolution).of([pad.input_value(0), convolution.input_value(1)], attributes)
    fused.friendly_name = convolution.friendly_name
    copy_runtime_info([pad, convolution], fused)
    convolution.output(0).replace(fused.output(0))
    for node in (convolution, pad):
        node.disconnect()
    return True


def _is_of_zeros(pad: Node) -> bool:
    """Whether it is known how many zeros it adds."""
    known = pad.input_values()[1:]
    if pad.pad_mode != "constant" or not all(map(is_constant, known)):
        return False
    return len(known) < 3 or not known[2].node.data.any()
