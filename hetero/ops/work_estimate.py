"""How much there is to do: arithmetic operations of a node, and bytes that it reads and writes.

A multiplication with the addition after it counts as two operations. ``assumed_shapes`` tells how large dynamic
dimensions are taken to be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from hetero.errors import GraphError
from hetero.graph import Model, Node, Output
from hetero.ops.einsum import Subscript
from hetero.ops.values import is_exact
from hetero.shape import Dimension, PartialShape
from hetero.types import Type

# What a dynamic dimension is taken to be: the first one of a value, which mostly is the batch, and any other.
ASSUMED_BATCH = 1
ASSUMED_LENGTH = 64

Shape = tuple[int, ...]
Shapes = Mapping[Output, Shape]


@dataclass(frozen=True)
class Work:
    """Arithmetic operations, and bytes read and written."""

    operations: float = 0.0
    bytes: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(self.operations + other.operations, self.bytes + other.bytes)

    def times(self, count: float) -> Work:
        return Work(self.operations * count, self.bytes * count)


def assumed_shape(shape: PartialShape) -> Shape:
    """A static shape that a partial one admits; of an unknown rank that of one dimension."""
    if not shape.has_rank:
        return (ASSUMED_LENGTH,)
    return tuple(_assumed_length(d, ASSUMED_LENGTH if axis else ASSUMED_BATCH) for axis, d in enumerate(shape))


def _assumed_length(dimension: Dimension, length: int) -> int:
    most = dimension.max_length
    return max(dimension.min_length, length if most < 0 else min(length, most))


def assumed_shapes(model: Model, input_shapes: Mapping[int, Shape] | None = None) -> dict[Output, Shape]:
    """A static shape for every value of a model.

    They follow from the shapes of the inputs, by index; where none is given it is assumed. What depends on data is
    assumed too. Bodies are left out.
    """
    given = input_shapes or {}
    shapes = {output: output.partial_shape for node in model.get_ordered_ops() for output in node.outputs()}
    if any(shape.is_dynamic for shape in shapes.values()):
        copy, copies = model.clone_with_nodes()
        for index, parameter in enumerate(copy.parameters):
            parameter.partial_shape = PartialShape(given.get(index) or assumed_shape(parameter.partial_shape))
        _infer_what_fits(copy)
        shapes = {output: copies[output.node].output(output.index).partial_shape for output in shapes}
    return {output: assumed_shape(shape) for output, shape in shapes.items()}


def _infer_what_fits(model: Model) -> None:
    """Infer all shapes; a node that the assumed lengths do not fit keeps the shape that it had."""
    for node in model.get_ordered_ops():
        before = [(output.element_type, output.partial_shape) for output in node.outputs()]
        try:
            node.infer()
        except (GraphError, ValueError):
            for index, (element_type, shape) in enumerate(before):
                node.set_output_type(index, element_type, shape)


def work_of(node: Node, shapes: Shapes) -> Work:
    """The work of a node, values having these shapes; nothing for one whose values are known already."""
    kind = node.type_info.name
    if kind in _FREE or all(is_exact(output.value) for output in node.outputs()):
        return Work()
    if node.bodies:
        return _work_of_bodies(node)
    if kind in _PARTLY_READ:
        return Work(0.0, 2 * _bytes(node.outputs(), shapes))
    try:
        operations = 0.0 if kind in _MOVES else _OPERATIONS.get(kind, _one_for_each_element)(node, shapes)
    except (IndexError, ValueError):  # of another rank than was assumed
        operations = _one_for_each_element(node, shapes)
    return Work(operations, _bytes([*node.input_values(), *node.outputs()], shapes))


def bytes_of(value: Output, shapes: Shapes) -> int:
    """The bytes of a value; of strings and of unknown types those of an address each."""
    element_type = value.element_type
    size = element_type.size if isinstance(element_type, Type) and element_type not in _UNSIZED else 8
    return math.prod(shapes[value]) * size


def _bytes(values: Iterable[Output], shapes: Shapes) -> int:
    return sum(bytes_of(value, shapes) for value in values)


def _one_for_each_element(node: Node, shapes: Shapes) -> float:
    return float(max(math.prod(shapes[value]) for value in (*node.input_values(), *node.outputs())))


def _convolution(node: Node, shapes: Shapes) -> float:
    filters = shapes[node.input_value(1)]
    return 2.0 * math.prod(shapes[node.output(0)]) * math.prod(filters[node.filter_axes - 1 :])


def _transposed_convolution(node: Node, shapes: Shapes) -> float:
    """Every element of the data meets all that the filters have for its channel."""
    filters = shapes[node.input_value(1)]
    return 2.0 * math.prod(shapes[node.input_value(0)]) * math.prod(filters[node.filter_axes - 1 :])


def _deformable_convolution(node: Node, shapes: Shapes) -> float:
    return 2.0 * math.prod(shapes[node.output(0)]) * math.prod(shapes[node.input_value(2)][1:])


def _matmul(node: Node, shapes: Shapes) -> float:
    first = shapes[node.input_value(0)]
    summed = first[-2] if node.transpose_a and len(first) > 1 else first[-1]
    return 2.0 * math.prod(shapes[node.output(0)]) * summed


def _einsum(node: Node, shapes: Shapes) -> float:
    """As one sum over all labels; devices mostly do less, by contracting two inputs at a time."""
    lengths: dict[str, int] = {}
    left = node.equation.replace(" ", "").partition("->")[0]
    for text, value in zip(left.split(","), node.input_values()):
        shape = shapes[value]
        labels = Subscript.parse(text).expanded(len(shape), len(shape))
        lengths |= {label: max(length, lengths.get(label, 1)) for label, length in zip(labels, shape)}
    return float(node.get_input_size()) * math.prod(lengths.values())


def _attention(node: Node, shapes: Shapes) -> float:
    query, output = shapes[node.input_value(0)], shapes[node.output(0)]
    keys = shapes[node.input_value(1)][-2]
    return 2.0 * keys * (math.prod(output[:-1]) * query[-1] + math.prod(output))


def _recurrent(node: Node, shapes: Shapes) -> float:
    """Each weight of W and R is used once for every step and row of the batch."""
    weights = [shapes[node.input_value(node.input_index(name))] for name in ("W", "R")]
    data = shapes[node.input_value(0)]
    return 2.0 * math.prod(data[:-1]) * sum(map(math.prod, weights))


def _pooling(node: Node, shapes: Shapes) -> float:
    return float(math.prod(shapes[node.output(0)]) * math.prod(node.kernel_shape))


def _normalization(node: Node, shapes: Shapes) -> float:
    """A mean or a maximum, a sum, and what is made of each element with them."""
    return 4.0 * math.prod(shapes[node.input_value(0)])


def _work_of_bodies(node: Node) -> Work:
    """Of an If its larger branch; of a loop its body as often as it runs, which is assumed where it is not known."""
    bodies = [model_work(body) for body in node.bodies if body]
    if not bodies:
        return Work()
    if len(bodies) > 1:
        return max(bodies, key=lambda work: work.operations + work.bytes)
    count = node.get_num_iterations()
    return bodies[0].times(count if count > 0 else ASSUMED_LENGTH)


def model_work(model: Model, input_shapes: Mapping[int, Shape] | None = None) -> Work:
    """The work of a whole model."""
    shapes = assumed_shapes(model, input_shapes)
    return sum((work_of(node, shapes) for node in model.get_ordered_ops()), Work())


_UNSIZED = (Type.dynamic, Type.string)
# The same elements under another shape, or nothing but a shape.
_FREE = {"Parameter", "Constant", "Result", "Reshape", "Squeeze", "Unsqueeze", "ShapeOf"}
# Of their data they read no more than they write.
_PARTLY_READ = {"Gather", "GatherElements", "GatherND", "Slice", "StridedSlice", "Split", "VariadicSplit"}
# Elements change their places, nothing is computed.
_MOVES = {
    "Assign", "BatchToSpace", "Broadcast", "Concat", "DepthToSpace", "Identity", "Pad", "ReadValue", "Reverse",
    "ReverseSequence", "Roll", "ScatterElementsUpdate", "ScatterNDUpdate", "ScatterUpdate", "ShuffleChannels",
    "SpaceToBatch", "SpaceToDepth", "Tile", "Transpose",
}  # fmt: skip
_OPERATIONS: dict[str, Callable[[Node, Shapes], float]] = {
    "AvgPool": _pooling,
    "BinaryConvolution": _convolution,
    "Convolution": _convolution,
    "ConvolutionBackpropData": _transposed_convolution,
    "DeformableConvolution": _deformable_convolution,
    "Einsum": _einsum,
    "FusedConvolution": _convolution,
    "GRUCell": _recurrent,
    "GRUSequence": _recurrent,
    "GroupConvolution": _convolution,
    "GroupConvolutionBackpropData": _transposed_convolution,
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
}
