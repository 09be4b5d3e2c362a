"""Integers beyond 32 bits, or beyond 24 where OpenVINO computes in f32: each inference is right, or is refused."""

import numpy as np
import pytest

from hetero import Constant, Core, Model, Parameter, Type, ops
from hetero.system.errors import UnsupportedValueError

CPU = "OPENVINO.CPU"
CORE = Core()
REFUSED = "out of the range in which OpenVINO is right"


def requests(make, kinds, shapes):
    """Return requests for OPENVINO.CPU and for HETERO with TEMPLATE after it."""

    def model():
        parameters = [Parameter(kind, shape) for kind, shape in zip(kinds, shapes)]
        return Model(make(*parameters), parameters, "m")

    return [CORE.compile_model(model(), device).create_infer_request() for device in (CPU, f"HETERO:{CPU},TEMPLATE")]


def check(pair, inputs, expected, *, is_refused=False):
    """Check the results of both requests. ``is_refused``: OpenVINO has no right one."""
    alone, hetero = pair
    if is_refused:
        with pytest.raises(UnsupportedValueError, match=REFUSED):
            alone.infer(inputs)
    else:
        np.testing.assert_array_equal(alone.infer(inputs)[0], expected)
    np.testing.assert_array_equal(hetero.infer(inputs)[0], expected)


@pytest.mark.parametrize("shape", [[4], [-1]], ids=["static", "dynamic"])
@pytest.mark.parametrize("kind", [Type.f32, Type.f16, Type.bf16], ids=str)
def test_floats_become_64_bits_wide(kind, shape):
    pair = requests(lambda x: ops.Convert(x, Type.i64), [kind], [shape])
    largest = {Type.f32: 2**31 - 128, Type.f16: 65504, Type.bf16: 2**31 - 2**23}[kind]
    check(pair, [np.array([1.75, -2.5, largest, -largest], kind.to_dtype())], [1, -2, largest, -largest])
    for number in () if kind is Type.f16 else (2.0**31, -(2.0**31), 2.0**40, -(2.0**62)):
        array = np.array([0, 1, number, 2], kind.to_dtype())
        check(pair, [array], array.astype(np.int64), is_refused=True)
    for number in (np.nan, np.inf, -np.inf):
        with pytest.raises(UnsupportedValueError, match=REFUSED):
            pair[0].infer([np.array([0, 1, number, 2], kind.to_dtype())])
    check(pair, [np.array([3, 2, 1, 0], kind.to_dtype())], [3, 2, 1, 0])


@pytest.mark.parametrize("kind", [Type.u32, Type.u64], ids=str)
def test_floats_become_unsigned(kind):
    pair = requests(lambda x: ops.Convert(x, kind), [Type.f32], [[3]])
    check(pair, [np.float32([0, -0.5, 2**31 - 128])], [0, 0, 2**31 - 128])
    check(pair, [np.float32([0, 2**31, 1])], [0, 2**31, 1], is_refused=True)
    with pytest.raises(UnsupportedValueError, match=REFUSED):
        pair[0].infer([np.float32([-1, 0, 0])])


def test_nothing_is_converted():
    pair = requests(lambda x: ops.Convert(x, Type.i64), [Type.f32], [[-1]])
    check(pair, [np.float32([2.0**40])], [2**40], is_refused=True)
    check(pair, [np.float32([])], [])
    check(pair, [np.float32([5])], [5])


# Operations of x and y, their formulas, and inputs with and without a result that OpenVINO computes right.
BINARY = {
    "Add": (ops.Add, np.add, (2**30, 2**30 - 2**26), (2**30, 2**30)),
    "Subtract": (ops.Subtract, np.subtract, (-(2**30), 2**30 - 2**26), (-(2**30), 2**31 - 1)),
    "Multiply": (ops.Multiply, np.multiply, (46_000, -46_000), (2**16, 2**15)),
    "SquaredDifference": (ops.SquaredDifference, lambda x, y: (x - y) ** 2, (30_000, -16_000), (40_000, -40_000)),
    "Power": (ops.Power, np.power, (-7, 8), (3, 33)),
    "BitwiseXor": (ops.BitwiseXor, np.bitwise_xor, (2**30, -5), (2**31 - 1, -1)),
    "MatMul": (lambda x, y: ops.MatMul(x, y, False, False), lambda x, y: x @ y, (-1000, 3000), (2**15, 2**16)),
}  # fmt: skip


@pytest.mark.parametrize("shape", [[2, 2], [-1, -1]], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", BINARY)
def test_64_bits_of_two_numbers(name, shape):
    make, formula, right, hard = BINARY[name]
    pair = requests(make, [Type.i64] * 2, [shape] * 2)
    for numbers, is_refused in ((right, False), (hard, True), (right, False)):
        x, y = (np.array([[number, 1], [2, 3]]) for number in numbers)
        check(pair, [x, y], formula(x, y), is_refused=is_refused)


SUMS = {
    "ReduceSum": (lambda x: ops.ReduceSum(x, [0], False), np.sum, 700_000_000),
    "ReduceL1": (lambda x: ops.ReduceL1(x, [0], False), lambda x, axis: np.abs(x).sum(axis), -700_000_000),
    "ReduceProd": (lambda x: ops.ReduceProd(x, [0], False), np.prod, 1200),
    "CumSum": (lambda x: ops.CumSum(x, 0), np.cumsum, 700_000_000),
    "ReduceMean": (lambda x: ops.ReduceMean(x, [0], False), lambda x, axis: x.sum(axis) // 3, 5_000_000),
}  # fmt: skip


@pytest.mark.parametrize("shape", [[3, 2], [-1, -1]], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", SUMS)
def test_64_bits_of_sums(name, shape):
    make, formula, largest = SUMS[name]
    pair = requests(make, [Type.i64], [shape])
    for number, is_refused in ((largest, False), (2 * largest, True), (largest, False)):
        x = np.array([[number, 2], [number, -1], [number, 2]])
        check(pair, [x], formula(x, axis=0), is_refused=is_refused)


@pytest.mark.parametrize("kind", [Type.i32, Type.i64], ids=str)
def test_long_sums_of_integers(kind):
    pair = requests(lambda x: ops.ReduceSum(x, [0], False), [kind], [[-1]])
    dtype = kind.to_dtype()
    check(pair, [np.full(60_000, 35_001, dtype)], 60_000 * 35_001)
    check(pair, [np.full(100_000, 20_001, dtype)], 100_000 * 20_001, is_refused=True)


@pytest.mark.parametrize("shape", [[2, 2], [-1, -1]], ids=["static", "dynamic"])
def test_products_of_32_bits(shape):
    pair = requests(lambda x, y: ops.MatMul(x, y, False, False), [Type.i32] * 2, [shape] * 2)
    for number, is_refused in ((4000, False), (4097, True)):
        x = np.int32([[number, 1], [2, number]])
        check(pair, [x, x], x @ x, is_refused=is_refused)


def test_pooled_integers():
    pair = requests(lambda x: ops.MaxPoolV1(x, [2], [0], [0], [2]), [Type.i32], [[1, 1, 4]])
    check(pair, [np.int32([[[5, 2**24 - 1, -3, -9]]])], [[[2**24 - 1, -3]]])
    check(pair, [np.int32([[[2**24, 2**24 + 1, 2, 3]]])], [[[2**24 + 1, 3]]], is_refused=True)


def counted(step, trip_count, kind=Type.i64):
    """Return a maker of a Loop that adds ``step`` to a counter and the counter to x, until the counter reaches y."""

    def make(x, y):
        counter, total, end = Parameter(kind, []), Parameter(kind, [2]), Parameter(kind, [])
        following = ops.Add(counter, np.array(step, kind.to_dtype()))
        results = [ops.Less(following, end), following, ops.Add(total, following)]
        body = Model(results, [counter, total, end], "body")
        loop = ops.Loop(np.int64(trip_count), np.array(True))
        loop.set_function(body)
        loop.set_special_body_ports([-1, 0])
        loop.set_merged_input(counter, Constant(np.array(0, kind.to_dtype())), body.results[1])
        loop.set_merged_input(total, x, body.results[2])
        loop.set_invariant_input(end, y)
        return [loop.get_iter_value(body.results[2], -1), loop.get_iter_value(body.results[1], -1)]

    return make


@pytest.mark.parametrize("trip_count", [-1, 7, 2**63 - 1])
def test_counters_of_loops(trip_count):
    pair = requests(counted(1, trip_count), [Type.i64] * 2, [[2], []])
    check(pair, [np.array([-5, 2]), np.array(4)], [5, 12])
    check(pair, [np.array([2**31 - 5, 2]), np.array(4)], [2**31 + 5, 12], is_refused=True)
    check(pair, [np.array([0, 1]), np.array(1)], [1, 2])


def test_a_counter_that_wraps_around_ends():
    pair = requests(counted(2**29, -1), [Type.i64] * 2, [[2], []])
    total = 2**29 * (1 + 2 + 3 + 4)
    check(pair, [np.array([0, 1]), np.array(2**31 - 2)], [total, total + 1], is_refused=True)


def test_bodies_in_bodies():
    """A sequence of floats, each doubled or converted, is added up in 64 bits."""

    def branch(make):
        value = Parameter(Type.f32, [1])
        return Model([make(value)], [value], "branch")

    def make(x):
        part, total = Parameter(Type.f32, [1]), Parameter(Type.i64, [1])
        branches = [
            branch(lambda value: ops.Convert(ops.Multiply(value, np.float32(2)), Type.i64)),
            branch(lambda value: ops.ShapeOf(value, "i64")),
        ]
        chosen = ops.If(ops.Squeeze(ops.Greater(part, np.float32(0)), [0]))
        for index, body in enumerate(branches):
            chosen.set_function(index, body)
        chosen.set_input(part, *(body.parameters[0] for body in branches))
        picked = chosen.set_output(*(body.results[0] for body in branches))
        body = Model([ops.Add(total, picked)], [part, total], "body")
        iterator = ops.TensorIterator()
        iterator.set_body(body)
        iterator.set_sliced_input(part, x, 0, 1, 1, -1, 0)
        iterator.set_merged_input(total, Constant(np.int64([0])), body.results[0])
        return iterator.get_iter_value(body.results[0], -1)

    pair = requests(make, [Type.f32], [[3]])
    check(pair, [np.float32([2, -3, 5])], [4 + 1 + 10])
    check(pair, [np.float32([2, 2**30, 5])], [4 + 2**31 + 10], is_refused=True)
    check(pair, [np.float32([-2, -(2**35), -5])], [3])  # the branch that would not fit does not run
    check(pair, [np.float32([-2, 3, 5])], [1 + 6 + 10])


def test_an_imported_model_checks_too():
    x = Parameter(Type.f32, [2])
    compiled = CORE.compile_model(Model(ops.Convert(x, Type.i64), [x], "m"), CPU)
    request = CORE.import_model(compiled.export_model(), CPU).create_infer_request()
    np.testing.assert_array_equal(request.infer([np.float32([7, -7])])[0], [7, -7])
    with pytest.raises(UnsupportedValueError, match=REFUSED):
        request.infer([np.float32([7, 2**31])])


def test_beside_real_numbers_that_are_checked():
    """A model that keeps NaN runs instead of one that found either out of bounds, and refuses such integers."""
    x = Parameter(Type.f32, [2])
    quotient = ops.Relu(ops.MatMul(ops.Divide(x, x), np.ones((2, 2), np.float32), False, False))
    compiled = CORE.compile_model(Model([quotient, ops.Convert(ops.Multiply(x, np.float32(1e6)), Type.i64)], [x]), CPU)
    for array, expected in (([2, 3], [2, 2]), ([0, 3], [np.nan, np.nan]), ([2, 3], [2, 2])):
        real, integer = compiled(np.float32(array)).values()
        np.testing.assert_array_equal(real, expected)
        np.testing.assert_array_equal(integer, np.int64(array) * 10**6)
    for array in ([2, 3000], [0, 3000]):
        with pytest.raises(UnsupportedValueError, match=REFUSED):
            compiled(np.float32(array))


CONDITIONS = {
    "of the numbers": lambda a, b, real: ops.Less(a, b),
    "of reals": lambda a, b, real: ops.Less(real, np.float32(0)),
    "negated": lambda a, b, real: ops.LogicalNot(ops.Less(real, np.float32(0))),
}


@pytest.mark.parametrize("shape", [[5], [-1]], ids=["static", "dynamic"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_integers_selected_by_a_computed_condition(condition, shape):
    """OpenVINO fuses the operation that makes the condition with the Select, in f32."""
    a, b = np.int32([2**31 - 1, 2**24 + 1, 5, -7, 2**30 + 1]), np.int32([2**31 - 1, 2**24 + 3, 2**25 + 1, -7, -(2**31)])
    real = np.float32([-1, 1, -1, 1, 1])
    pair = requests(
        lambda x, y, z: ops.Select(CONDITIONS[condition](x, y, z), x, y), [Type.i32, Type.i32, Type.f32], [shape] * 3
    )
    chosen = {"of the numbers": a < b, "of reals": real < 0, "negated": real >= 0}[condition]
    check(pair, [a, b, real], np.where(chosen, a, b))
