"""Indices that OpenVINO does not check: out of range, it reads or writes memory of others, or ends the process.

They are replaced by valid ones, and the results that they select by what the device GPU gives: 0, infinity as a loss.
"""

from __future__ import annotations

import math

import numpy as np
import openvino

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node, constant_array, is_constant
from hetero_openvino.memory import constant, hetero_type
from hetero_openvino.translation.corrections import factory, make, scalar

# The index of the input with axes.
_AXES: dict[type[Node], int] = {ops.Slice: 4, ops.SliceScatter: 5, ops.Roll: 2}


def unchecked_reason(node: Node) -> str | None:
    """Return why the indices of a node cannot be checked, None if they can or need not be."""
    if (axes := _computed_axes(node)) is not None:
        if isinstance(node, ops.SliceScatter):
            return "OpenVINO updates other elements if the axes are not constants"
        if isinstance(node, ops.Slice) and all(map(is_constant, node.input_values()[1:4])):
            return "OpenVINO ends the process at constant bounds of axes that are not constants"
        data, count = (node.get_input_partial_shape(index) for index in (0, axes))
        if not (data.has_rank and len(data) and count.is_static):
            return "OpenVINO does not check axes that are not constants, and their number is unknown"
    if isinstance(node, ops.Col2Im) and not _are_constant_sizes(node) and not node.get_input_partial_shape(0).has_rank:
        return "OpenVINO does not check that the columns, of an unknown number of dimensions, fit the output size"
    if isinstance(node, ops.GatherNDV5):
        data, indices = (node.get_input_partial_shape(index) for index in range(2))
        if not (data.has_rank and indices.has_rank and indices[-1].is_static):
            return "OpenVINO does not check its indices, and the number of dimensions that they select is unknown"
    if isinstance(node, ops.ScatterElementsUpdateV3) and not (
        node.get_input_partial_shape(0).has_rank and is_constant(node.input_value(3))
    ):
        return "OpenVINO does not check its indices, and its axis is unknown"
    if isinstance(node, ops.CTCLoss):
        logits, labels = (node.get_input_partial_shape(index) for index in (0, 2))
        if not (logits.has_rank and logits[2].is_static and labels.has_rank and labels[1].is_static):
            return "OpenVINO does not check its labels, and the number of classes or labels is unknown"
        blank = constant_array(node.input_value(4)) if node.get_input_size() > 4 else np.zeros(1)
        if blank is None or not 0 <= blank.reshape(-1)[0] < logits[2].get_length():
            return "OpenVINO does not check a blank label that is no constant, or none of the classes"
    return None


def checked(node: Node, made: openvino.Node, bounds: list[openvino.Output]) -> openvino.Node:
    """Return OpenVINO's equivalent of a node with checked indices: ``made`` with other inputs, or one that reads it.

    ``bounds`` gets what has to hold for a result; else the inference is refused.
    """
    if (axes := _computed_axes(node)) is not None:
        _check_axes(made, axes, len(node.get_input_partial_shape(0)), bounds)
    if isinstance(node, ops.GatherV1) and not isinstance(node, ops.Gather):
        # OpenVINO's older versions take negative indices for indices out of range.
        attributes = {"batch_dims": node.batch_dims}
        return factory("opset8").create("Gather", made.input_values(), attributes)
    if isinstance(node, ops.Col2Im) and not _are_constant_sizes(node):
        _check_columns(node, made, bounds)
    if isinstance(node, ops.GatherNDV5):
        return _gather_nd(node, made)
    if isinstance(node, (ops.ROIPooling, ops.PSROIPooling, ops.DeformablePSROIPooling)):
        return _regions(made)
    if isinstance(node, ops.CTCLoss):
        return _loss(node, made)
    if isinstance(node, ops.ScatterElementsUpdateV3):
        return _scatter_elements(node, made)
    if isinstance(node, (ops.SegmentMax, ops.CTCGreedyDecoderSeqLen)):
        _raise_to(made, 1, 0)
    return made


def _computed_axes(node: Node) -> int | None:
    """Return the index of the input with axes, None if there is none or it is a constant."""
    index = _AXES.get(type(node))
    return None if index is None or index >= node.get_input_size() or is_constant(node.input_value(index)) else index


def _check_axes(made: openvino.Node, index: int, rank: int, bounds: list[openvino.Output]) -> None:
    """Replace axes by others if one of them is none of the data."""
    axes = made.input_value(index)
    kind, shape = hetero_type(axes.get_element_type()), axes.get_shape()
    inside = make(
        "LogicalAnd", make("GreaterEqual", axes, _number(-rank, axes)), make("Less", axes, _number(rank, axes))
    )
    inside = make("Reshape", inside, _vector(-1), special_zero=False)
    valid = make("ReduceLogicalAnd", inside, _vector(0), keep_dims=True)
    others = (np.arange(math.prod(shape)).reshape(shape) % rank).astype(kind.to_dtype())
    made.input(index).replace_source_output(make("Select", valid, axes, constant(others, kind).output(0)))
    bounds.append(valid)


def _are_constant_sizes(node: ops.Col2Im) -> bool:
    return all(is_constant(value) for value in node.input_values()[1:])


def _check_columns(node: ops.Col2Im, made: openvino.Node, bounds: list[openvino.Output]) -> None:
    """Replace sizes by 1 if they do not fit the columns, and append the columns that are then missing."""
    columns, rank = made.input_value(0), len(node.get_input_partial_shape(0))
    size, kernel = (make("Convert", value, destination_type="i64") for value in made.input_values()[1:3])
    given = _lengths(columns, rank - 1, rank, size)
    in_range = [
        make("LogicalAnd", make("Less", _vector(0), value), make("Less", value, _vector(2**24)))
        for value in (size, kernel, given)
    ]
    fits = make("Equal", _number_of_columns(node, size, kernel), given)
    valid = make("ReduceLogicalAnd", make("Concat", *in_range, fits, axis=0), _vector(0), keep_dims=True)
    size, kernel = (make("Select", valid, value, _vector(1)) for value in (size, kernel))
    missing = make("Maximum", make("Subtract", _number_of_columns(node, size, kernel), given), _vector(0))
    ends = make("Concat", _vector(*[0] * (rank - 1)), missing, axis=0)
    padded = make("Pad", columns, _vector(*[0] * rank), ends, pad_mode="constant")
    for index, value in enumerate((padded, size, kernel)):
        made.input(index).replace_source_output(value)
    bounds.append(valid)


def _number_of_columns(node: ops.Col2Im, size: openvino.Output, kernel: openvino.Output) -> openvino.Output:
    """Return the number of positions of the kernel, at most 2^24, as a vector of one element."""
    pads, strides = np.array(node.pads_begin) + np.array(node.pads_end), np.array(node.strides)
    size, kernel = (make("Convert", value, destination_type="f32") for value in (size, kernel))
    reach = make("Multiply", make("Subtract", kernel, _reals(1)), _reals(node.dilations))
    # Half a step more than a quotient, as OpenVINO multiplies by the reciprocal.
    steps = make("Subtract", make("Add", size, _reals(pads + strides - 0.5)), reach)
    counts = make("Maximum", make("Floor", make("Divide", steps, _reals(strides))), _reals(0))
    product = make("ReduceProd", counts, _vector(0), keep_dims=True)
    return make("Convert", make("Minimum", product, _reals(2**24)), destination_type="i64")


def _gather_nd(node: ops.GatherNDV5, made: openvino.Node) -> openvino.Node:
    indices, batch = made.input_value(1), node.batch_dims
    depth = node.get_input_partial_shape(1)[-1].get_length()
    kept = len(node.get_input_partial_shape(0)) - batch - depth
    lengths = _lengths(made.input_value(0), batch, batch + depth, indices)
    inside = make(
        "LogicalAnd", make("GreaterEqual", indices, make("Negative", lengths)), make("Less", indices, lengths)
    )
    valid = make("ReduceLogicalAnd", inside, _vector(-1), keep_dims=True)
    made.input(1).replace_source_output(make("Select", valid, indices, _number(0, indices)))
    # As the batch dimensions may be joined, the result has the shape of the rows.
    rows = _lengths(made.output(0), 0, len(node.get_output_partial_shape(0)) - kept, _vector())
    shape = make("Concat", rows, _vector(*[1] * kept), axis=0) if kept else rows
    return _select(make("Reshape", valid, shape, special_zero=False), made, 0)


def _regions(made: openvino.Node) -> openvino.Node:
    """Check the indices of images in the first column of regions."""
    regions, zero = made.input_value(1), _number(0, made.input_value(1))
    image = factory("opset8").create("Gather", [regions, _vector(0), _vector(1)], {}).output(0)
    # -1 ends a list of regions.
    inside = (
        make("GreaterEqual", image, _number(-1, regions)),
        make("Less", image, _lengths(made.input_value(0), 0, 1, regions)),
    )
    valid = make("LogicalAnd", *inside)
    is_first = constant(np.arange(5)[None] == 0, Type.boolean).output(0)
    invalid = make("LogicalAnd", make("LogicalNot", valid), is_first)
    made.input(1).replace_source_output(make("Select", invalid, zero, regions))
    return _select(make("Unsqueeze", valid, _vector(2, 3)), made, 0)


def _loss(node: ops.CTCLoss, made: openvino.Node) -> openvino.Node:
    """Check the labels, up to the length of each list."""
    labels, lengths = made.input_value(2), made.input_value(3)
    count = node.get_input_partial_shape(2)[1].get_length()
    positions = constant(
        np.arange(count)[None].astype(node.get_input_element_type(3).to_dtype()), node.get_input_element_type(3)
    )
    is_read = make("Less", positions.output(0), make("Unsqueeze", lengths, _vector(1)))
    classes = _number(node.get_input_partial_shape(0)[2].get_length(), labels)
    inside = make("LogicalAnd", make("GreaterEqual", labels, _number(0, labels)), make("Less", labels, classes))
    made.input(2).replace_source_output(make("Select", inside, labels, _number(0, labels)))
    valid = make(
        "ReduceLogicalAnd", make("LogicalOr", inside, make("LogicalNot", is_read)), _vector(1), keep_dims=False
    )
    return _select(valid, made, np.inf)


def _scatter_elements(node: ops.ScatterElementsUpdateV3, made: openvino.Node) -> openvino.Node:
    """Replace indices that are too small, before the beginning, by one that is too large, which OpenVINO refuses."""
    indices = made.input_value(1)
    given = constant_array(node.input_value(3))
    assert given is not None  # see unchecked_reason
    axis = int(given.reshape(-1)[0]) % len(node.get_input_partial_shape(0))
    length = _lengths(made.input_value(0), axis, axis + 1, indices)
    is_after = make("GreaterEqual", indices, make("Negative", length))
    made.input(1).replace_source_output(make("Select", is_after, indices, length))
    return made


def _reals(values: object) -> openvino.Output:
    return constant(np.array(values, np.float32), Type.f32).output(0)


def _raise_to(made: openvino.Node, index: int, least: int) -> None:
    """Replace numbers of an input that are less than ``least`` by that."""
    values = made.input_value(index)
    made.input(index).replace_source_output(make("Maximum", values, _number(least, values)))


def _lengths(value: openvino.Output, begin: int, end: int, like: openvino.Output) -> openvino.Output:
    """Return some dimensions of a value, in the element type of another one."""
    shape = factory("opset3").create("ShapeOf", [value], {"output_type": "i64"}).output(0)
    part = factory("opset8").create("Slice", [shape, _vector(begin), _vector(end), _vector(1)], {}).output(0)
    return make("Convert", part, destination_type=like.get_element_type().get_type_name())


def _number(value: float, like: openvino.Output) -> openvino.Output:
    return scalar(value, hetero_type(like.get_element_type()))


def _vector(*values: int) -> openvino.Output:
    return constant(np.array(values, np.int64), Type.i64).output(0)


def _select(valid: openvino.Output, made: openvino.Node, other: float) -> openvino.Node:
    """Return a node that gives the result where it is valid, else a number."""
    return make("Select", valid, made.output(0), _number(other, made.output(0))).get_node()
