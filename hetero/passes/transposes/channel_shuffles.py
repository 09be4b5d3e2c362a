"""Channel shuffles become permutations of channels, which move into the filters of the next convolution.

A shuffle is a Reshape that splits the channels in factors, a Transpose of these and a Reshape back, or the operation
ShuffleChannels.
"""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Constant, Input, Model, Node, Output, constant_array
from hetero.graph.rt_info import copy_rt_info
from hetero.ops.elementwise.arithmetic import Broadcasting
from hetero.ops.elementwise.elementwise import Unary
from hetero.passes.manager import keeps_values
from hetero.passes.matching.rewriting import only_reader, per_channel, replace


@keeps_values
def sink_channel_shuffles(model: Model) -> bool:
    """Replace channel shuffles by Gathers, and move these as far as possible towards the outputs.

    A Gather of constant indices that permutes the channels moves through element-wise operations, Converts and
    depthwise convolutions, whose constants are permuted, and disappears in the filters of a dense convolution. A Split
    of the channels becomes Gathers too. Requires: constants and batch normalizations are folded. Applies to values of
    static shape ``[N, C, ...]`` with one reader.
    """
    # The last ones first, so that no Gather stops at the next shuffle.
    return any([_sink(node) for node in reversed(model.get_ordered_ops())])


def channel_selection(node: Node) -> np.ndarray | None:
    """Return the indices of a Gather that selects channels of data ``[N, C, ...]``, each once; None for other nodes."""
    if type(node) is not ops.Gather:
        return None
    indices, axis = (constant_array(value) for value in node.input_values()[1:])
    count = node.get_input_partial_shape(0)[1]
    if indices is None or indices.ndim != 1 or axis is None or axis.item() != 1 or count.is_dynamic:
        return None
    is_selection = np.isin(indices, np.arange(count.get_length())).all() and len(set(indices)) == len(indices)
    return indices if is_selection else None


def _inverse(permutation: np.ndarray) -> np.ndarray:
    return np.argsort(permutation)


def _sink(last: Node) -> bool:
    shuffle = _shuffle(last) if isinstance(last, ops.Reshape | ops.ShuffleChannels) else None
    if shuffle is None:
        return False
    nodes, permutation = shuffle
    gather = _gather(nodes[0].input_value(0), permutation)
    replace(nodes, gather)
    after: ops.Gather | None = gather
    while after is not None:
        after = _move(after, permutation)
    return True


def _gather(data: Output, permutation: np.ndarray) -> ops.Gather:
    return ops.Gather(data, permutation.astype(np.int64), np.int64(1))


def _shuffle(last: ops.Reshape | ops.ShuffleChannels) -> tuple[list[Node], np.ndarray] | None:
    """Return the nodes of a shuffle, whose last one this is, and which channel each channel of its result is."""
    shape = last.get_output_partial_shape(0)
    if not shape.is_static or len(shape) < 3:
        return None
    count, rank = shape.to_shape()[1], len(shape)
    if isinstance(last, ops.ShuffleChannels):
        is_shuffle = last.axis % rank == 1
        return ([last], _transposed((last.group, count // last.group), (1, 0))) if is_shuffle else None
    transpose = last.input_value(0).node
    split = transpose.input_value(0).node if type(transpose) is ops.Transpose else None
    order = constant_array(transpose.input_value(1)) if type(split) is ops.Reshape else None
    if split is None or order is None or not only_reader(split) or not only_reader(transpose):
        return None
    inner = split.get_output_partial_shape(0)
    factors = len(inner) - rank + 1
    if split.get_input_partial_shape(0) != shape or factors < 2 or not inner.is_static:
        return None
    kept = [0, *range(factors + 1, len(inner))]
    lengths = inner.to_shape()
    if [lengths[axis] for axis in kept] != [length for axis, length in enumerate(shape) if axis != 1]:
        return None
    if [order[axis] for axis in kept] != kept:
        return None
    permutation = _transposed(lengths[1 : factors + 1], order[1 : factors + 1] - 1)
    return [split, transpose, last], permutation


def _transposed(lengths: tuple[int, ...], order: np.ndarray | tuple[int, ...]) -> np.ndarray:
    return np.arange(np.prod(lengths)).reshape(lengths).transpose(order).reshape(-1)


def _move(gather: ops.Gather, permutation: np.ndarray) -> ops.Gather | None:
    """Let the only reader of a Gather read the data; return the Gather of the reader's result, or None."""
    reader = only_reader(gather)
    if reader is None or _split(gather, reader.node, permutation) or reader.node.get_output_size() != 1:
        return None
    node, data = reader.node, gather.input_value(0)
    inputs = _permuted_inputs(reader, _inverse(permutation))
    if inputs is None:
        return None
    inputs[reader.index] = data
    moved = node.clone_with_new_inputs(inputs)
    if isinstance(node, ops.Convolution):
        replace([gather, node], moved)
        return None
    moved.friendly_name = node.friendly_name
    copy_rt_info([node], moved)
    after = _gather(moved.output(0), permutation)
    copy_rt_info([gather], after)
    node.output(0).replace(after.output(0))
    after.friendly_name = gather.friendly_name
    for old in (gather, node):
        old.disconnect()
    return after


def _split(gather: ops.Gather, split: Node, permutation: np.ndarray) -> bool:
    """Let Gathers of fewer channels replace a Gather and a Split of its channels."""
    if not isinstance(split, ops.Split | ops.VariadicSplit) or not split.output(0).partial_shape.rank.is_static:
        return False
    axis, ports = constant_array(split.input_value(1)), split.outputs()
    if axis is None or axis.item() % len(split.output(0).partial_shape) != 1:
        return False
    ends = np.cumsum([port.shape[1] for port in ports])
    for index, (port, part) in enumerate(zip(ports, np.split(permutation, ends[:-1]))):
        selected = _gather(gather.input_value(0), part)
        copy_rt_info([gather, split], selected)
        selected.friendly_name = f"{split.friendly_name}.{index}"
        port.replace(selected.output(0))
    gather.disconnect()
    split.disconnect()
    return True


def _permuted_inputs(reader: Input, order: np.ndarray) -> list[Output] | None:
    """Return the inputs with which a node computes from unpermuted data; None if it mixes channels."""
    node = reader.node
    inputs = node.input_values()
    if isinstance(node, Unary | ops.Convert):
        return inputs if all(value.partial_shape.element_count() == 1 for value in inputs[1:]) else None
    if isinstance(node, Broadcasting) and len(inputs) == 2:
        numbers = per_channel(reader)
        if numbers is not None and numbers.size > 1:
            other = inputs[1 - reader.index]
            inputs[1 - reader.index] = _taken(other, order, len(other.shape) - len(reader.partial_shape) + 1)
        return None if numbers is None else inputs
    if not isinstance(node, ops.Convolution | ops.GroupConvolution) or constant_array(inputs[1]) is None:
        return None
    if isinstance(node, ops.Convolution):
        inputs[1] = _taken(inputs[1], order, 1)
    elif inputs[1].shape[:3] == (len(order), 1, 1):
        inputs[1] = _taken(inputs[1], order, 0)
    else:
        return None
    return inputs


def _taken(constant: Output, order: np.ndarray, axis: int) -> Output:
    array = constant_array(constant)
    assert array is not None
    return Constant(array.take(order, axis), name=constant.node.friendly_name).output(0)
