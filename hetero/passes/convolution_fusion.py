"""Convolutions with the bias and the bounds that follow them, as one operation."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model, Node, Result, is_constant
from hetero.graph.runtime_info import copy_runtime_info


def fuse_convolution(model: Model) -> bool:
    """Put FusedConvolution in the place of a convolution, an Add of a constant per channel, and a Relu or Clamp.

    Requires: constants and batch normalizations are folded. Ensures: no Add of a constant per channel, and no Relu or
    Clamp, is the only reader of a convolution.
    """
    changed = False
    for node in model.get_ordered_ops():
        if type(node) in (ops.Convolution, ops.GroupConvolution):
            changed |= _fuse(node)
    return changed


def _fuse(convolution: Node) -> bool:
    chain = [convolution]
    bias = _bias_of(_only_reader(convolution), convolution)
    if bias is not None:
        chain.append(_only_reader(convolution))
    bounds = _bounds_of(_only_reader(chain[-1]))
    if bounds is not None:
        chain.append(_only_reader(chain[-1]))
    if len(chain) == 1:
        return False
    last = chain[-1]
    inputs = [*convolution.input_values(), *([] if bias is None else [bias.output(0)])]
    minimum, maximum = bounds or (-math.inf, math.inf)
    attributes = convolution.get_attributes() | {
        "grouped": isinstance(convolution, ops.GroupConvolution), "minimum": minimum, "maximum": maximum,
    }  # fmt: skip
    fused = ops.FusedConvolution.of(inputs, attributes)
    fused.friendly_name = last.friendly_name
    copy_runtime_info(chain, fused)
    last.output(0).replace(fused.output(0))
    for node in chain:
        node.disconnect()
    return True


def _only_reader(node: Node) -> Node | None:
    readers = node.output(0).get_target_inputs()
    return readers[0].node if len(readers) == 1 and not isinstance(readers[0].node, Result) else None


def _bias_of(reader: Node | None, convolution: Node) -> Constant | None:
    """The bias as a vector, where the reader adds a constant of one number for each channel."""
    if type(reader) is not ops.Add:
        return None
    shape = convolution.output(0).partial_shape
    other = next((value for value in reader.input_values() if value is not convolution.output(0)), None)
    if other is None or not is_constant(other) or not shape.has_rank or shape[1].is_dynamic:
        return None
    numbers, channels = other.node.data, shape[1].get_length()
    padded = (1,) * (len(shape) - numbers.ndim) + numbers.shape
    if len(padded) != len(shape) or padded[1] not in (1, channels) or numbers.size != padded[1]:
        return None
    vector = np.broadcast_to(numbers.reshape(-1), (channels,))
    return Constant(np.ascontiguousarray(vector), name=f"{reader.friendly_name}/bias")


def _bounds_of(reader: Node | None) -> tuple[float, float] | None:
    if type(reader) is ops.Relu:
        return 0.0, math.inf
    if type(reader) is ops.Clamp:
        return reader.min_value, reader.max_value
    return None
