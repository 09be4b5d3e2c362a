"""Work estimate: the arithmetic operations of a node, and the bytes that it reads and writes.

A multiply-add counts as two operations. ``assumed_shapes`` replaces dynamic dimensions by assumed lengths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.graph import Model, Node, Output
from hetero.ops.checks import is_exact
from hetero.ops.control_flow.bodies import MultiSubGraphOp
from hetero.ops.control_flow.control_flow import SubGraphOp
from hetero.ops.convolution import AnyConvolution, BackwardConvolution
from hetero.ops.linear import Einsum, MatMul, parse_equation
from hetero.ops.pooling import WindowPooling
from hetero.ops.recurrent import Recurrent
from hetero.system.errors import GraphError

# Assumed length of dynamic dimensions: the first dimension of a value, usually the batch, and all others.
ASSUMED_BATCH = 1
ASSUMED_LENGTH = 64

Shape = tuple[int, ...]
Shapes = Mapping[Output, Shape]


@dataclass(frozen=True)
class Work:
    """The numbers of arithmetic operations, and of bytes read and written."""

    operations: float = 0.0
    bytes: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(self.operations + other.operations, self.bytes + other.bytes)

    def times(self, count: float) -> Work:
        return Work(self.operations * count, self.bytes * count)


def assumed_shape(shape: PartialShape) -> Shape:
    """Return a static shape that fits a partial one; a shape of unknown rank becomes one dimension."""
    if not shape.has_rank:
        return (ASSUMED_LENGTH,)
    return tuple(_assumed_length(d, ASSUMED_LENGTH if axis else ASSUMED_BATCH) for axis, d in enumerate(shape))


def _assumed_length(dimension: Dimension, length: int) -> int:
    longest = dimension.max_length
    return max(dimension.min_length, length if longest < 0 else min(length, longest))


def assumed_shapes(model: Model, input_shapes: Mapping[int, Shape] | None = None) -> dict[Output, Shape]:
    """Return a static shape for every value of a model, without the values in bodies.

    The shapes are inferred from ``input_shapes``, by the index of the input. Missing input shapes, those of variables
    and data-dependent dimensions are assumed.
    """
    input_shapes = input_shapes or {}
    shapes = {output: output.partial_shape for node in model.get_ordered_ops() for output in node.outputs()}
    if any(shape.is_dynamic for shape in shapes.values()):
        copy, copies = model.clone_with_nodes()
        for index, parameter in enumerate(copy.parameters):
            parameter.partial_shape = PartialShape(input_shapes.get(index) or assumed_shape(parameter.partial_shape))
        _infer_leniently(copy)
        shapes = {output: copies[output.node].output(output.index).partial_shape for output in shapes}
    return {output: assumed_shape(shape) for output, shape in shapes.items()}


def _infer_leniently(model: Model) -> None:
    """Infer all shapes; if the assumed lengths are invalid for a node, it keeps its shapes."""
    for node in model.get_ordered_ops():
        old_types = [(output.element_type, output.partial_shape) for output in node.outputs()]
        try:
            node.infer()
            if node.type_info.name == "ReadValue":
                value = node.output(0)
                node.set_output_type(0, value.element_type, PartialShape(assumed_shape(value.partial_shape)))
        except (GraphError, ValueError):
            for index, (element_type, shape) in enumerate(old_types):
                node.set_output_type(index, element_type, shape)


def work_of(node: Node, shapes: Shapes) -> Work:
    """Return the work of a node for values of these shapes; no work if all its outputs have known values."""
    kind = node.type_info.name
    if kind in _FREE or all(is_exact(output.value) for output in node.outputs()):
        return Work()
    if isinstance(node, MultiSubGraphOp):
        return _work_of_bodies(node)
    if kind in _PARTLY_READ:
        return Work(0.0, 2 * _bytes(node.outputs(), shapes))
    try:
        operations = 0.0 if kind in _MOVES else _OPERATIONS.get(kind, _one_for_each_element)(node, shapes)
    except (IndexError, ValueError):  # the assumed rank is wrong
        operations = _one_for_each_element(node, shapes)
    return Work(operations, _bytes([*node.input_values(), *node.outputs()], shapes))


def bytes_of(value: Output, shapes: Shapes) -> int:
    """Return the bytes of a value; strings and unknown types count 8 bytes per element."""
    element_type = value.element_type
    size = element_type.size if isinstance(element_type, Type) and element_type not in _UNSIZED else 8
    return math.prod(shapes[value]) * size


def _bytes(values: Iterable[Output], shapes: Shapes) -> int:
    return sum(bytes_of(value, shapes) for value in values)


def _one_for_each_element(node: Node, shapes: Shapes) -> float:
    return float(max(math.prod(shapes[value]) for value in (*node.input_values(), *node.outputs())))


def _convolution(node: AnyConvolution, shapes: Shapes) -> float:
    """Each element of the output, or of a transposed convolution's data, takes every filter element for its channel."""
    elements = shapes[node.input_value(0) if isinstance(node, BackwardConvolution) else node.output(0)]
    return 2.0 * math.prod(elements) * math.prod(shapes[node.input_value(1)][node.filter_axes - 1 :])


def _deformable_convolution(node: Node, shapes: Shapes) -> float:
    return 2.0 * math.prod(shapes[node.output(0)]) * math.prod(shapes[node.input_value(2)][1:])


def _matmul(node: MatMul, shapes: Shapes) -> float:
    first = shapes[node.input_value(0)]
    summed = first[-2] if node.transpose_a and len(first) > 1 else first[-1]
    return 2.0 * math.prod(shapes[node.output(0)]) * summed


def _einsum(node: Einsum, shapes: Shapes) -> float:
    """One sum over all labels. Devices usually do less, as they contract two inputs at a time."""
    lengths: dict[str, int] = {}
    for subscript, value in zip(parse_equation(node.equation)[0], node.input_values()):
        shape = shapes[value]
        labels = subscript.expanded(len(shape), len(shape))
        lengths |= {label: max(length, lengths.get(label, 1)) for label, length in zip(labels, shape)}
    return float(node.get_input_size()) * math.prod(lengths.values())


def _attention(node: Node, shapes: Shapes) -> float:
    query, output = shapes[node.input_value(0)], shapes[node.output(0)]
    keys = shapes[node.input_value(1)][-2]
    return 2.0 * keys * (math.prod(output[:-1]) * query[-1] + math.prod(output))


def _recurrent(node: Recurrent, shapes: Shapes) -> float:
    """Each weight of W and R is used once for every step and row of the batch."""
    weights = [shapes[node.input_value(node.input_index(name))] for name in ("W", "R")]
    data = shapes[node.input_value(0)]
    return 2.0 * math.prod(data[:-1]) * sum(map(math.prod, weights))


def _pooling(node: WindowPooling, shapes: Shapes) -> float:
    return float(math.prod(shapes[node.output(0)]) * math.prod(node.kernel_shape))


def _normalization(node: Node, shapes: Shapes) -> float:
    """About four operations per element: a mean or maximum, a sum, and the normalization."""
    return 4.0 * math.prod(shapes[node.input_value(0)])


def _work_of_bodies(node: MultiSubGraphOp) -> Work:
    """Return the work of an If's larger branch, or of a loop's body times its (known or assumed) iterations."""
    largest = max(map(model_work, node.bodies), key=lambda work: work.operations + work.bytes)
    if not isinstance(node, SubGraphOp):
        return largest
    count = node.get_num_iterations()
    return largest.times(count if count > 0 else ASSUMED_LENGTH)


def model_work(model: Model, input_shapes: Mapping[int, Shape] | None = None) -> Work:
    """Return the work of a whole model."""
    shapes = assumed_shapes(model, input_shapes)
    return sum((work_of(node, shapes) for node in model.get_ordered_ops()), Work())


_UNSIZED = (Type.dynamic, Type.string)
# Operations without any work: they change or read a shape only.
_FREE = {"Parameter", "Constant", "Result", "Reshape", "Squeeze", "Unsqueeze", "ShapeOf"}
# Operations that read only as much of their data as they write.
_PARTLY_READ = {"Gather", "GatherElements", "GatherND", "Slice", "StridedSlice", "Split", "VariadicSplit"}
# Operations that move elements without arithmetic.
_MOVES = {
    "Assign", "BatchToSpace", "Broadcast", "Concat", "DepthToSpace", "Identity", "Pad", "ReadValue", "Reverse",
    "ReverseSequence", "Roll", "ScatterElementsUpdate", "ScatterNDUpdate", "ScatterUpdate", "ShuffleChannels",
    "SpaceToBatch", "SpaceToDepth", "Tile", "Transpose",
}  # fmt: skip
_OPERATIONS: dict[str, Callable[[Any, Shapes], float]] = {
    "AvgPool": _pooling,
    "BinaryConvolution": _convolution,
    "Convolution": _convolution,
    "ConvolutionBackpropData": _convolution,
    "DeformableConvolution": _deformable_convolution,
    "Einsum": _einsum,
    "FusedConvolution": _convolution,
    "GRUCell": _recurrent,
    "GRUSequence": _recurrent,
    "GroupConvolution": _convolution,
    "GroupConvolutionBackpropData": _convolution,
    "GroupNormalization": _normalization,
    "LSTMCell": _recurrent,
    "LSTMSequence": _recurrent,
    "LogSoftmax": _normalization,
    "MVN": _normalization,
    "MatMul": _matmul,
    "MaxPool": _pooling,
    "RNNCell": _recurrent,
    "RNNSequence": _recurrent,
    "ScaledDotProductAttention": _attention,
    "Softmax": _normalization,
    "SoftmaxAttention": _attention,
}
