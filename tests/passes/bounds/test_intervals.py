"""Intervals of integers: numpy's results of random numbers lie within them."""

import numpy as np
import pytest

from hetero import Constant, Core, Model, Parameter, Type, ops
from hetero.dispatch.cutting.partition import DeviceSubgraph
from hetero.dispatch.cutting.parts import extract
from hetero.passes.bounds.intervals import I32, Interval, Intervals, interval_of_type

CORE = Core()
LOW, HIGH = -7, 12
# By name: an operation on x and y, whose elements are from LOW to HIGH, and y from 1 to 5.
OPERATIONS = {
    "Add": ops.Add,
    "Subtract": ops.Subtract,
    "Multiply": ops.Multiply,
    "Divide": ops.Divide,
    "Divide toward zero": lambda x, y: ops.Divide(x, y, m_pythondiv=False),
    "Mod": ops.Mod,
    "FloorMod": ops.FloorMod,
    "Maximum": ops.Maximum,
    "Minimum": ops.Minimum,
    "Power": lambda x, y: ops.Power(x, y),
    "Negative": lambda x, y: ops.Negative(x),
    "Abs": lambda x, y: ops.Abs(x),
    "BitwiseAnd": ops.BitwiseAnd,
    "BitwiseOr": ops.BitwiseOr,
    "BitwiseXor": ops.BitwiseXor,
    "BitwiseXor of numbers that are not negative": lambda x, y: ops.BitwiseXor(ops.Abs(x), y),
    "Relu": lambda x, y: ops.Relu(x),
    "Sign": lambda x, y: ops.Sign(x),
    "Clamp": lambda x, y: ops.Clamp(x, -2.5, 3.5),
    "Select": lambda x, y: ops.Select(ops.Less(x, y), x, y),
    "Concat": lambda x, y: ops.Concat([x, y], 0),
    "Gather out of range": lambda x, y: ops.Gather(x, ops.Add(y, np.int64(3)), 0),
    "ReduceSum": lambda x, y: ops.ReduceSum(x, [0], False),
    "ReduceMax": lambda x, y: ops.ReduceMax(x, [0], False),
    "CumSum": lambda x, y: ops.CumSum(x, 0),
    "MatMul": lambda x, y: ops.MatMul(x, y, False, False),
    "TopK": lambda x, y: ops.TopK(x, 2, 0, "max", "value"),
    "Convert": lambda x, y: ops.Convert(x, Type.i16),
    "Pad": lambda x, y: ops.Pad(x, [2], [1], "constant"),
    "OneHot": lambda x, y: ops.OneHot(y, 4, x.element_type.to_dtype().type(9), x.element_type.to_dtype().type(-3), -1),
    "Transpose": lambda x, y: ops.Transpose(ops.Unsqueeze(x, [0]), [1, 0]),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_results_are_within(name):
    x, y = (Parameter(Type.i64, [5], name=name) for name in "xy")
    node = OPERATIONS[name](x.output(0), y.output(0))
    intervals = Intervals()
    intervals.set(x.output(0), Interval(LOW, HIGH))
    intervals.set(y.output(0), Interval(1, 5))
    found = [intervals.of(value) for value in node.outputs()]
    compiled = CORE.compile_model(Model(node.outputs(), [x, y], "m"), "TEMPLATE")
    generator = np.random.default_rng(0)
    for _ in range(20):
        arrays = [generator.integers(LOW, HIGH + 1, 5), generator.integers(1, 6, 5)]
        for interval, result in zip(found, compiled(arrays).to_tuple(), strict=True):
            assert interval.low <= result.min() and result.max() <= interval.high
    assert all(I32.contains(interval) for interval in found)


def test_unknown_and_overflowing_values_have_the_interval_of_their_type():
    x = Parameter(Type.i64, [5])
    intervals = Intervals()
    assert intervals.of(ops.Add(x, np.int64(1)).output(0)) == interval_of_type(Type.i64)
    assert intervals.of(ops.Convert(Parameter(Type.f32, [5]), Type.i64).output(0)) == interval_of_type(Type.i64)
    small = Parameter(Type.i8, [5])
    intervals.set(small.output(0), Interval(-3, 100))
    assert intervals.of(ops.Add(small, small).output(0)) == Interval(-128, 127)
    assert intervals.of(Constant(np.int8([100, -3])).output(0)) == Interval(-3, 100)
    assert intervals.of(ops.Less(x, np.int64(1)).output(0)) == Interval(0, 1)


def test_shapes_are_within_32_bits():
    x = Parameter(Type.f32, [-1, 7])
    shape = ops.ShapeOf(x, "i64").output(0)
    assert I32.contains(Intervals().of(ops.Gather(shape, [0], 0).output(0)))
    assert Intervals().of(ops.Gather(shape, [1], 0).output(0)) == Interval(7, 7)


def test_long_chains_are_no_recursion():
    value = Parameter(Type.boolean, [5]).output(0)
    for _ in range(20_000):
        value = ops.Identity(value).output(0)
    assert Intervals().of(value) == Interval(0, 1)


def test_a_subgraph_knows_the_intervals_of_its_inputs():
    x = Parameter(Type.i64, [5], name="x")
    remainder, result = ops.FloorMod(x, np.int64(10)), None
    result = ops.Negative(remainder)
    model = extract(DeviceSubgraph(None, [result], remainder.outputs(), result.outputs()), "part")
    assert model.parameters[0].known_interval == (-9, 9)
    assert model.clone().parameters[0].known_interval == (-9, 9)
