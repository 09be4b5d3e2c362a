"""Bounds of values, against the values on TEMPLATE."""

import math

import numpy as np
import pytest

from hetero import Core, Model, Parameter, Type, ops
from hetero.passes.bounds.value_bounds import LARGEST, is_ordinary, value_bounds

rng = np.random.default_rng(9)
STEPS = [
    lambda v: ops.Convolution(v, numbers(4, 4, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]),
    lambda v: ops.GroupConvolution(v, numbers(2, 2, 2, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1]),
    lambda v: ops.ConvolutionBackpropData(
        v, numbers(4, 4, 1, 1), strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 0], dilations=[1, 1]
    ),
    lambda v: ops.MatMul(v, numbers(6, 6), False, bool(rng.integers(2))),
    lambda v: ops.MatMul(v, v, False, True),
    lambda v: ops.Add(v, np.float32(-3)),
    lambda v: ops.Multiply(v, v),
    lambda v: ops.SquaredDifference(v, np.float32(2)),
    lambda v: ops.Divide(v, np.float32([[-0.25]])),
    lambda v: ops.Clamp(v, -100.0, 2.0),
    ops.Sigmoid, ops.Swish, ops.Mish, ops.Erf, ops.HSwish,
    lambda v: ops.Elu(v, 3.0),
    lambda v: ops.PRelu(v, np.float32([-4])),
    lambda v: ops.Power(v, np.float32(2)),
    lambda v: ops.MVN(v, np.int64([2, 3]), True, 1e-5, "inside_sqrt"),
    lambda v: ops.MVN(v, np.int64([3]), False, 1e-5, "inside_sqrt"),
    lambda v: ops.Softmax(v, 1),
    lambda v: ops.ReduceSum(v, np.int64([1]), True),
    lambda v: ops.ReduceSum(v, np.int64([2, 3]), True),
    lambda v: ops.Interpolate(
        v, np.int64([6, 6]), axes=np.int64([2, 3]), mode="cubic", shape_calculation_mode="sizes"
    ),
    lambda v: ops.Exp(ops.Clamp(v, -9.0, 9.0)),
    lambda v: ops.Sqrt(ops.Abs(v)),
    lambda v: ops.Log(ops.Add(ops.Relu(v), np.float32(1e-3))),
    lambda v: ops.Divide(v, ops.Sqrt(ops.Add(ops.ReduceMean(ops.Multiply(v, v), np.int64([1]), True), np.float32(1)))),
    lambda v: ops.BatchNormInference(v, numbers(4), numbers(4), numbers(4), np.float32([1, 2, 0.5, 0.01]), 1e-3),
    lambda v: ops.Select(ops.Greater(v, np.float32(0)), v, np.float32(-7)),
    lambda v: ops.FakeQuantize(v, np.float32(-1), np.float32(1), np.float32(-5), np.float32(5), 256),
    lambda v: ops.Convert(ops.Convert(ops.Clamp(v, -5.0, 5.0), "u8"), "f32"),
]  # fmt: skip


def numbers(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def test_bounds_hold_in_chains():
    core = Core()
    for _ in range(60):
        x = Parameter(Type.f32, [1, 4, 6, 6])
        values = [x.output(0)]
        for _ in range(4):
            made = STEPS[rng.integers(len(STEPS))](values[-1])
            if list(made.output(0).shape) != [1, 4, 6, 6]:
                made = ops.Broadcast(made, np.int64([1, 4, 6, 6]))
            values.append(made.output(0))
        model = Model(values[1:], [x])
        bounds = value_bounds(model, 3.0)
        arrays = core.compile_model(model, "TEMPLATE")(rng.uniform(-3, 3, (1, 4, 6, 6)).astype(np.float32))
        for value, array in zip(values[1:], arrays.values()):
            assert bounds[value] < math.inf, value
            assert bounds[value] > LARGEST or np.abs(array).max() <= bounds[value] * 1.0001, value


@pytest.mark.parametrize(
    "build",
    [
        ops.Sqrt, ops.Log, lambda x: ops.Divide(x, x), lambda x: ops.Power(x, np.float32(0.5)),
        lambda x: ops.Divide(x, ops.Relu(x)), lambda x: ops.Add(x, np.float32([np.nan])),
        lambda x: ops.Multiply(np.float32(0), ops.Divide(x, x)), lambda x: ops.Multiply(x, np.float32(np.inf)),
        lambda x: ops.Maximum(np.float32(0), ops.Sqrt(x)), lambda x: ops.Convert(x, "f16"),
    ],
)  # fmt: skip
def test_values_that_may_be_nan_or_infinite_have_no_bound(build):
    x = Parameter(Type.f32, [4])
    node = build(x)
    assert value_bounds(Model([node], [x]), 3.0)[node.output(0)] == math.inf


def test_dynamic_shapes_are_bounded_by_the_longest_axis():
    x = Parameter(Type.f32, [-1, 8])
    node = ops.MatMul(ops.Softmax(x, 1), ops.Reshape(x, np.int64([8, -1]), False), False, False)
    assert 3.0 <= value_bounds(Model([node], [x]), 3.0)[node.output(0)] < LARGEST


def test_integers_are_bounded_by_their_type():
    x = Parameter(Type.i64, [4])
    node = ops.Convert(ops.Multiply(x, x), "f32")
    assert value_bounds(Model([node], [x]), 3.0)[node.output(0)] == 2.0**63


def test_bodies():
    x, condition = Parameter(Type.f32, [4]), Parameter(Type.boolean, [])
    then, other = Parameter(Type.f32, [4]), Parameter(Type.f32, [4])
    doubled, root = ops.Multiply(then, np.float32(2)), ops.Sqrt(other)
    branch = ops.If(condition)
    bodies = [Model([doubled], [then]), Model([root], [other])]
    branch.set_then_body(bodies[0])
    branch.set_else_body(bodies[1])
    branch.set_input(x.output(0), then, other)
    result = branch.set_output(bodies[0].results[0], bodies[1].results[0])
    bounds = value_bounds(Model([result], [x, condition]), 3.0)
    assert bounds[doubled.output(0)] == 6
    assert bounds[root.output(0)] == bounds[result] == math.inf


def test_layers_of_trained_networks_do_not_grow():
    x = Parameter(Type.f32, [1, 16])
    value = x.output(0)
    for _ in range(40):
        value = ops.Relu(ops.MatMul(value, np.full((16, 16), 10, np.float32), False, False)).output(0)
    model = Model([value], [x])
    assert LARGEST < value_bounds(model, 3.0)[value] < math.inf
    assert value_bounds(model, 3.0, is_trained=True)[value] == 3


def test_usual_layers_do_not_hide_a_large_one():
    x = Parameter(Type.f32, [1, 16])
    node = ops.MatMul(x, np.full((16, 16), 1e37, np.float32), False, False)
    assert value_bounds(Model([node], [x]), 3.0, is_trained=True)[node.output(0)] > 1e33


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [Type.f16, Type.bf16, Type.f32, Type.f64])
def test_ordinary_numbers(kind):
    dtype = kind.to_dtype()
    assert is_ordinary(np.ones((3, 50), dtype), 20) and is_ordinary(np.empty((0, 4), dtype), 20)
    for number in (np.nan, np.inf, -np.inf, 3e38, -3e38, 20):
        with np.errstate(over="ignore"):
            array = np.ones((3, 50), np.float32)
            array[2, 49] = number
            array = array.astype(dtype)
        assert not is_ordinary(array, 20)
        assert not is_ordinary(array.T, 20)
        assert is_ordinary(array[:, :40], 20)
