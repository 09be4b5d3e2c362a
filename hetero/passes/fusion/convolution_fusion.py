"""Fusion of a convolution with the bias and the activation that follow it."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.graph import Constant, Input, Model, Node
from hetero.passes.matching.rewriting import only_reader, per_channel, replace, rewrite_each


def fuse_convolution(model: Model) -> bool:
    """Replace a convolution, an Add of a constant per channel, and a Relu or Clamp by a FusedConvolution.

    Requires: constants and batch normalizations are folded. Ensures: no Add of a constant per channel, and no Relu or
    Clamp, is the only reader of a convolution.
    """
    return rewrite_each(model, (ops.Convolution, ops.GroupConvolution), _fuse)


def _fuse(convolution: Node) -> bool:
    chain, inputs, bounds = [convolution], convolution.input_values(), (-math.inf, math.inf)
    reader = only_reader(convolution)
    if reader is not None and (bias := _bias(reader)) is not None:
        chain.append(reader.node)
        inputs.append(bias.output(0))
        reader = only_reader(reader.node)
    if reader is not None and type(reader.node) is ops.Relu:
        chain.append(reader.node)
        bounds = 0.0, math.inf
    elif reader is not None and type(reader.node) is ops.Clamp:
        chain.append(reader.node)
        bounds = reader.node.min_value, reader.node.max_value
    if len(chain) == 1:
        return False
    attributes = convolution.attribute_values() | {
        "grouped": isinstance(convolution, ops.GroupConvolution), "minimum": bounds[0], "maximum": bounds[1],
    }  # fmt: skip
    replace(chain, ops.FusedConvolution.of(inputs, attributes))
    return True


def _bias(reader: Input) -> Constant | None:
    """Return the bias as a vector ``[C]``, if the reader adds a constant per channel to the convolution."""
    bias = per_channel(reader) if type(reader.node) is ops.Add else None
    if bias is None:
        return None
    vector = np.broadcast_to(bias, (reader.partial_shape[1].get_length(),))
    return Constant(np.ascontiguousarray(vector), name=f"{reader.node.friendly_name}/bias")
