"""Fusion of what stands before and after a convolution: padding, batch normalization, bias and activation."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.graph import Constant, Input, Model, Node, Op, Output, constant_array
from hetero.graph.rt_info import copy_rt_info
from hetero.passes.manager import changes_numerics, keeps_values
from hetero.passes.matching.rewriting import only_reader, per_channel, replace, rewrite_each
from hetero.system.mapped_file import release_pages

_CONVOLUTIONS = (ops.Convolution, ops.GroupConvolution)


@keeps_values
def split_batch_norm(model: Model) -> bool:
    """Replace each BatchNormInference of constant parameters by a Multiply and an Add.

    A GroupConvolution with one number per channel, as TensorFlow Lite has for them, becomes a Multiply. Requires:
    constants are folded.
    """
    scaling = rewrite_each(model, (ops.GroupConvolution,), _to_multiply)
    return rewrite_each(model, (ops.BatchNormInference,), _split) or scaling


@changes_numerics
@keeps_values
def fold_batch_norm(model: Model) -> bool:
    """Fold batch normalizations, and multiplications and additions of constants per channel, into convolutions.

    Requires: constants are folded. Applies to convolutions of constant filters. Ensures: if only one node reads such a
    convolution, at most one Add of a constant per channel, its bias, follows it. A BatchNormInference that follows no
    convolution becomes a Multiply and an Add.
    """
    split = split_batch_norm(model)
    return rewrite_each(model, _CONVOLUTIONS, _absorb) or split


def _split(node: ops.BatchNormInference) -> bool:
    data, *parameters = node.input_values()
    arrays = [array.astype(np.float64) for value in parameters if (array := constant_array(value)) is not None]
    if len(arrays) < len(parameters):
        return False
    gamma, beta, mean, variance = arrays
    scale = gamma / np.sqrt(variance + node.epsilon)
    rank = len(data.partial_shape) if data.partial_shape.has_rank else 4
    multiply = _with_constant(ops.Multiply, data, scale, rank, f"{node.friendly_name}/scale")
    add = _with_constant(ops.Add, multiply.output(0), beta - mean * scale, rank, node.friendly_name)
    copy_rt_info([node], multiply)
    copy_rt_info([node], add)
    node.output(0).replace(add.output(0))
    node.disconnect()
    return True


def _to_multiply(convolution: ops.GroupConvolution) -> bool:
    filters, attributes = constant_array(convolution.input_value(1)), convolution.attribute_values()
    if filters is None or not filters.size or filters.size > filters.shape[0]:
        return False
    if any((*attributes["pads_begin"], *attributes["pads_end"])) or any(step != 1 for step in convolution.strides):
        return False
    rank, name = filters.ndim - 1, convolution.friendly_name
    replace([convolution], _with_constant(ops.Multiply, convolution.input_value(0), filters.reshape(-1), rank, name))
    return True


def _absorb(convolution: ops.Convolution | ops.GroupConvolution) -> bool:
    """Fold the chain of scales and shifts after a convolution, if it is more than a bias."""
    filters = constant_array(convolution.input_value(1))
    if filters is None:
        return False
    chain: list[tuple[Node, np.ndarray]] = []
    last: Node = convolution
    while (step := _scale_or_shift(last)) is not None:
        chain.append(step)
        last = step[0]
    if not chain or (len(chain) == 1 and isinstance(chain[0][0], ops.Add)):
        return False
    channels = filters.shape[0] if isinstance(convolution, ops.Convolution) else filters.shape[0] * filters.shape[1]
    scale, bias = np.ones(channels), np.zeros(channels)
    for node, operand in chain:
        if isinstance(node, ops.Multiply):
            scale, bias = scale * operand, bias * operand
        else:
            bias = bias + operand
    kernel_axes = len(convolution.strides) + 1  # the input channels of a filter, and its spatial axes
    per_filter = scale.reshape(*filters.shape[: filters.ndim - kernel_axes], *[1] * kernel_axes)
    scaled = Constant(filters * per_filter.astype(filters.dtype), name=convolution.input_value(1).node.friendly_name)
    release_pages(filters)
    folded = convolution.copy_with_new_inputs([convolution.input_value(0), scaled.output(0)])
    rank = len(convolution.strides) + 2
    add = _with_constant(ops.Add, folded.output(0), bias, rank, last.friendly_name)
    copy_rt_info([convolution, *(node for node, _ in chain)], folded)
    copy_rt_info([node for node, _ in chain], add)
    last.output(0).replace(add.output(0))
    for node in (convolution, *(node for node, _ in chain)):
        node.disconnect()
    return True


def _scale_or_shift(node: Node) -> tuple[Node, np.ndarray] | None:
    """Return the only reader of a node and its constant as f64, if it is a Multiply or an Add of one per channel."""
    reader = only_reader(node)
    if reader is None or type(reader.node) not in (ops.Multiply, ops.Add):
        return None
    constant = per_channel(reader)
    return None if constant is None else (reader.node, constant.astype(np.float64))


def _with_constant(operation: type[Op], data: Output, numbers: np.ndarray, rank: int, name: str) -> Node:
    """Return an operation on data of this rank and a Constant of one number per channel."""
    shaped = numbers.reshape(-1, *[1] * (rank - 2)).astype(data.element_type.to_dtype())
    return operation(data, Constant(shaped, name=f"{name}/constant"), name=name)


@keeps_values
def fuse_convolution(model: Model) -> bool:
    """Replace a convolution, an Add of a constant per channel, and a Relu or Clamp by a FusedConvolution.

    Requires: constants and batch normalizations are folded. Ensures: no Add of a constant per channel, and no Relu or
    Clamp, is the only reader of a convolution.
    """
    return rewrite_each(model, _CONVOLUTIONS, _fuse_chain)


def _fuse_chain(convolution: Node) -> bool:
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


@keeps_values
def fuse_pad_into_convolution(model: Model) -> bool:
    """Let convolutions pad their data themselves if nothing else reads a Pad of zeros.

    Requires: constants are folded, operations are of their newest versions. Applies to a Pad of spatial axes only and
    by no negative amount, and to convolutions without automatic padding.
    """
    return rewrite_each(model, _CONVOLUTIONS, _fuse_pad)


def _fuse_pad(convolution: ops.Convolution | ops.GroupConvolution) -> bool:
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
