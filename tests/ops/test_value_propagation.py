"""Known values of small integer tensors are propagated through operations that move them, and determine shapes."""

import numpy as np
import pytest

from hetero import Dimension, Model, Parameter, Type, ops
from hetero.ops.checks import tidy
from hetero.system.errors import GraphError


def shape_of(*dimensions):
    return ops.ShapeOf(Parameter(Type.f32, dimensions))


def ints(*values):
    return np.array(values, np.int64)


def number(value):
    return np.array(value, np.int64)


ROWS = Dimension(1, 8)
ANY = Dimension()

# The operation, and the known value of each output
VALUES = [
    (lambda: shape_of(2, 3), [[2, 3]]),
    (lambda: shape_of(ROWS, 3, ANY), [[ROWS, 3, ANY]]),
    (lambda: ops.Gather(shape_of(ROWS, 3), number(0), number(0)), [ROWS]),
    (lambda: ops.Gather(shape_of(ROWS, 3), number(-1), number(0)), [3]),
    (lambda: ops.Gather(shape_of(ROWS, 3, 4), ints(2, 0), number(0)), [[4, ROWS]]),
    (lambda: ops.Gather(shape_of(ROWS, 3), ints(5), number(0)), [None]),
    (lambda: ops.Concat([shape_of(ROWS), ints(-1, 192)], 0), [[ROWS, -1, 192]]),
    (lambda: ops.Unsqueeze(ops.Gather(shape_of(ROWS, 3), number(0), number(0)), number(0)), [[ROWS]]),
    (lambda: ops.Squeeze(ops.Slice(shape_of(ROWS, 3), ints(0), ints(1), ints(1)), ints(0)), [ROWS]),
    (lambda: ops.Slice(shape_of(ROWS, 3, 4), ints(-1), ints(-(2**63)), ints(-1)), [[4, 3, ROWS]]),
    (lambda: ops.StridedSlice(shape_of(ROWS, 3, 4), ints(1), ints(0), ints(1), [0], [1]), [[3, 4]]),
    (lambda: ops.StridedSlice(shape_of(ROWS, 3), ints(0), ints(1), ints(1), [0], [0], [0], [1]), [ROWS]),
    (lambda: ops.StridedSlice(shape_of(), ints(0), ints(1), ints(1), [0], [0], [0], [1]), [None]),
    (lambda: ops.Reshape(shape_of(ROWS, 3, 4, 5), ints(2, -1), False), [[[ROWS, 3], [4, 5]]]),
    (lambda: ops.Transpose(ops.Reshape(shape_of(ROWS, 3), ints(1, 2), False), ints(1, 0)), [[[ROWS], [3]]]),
    (lambda: ops.Broadcast(shape_of(ROWS), ints(2)), [[ROWS, ROWS]]),
    (lambda: ops.Broadcast(shape_of(ROWS, 3), ints(2, 2), ints(0), "EXPLICIT"), [[[ROWS, ROWS], [3, 3]]]),
    (lambda: ops.Tile(shape_of(ROWS, 3), ints(2)), [[ROWS, 3, ROWS, 3]]),
    (lambda: ops.Split(shape_of(ROWS, 3, 4, 5), number(0), 2), [[ROWS, 3], [4, 5]]),
    (lambda: ops.VariadicSplit(shape_of(ROWS, 3, 4), number(-1), ints(1, -1)), [[ROWS], [3, 4]]),
    (lambda: ops.Range(number(0), number(6), number(2), "i64"), [[0, 2, 4]]),
    (lambda: ops.Range(number(0), ops.Gather(shape_of(ROWS), number(0), number(0)), number(1), "i64"), [None]),
    (lambda: ops.Identity(shape_of(ROWS, 3)), [[ROWS, 3]]),
    (lambda: ops.ReduceProd(shape_of(ROWS, 3), ints(0), False), [Dimension(3, 24)]),
    (lambda: ops.ReduceProd(shape_of(ANY, 3), ints(0), True), [[ANY]]),
    (lambda: ops.ReduceSum(shape_of(ROWS, 3), ints(0), True), [[Dimension(4, 11)]]),
    (lambda: ops.ReduceProd(ops.Concat([shape_of(ROWS), ints(-1)], 0), ints(0), True), [None]),
    (lambda: ops.ReduceMax(shape_of(ROWS, 3), ints(0), True), [None]),
    (lambda: ops.Tile(shape_of(ROWS, 3), ints(100_000)), [None]),
]


@pytest.mark.parametrize(("make", "expected"), VALUES)
def test_values(make, expected):
    for output, value in zip(make().outputs(), expected, strict=True):
        assert value is output.value is None or output.value.tolist() == value
        assert output.value is None or tidy(output.value).dtype == output.value.dtype


DATA = Parameter(Type.f32, [ROWS, 196, 192])


def first(*dimensions):
    """Return the first dimension as a 1-D value."""
    return ops.Gather(shape_of(*dimensions), ints(0), number(0))


SHAPES = [
    (lambda: ops.Reshape(DATA, ops.Concat([first(ROWS), ints(196, -1)], 0), True), "[1..8,196,24..1536]"),
    (lambda: ops.Reshape(DATA, ops.Concat([first(ROWS), ints(196, 192)], 0), True), "[1..8,196,192]"),
    (lambda: ops.Reshape(DATA, ints(0, -1, 64), True), "[1..8,588,64]"),
    (lambda: ops.Reshape(Parameter(Type.f32, [4, 6]), ops.Concat([first(ANY), ints(8)], 0), False), "[3,8]"),
    (lambda: ops.Reshape(Parameter(Type.f32, [ANY]), ops.Concat([first(ANY), ints(8)], 0), True), "[?,8]"),
    (lambda: ops.Broadcast(Parameter(Type.f32, [1, 4]), ops.Concat([first(ROWS), ints(4)], 0)), "[1..8,4]"),
    (lambda: ops.Tile(Parameter(Type.f32, [3, 4]), ops.Concat([first(ROWS), ints(1)], 0)), "[3..24,4]"),
    (lambda: ops.Slice(Parameter(Type.f32, [5, 4]), ints(0), first(ROWS), ints(1)), "[1..5,4]"),
    (lambda: ops.Slice(Parameter(Type.f32, [10, 4]), first(ROWS), ints(10), ints(1)), "[2..9,4]"),
    (lambda: ops.Range(number(0), ops.Squeeze(first(ROWS), ints(0)), number(2), "i64"), "[1..4]"),
    (lambda: ops.Pad(Parameter(Type.f32, [5]), ints(2), first(ROWS), "constant"), "[8..15]"),
    (lambda: ops.VariadicSplit(Parameter(Type.f32, [9]), number(0), ops.Concat([first(ROWS), ints(-1)], 0)), "[1..8]"),
    (
        lambda: ops.Interpolate(
            Parameter(Type.f32, [1, 1, 5, 5]), shape_of(ROWS, 4), "nearest", "sizes", axes=ints(2, 3)
        ),
        "[1,1,1..8,4]",
    ),
    (
        lambda: ops.ConvolutionBackpropData(
            Parameter(Type.f32, [1, 1, 5]), np.ones((1, 1, 3), np.float32), [1], first(ROWS)
        ),
        "[1,1,1..8]",
    ),
]


@pytest.mark.parametrize(("make", "expected"), SHAPES)
def test_shapes_follow_what_is_known_in_part(make, expected):
    assert str(make().output(0).partial_shape) == expected


# Operations on x [?, 4], and the shape of x reshaped to [their first dimension, -1, 2].
SYMBOLS = [
    (lambda x: x, "[?,2,2]"),
    (lambda x: ops.Relu(x), "[?,2,2]"),
    (lambda x: ops.Add(x, np.ones((1, 1), np.float32)), "[?,2,2]"),
    (lambda x: ops.MatMul(ops.Convert(x, "f16"), np.ones((4, 3), np.float16), False, False), "[?,2,2]"),
    (lambda x: ops.Concat([x, x], 1), "[?,2,2]"),
    (lambda x: ops.Reshape(x, ints(-1, 2, 2), True), "[?,2,2]"),
    (lambda x: ops.Add(x, Parameter(Type.f32, [ANY, 4])), "[?,?,2]"),
    (lambda x: ops.Concat([x, x], 0), "[?,?,2]"),
    (lambda x: Parameter(Type.f32, x.partial_shape), "[?,?,2]"),
    (lambda x: ops.Einsum([x, Parameter(Type.f32, [ANY])], "ij,i->i"), "[?,?,2]"),
    (lambda x: ops.SequenceAt(ops.SequenceConstruct([x]), number(0)), "[?,?,2]"),
    (lambda x: ops.ReadValue(x, "memory", Type.f32, x.partial_shape), "[?,?,2]"),
    (lambda x: ops.ReadValue(variable_id="memory", variable_type=Type.f32, variable_shape=x.partial_shape), "[?,?,2]"),
]


@pytest.mark.parametrize(("make", "expected"), SYMBOLS)
def test_unknown_lengths_cancel_where_they_are_equal(make, expected):
    x = Parameter(Type.f32, [ANY, 4]).output(0)
    length = ops.Gather(ops.ShapeOf(make(x)), ints(0), number(0))
    assert str(ops.Reshape(x, ops.Concat([length, ints(-1, 2)], 0), False).output(0).partial_shape) == expected


def test_unknown_lengths_of_different_iterations_are_distinct():
    doubled = Parameter(Type.f32, [ANY, 4])
    body = Model([doubled, ops.Concat([doubled, doubled], 0)], [doubled])
    loop = ops.Loop(number(3), np.array(True))
    loop.set_function(body)
    loop.set_merged_input(doubled, Parameter(Type.f32, [ANY, 4]), body.results[1])
    first, last = (loop.get_iter_value(body.results[0], iteration) for iteration in (0, -1))
    length = ops.Gather(ops.ShapeOf(last), ints(0), number(0))
    assert str(ops.Reshape(first, ops.Concat([length, ints(-1, 2)], 0), False).output(0).partial_shape) == "[?,?,2]"


def test_unknown_lengths_stay_distinct_after_a_reshape_of_the_model():
    x, y = (Parameter(Type.f32, [ANY, 4], name=name) for name in "xy")
    length = ops.Gather(ops.ShapeOf(x), ints(0), number(0))
    shaped = ops.Reshape(x, ops.Concat([length, ints(-1, 2)], 0), False)
    model = Model([shaped, ops.Relu(y)], [x, y])
    for name, shape in (("x", y.output(0).partial_shape), ("x", [ANY, 6]), ("y", x.output(0).partial_shape)):
        model.reshape({name: shape})
        assert str(shaped.output(0).partial_shape) == f"[?,{int(str(x.output(0).partial_shape[1])) // 2},2]"
        assert x.output(0).partial_shape[0].symbol is not y.output(0).partial_shape[0].symbol
    assert str(model.clone().output(0).partial_shape) == "[?,3,2]"


def test_an_element_count_that_cannot_be_is_refused():
    with pytest.raises(GraphError, match="Reshape"):
        ops.Reshape(Parameter(Type.f32, [4, 6]), ops.Concat([first(Dimension(5, 8)), ints(8)], 0), False)


def test_a_type_that_is_not_known_stays_unknown():
    data = Parameter(Type.dynamic, [2, 3])
    filters = Parameter(Type.dynamic, [2, 3, 1])
    assert ops.Reshape(data, ints(3, 2), False).get_element_type() is Type.dynamic
    assert ops.Concat([data, Parameter(Type.f32, [2, 3])], 0).get_element_type() is Type.f32
    convolution = ops.Convolution(Parameter(Type.dynamic, [1, 3, 4]), filters, [1], [0], [0], [1])
    assert convolution.get_element_type() is Type.dynamic
