"""Fold what scales and shifts each channel into the weights and a bias of the convolution before it."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model, Node, Output, is_constant
from hetero.graph.runtime_info import copy_runtime_info
from hetero.passes.manager import changes_numerics


def split_batch_norm(model: Model) -> bool:
    """Put a Multiply and an Add in the place of a batch normalization.

    Requires: constants are folded. Ensures: no BatchNormInference of constants is left.
    """
    found = [
        node
        for node in model.get_ordered_ops()
        if isinstance(node, ops.BatchNormInference) and all(map(is_constant, node.input_values()[1:]))
    ]
    for node in found:
        _split(node)
    return bool(found)


@changes_numerics
def fold_batch_norm(model: Model) -> bool:
    """Fold batch normalizations, and multiplications and additions of constants, into convolutions.

    Requires: constants are folded. Ensures: after a convolution of constant filters that only one node reads comes at
    most one Add of a constant per channel, its bias; no BatchNormInference of constants is left, as one
    that follows no convolution becomes a Multiply and an Add.
    """
    changed = split_batch_norm(model)
    for node in model.get_ordered_ops():
        if isinstance(node, (ops.Convolution, ops.GroupConvolution)) and is_constant(node.input_value(1)):
            changed |= _absorb(node)
    return changed


def _split(node: Node) -> None:
    """A batch normalization of constants as a Multiply and an Add."""
    data = node.input_value(0)
    gamma, beta, mean, variance = (value.node.data.astype(np.float64) for value in node.input_values()[1:])
    scale = gamma / np.sqrt(variance + node.epsilon)
    rank = len(data.partial_shape) if data.partial_shape.has_rank else 4
    multiply = _with_constant(ops.Multiply, data, scale, rank, f"{node.friendly_name}/scale")
    add = _with_constant(ops.Add, multiply.output(0), beta - mean * scale, rank, node.friendly_name)
    copy_runtime_info([node], multiply)
    copy_runtime_info([node], add)
    node.output(0).replace(add.output(0))
    node.disconnect()


def _absorb(convolution: Node) -> bool:
    """Fold the chain of scalings and shifts that only this convolution feeds; whether there was one to fold."""
    chain, last = [], convolution
    while (step := _channel_step(last)) is not None:
        chain.append(step)
        last = step[0]
    if not chain or (len(chain) == 1 and isinstance(chain[0][0], ops.Add)):
        return False
    filters = convolution.input_value(1).node.data
    channels = filters.shape[0] if isinstance(convolution, ops.Convolution) else filters.shape[0] * filters.shape[1]
    scale, bias = np.ones(channels), np.zeros(channels)
    for node, factor in chain:
        if isinstance(node, ops.Multiply):
            scale, bias = scale * factor, bias * factor
        else:
            bias = bias + factor
    kernel_axes = len(convolution.strides) + 1  # the channels that a filter reads, and its spatial axes
    per_filter = scale.reshape(*filters.shape[: filters.ndim - kernel_axes], *[1] * kernel_axes)
    scaled = Constant(filters * per_filter.astype(filters.dtype), name=convolution.input_value(1).node.friendly_name)
    folded = convolution.copy_with_new_inputs([convolution.input_value(0), scaled.output(0)])
    rank = len(convolution.strides) + 2
    add = _with_constant(ops.Add, folded.output(0), bias, rank, last.friendly_name)
    copy_runtime_info([convolution, *(node for node, _ in chain)], folded)
    copy_runtime_info([node for node, _ in chain], add)
    last.output(0).replace(add.output(0))
    for node in (convolution, *(node for node, _ in chain)):
        node.disconnect()
    return True


def _channel_step(node: Node) -> tuple[Node, np.ndarray] | None:
    """The only reader of a node, where it multiplies by or adds a constant per channel, with that as f64 numbers."""
    readers = node.output(0).get_target_inputs()
    if len(readers) != 1 or type(readers[0].node) not in (ops.Multiply, ops.Add):
        return None
    reader = readers[0].node
    other = reader.input_value(1 - readers[0].index)
    shape = node.output(0).partial_shape
    if not is_constant(other) or not shape.has_rank or reader.output(0).partial_shape != shape:
        return None
    numbers = other.node.data
    padded = (1,) * (len(shape) - numbers.ndim) + numbers.shape
    if shape[1].is_dynamic or padded[1] not in (1, shape[1].get_length()) or numbers.size != padded[1]:
        return None
    return reader, numbers.reshape(-1).astype(np.float64)


def _with_constant(operation: type[Node], data: Output, numbers: np.ndarray, rank: int, name: str) -> Node:
    shaped = numbers.reshape(-1, *[1] * (rank - 2)).astype(data.element_type.to_dtype())
    return operation(data, Constant(shaped, name=f"{name}/constant"), name=name)
