"""Operations that a query gives to ONEDNN, each alone there, the others on TEMPLATE; also values without elements."""

import math

import numpy as np
import pytest

from hetero import Core, Model, Parameter, PartialShape, Type, ops
from hetero.graph import is_terminal

CORE = Core()
rng = np.random.default_rng(10)


def numbers(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def rows_of(x):
    return ops.Gather(ops.ShapeOf(x), np.int64([0]), np.int64(0), 0)


def gelu(x):
    return ops.Multiply(
        ops.Multiply(x, ops.Add(ops.Erf(ops.Divide(x, np.float32(math.sqrt(2)))), np.float32(1))), np.float32(0.5)
    )


def selected_by_a_shape(x):
    few = ops.Less(rows_of(x), np.int64([10]))
    chosen = ops.Select(few, rows_of(x), np.int64([10]))
    flag = ops.Convert(ops.Unsqueeze(few, np.int64([0])), Type.f32)
    return ops.Multiply(ops.Multiply(x, ops.Convert(chosen, Type.f32)), flag)


def quantized(x):
    scaled = ops.Round(ops.Divide(x, np.float32(0.1)), "half_to_even")
    integers = ops.Convert(ops.Clamp(ops.Add(scaled, np.float32(3)), 0.0, 255.0), Type.u8)
    return ops.Multiply(ops.Subtract(ops.Convert(integers, Type.f32), np.float32(3)), np.float32(0.1))


def integer_product(x):
    integers = ops.Convert(
        ops.Clamp(ops.Round(ops.Multiply(x, np.float32(20)), "half_to_even"), -128.0, 127.0), Type.i8
    )
    weights = ops.Constant(rng.integers(-99, 99, (8, 5)).astype(np.int32))
    return ops.Convert(ops.MatMul(ops.Convert(integers, Type.i32), weights, False, False), Type.f32)


def identities(x):
    same = ops.Transpose(ops.Tile(ops.Convert(x, Type.f32), np.int64([1, 1])), np.int64([0, 1]))
    return ops.Pad(ops.Concat([same], 0), np.int64([0, 0]), np.int64([0, 0]), "constant")


def slices(x):
    every_second = ops.Slice(x, np.int64([0]), np.int64([9]), np.int64([2]), np.int64([1]))
    return ops.Slice(every_second, np.int64([0, 0]), np.int64([9, 9]), np.int64([3, 3]), np.int64([0, 1]))


GRAPHS = [gelu, selected_by_a_shape, quantized, integer_product, identities, slices]


@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.parametrize("graph", GRAPHS)
def test_alone(graph, is_dynamic):
    x = Parameter(Type.f32, PartialShape([-1, 8]) if is_dynamic else [4, 8])
    array = numbers(4, 8)
    model = Model(ops.Abs(graph(x)), [x])
    nodes = [node for node in model.get_ordered_ops() if not is_terminal(node)]
    expected = CORE.compile_model(model, "TEMPLATE")(array)[0]
    np.testing.assert_allclose(
        CORE.compile_model(model, "HETERO:ONEDNN,TEMPLATE")(array)[0], expected, rtol=1e-4, atol=1e-4
    )
    able = CORE.query_model(model, "ONEDNN")
    assert able
    for alone in nodes:
        if alone.friendly_name in able:
            for node in nodes:
                node.rt_info["affinity"] = "ONEDNN" if node is alone else "TEMPLATE"
            found = CORE.compile_model(model, "HETERO:ONEDNN,TEMPLATE")(array)[0]
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4, err_msg=str(alone))


NOTHING = {
    "ReduceSum": (lambda x: ops.ReduceSum(x, np.int64([1])), np.zeros(4)),
    "ReduceProd": (lambda x: ops.ReduceProd(x, np.int64([1])), np.ones(4)),
    "MatMul": (lambda x: ops.MatMul(x, np.zeros((0, 3), np.float32), False, False), np.zeros((4, 3))),
    "MatMul of itself": (lambda x: ops.MatMul(x, x, False, True), np.zeros((4, 4))),
    "Pad": (lambda x: ops.Pad(x, np.int64([0, 1]), np.int64([0, 2]), "constant", np.float32(7)), np.full((4, 3), 7)),
    "Concat": (lambda x: ops.Concat([x, np.ones((4, 2), np.float32)], 1), np.ones((4, 2))),
    "Softmax": (lambda x: ops.Softmax(x, 1), np.zeros((4, 0))),
    "a chain": (lambda x: ops.Relu(ops.Add(ops.ReduceSum(x, np.int64([1])), np.float32(2))), np.full(4, 2)),
}


@pytest.mark.parametrize("name", NOTHING)
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_values_without_elements(name, is_dynamic):
    build, expected = NOTHING[name]
    x = Parameter(Type.f32, PartialShape([4, -1]) if is_dynamic else [4, 0])
    model = CORE.compile_model(Model(build(x), [x]), "ONEDNN")
    np.testing.assert_array_equal(model(np.ones((4, 0), np.float32))[0], expected)


# The mean and the limits of nothing are those of OpenVINO.
LARGE_RESULTS = {
    "ReduceSum": (lambda x: ops.ReduceSum(x, np.int64([1])), 0),
    "ReduceMean": (lambda x: ops.ReduceMean(x, np.int64([1])), 0),
    "ReduceMax": (lambda x: ops.ReduceMax(x, np.int64([1])), np.finfo(np.float32).min),
    "ReduceMin": (lambda x: ops.ReduceMin(x, np.int64([1])), np.finfo(np.float32).max),
    "ReduceProd": (lambda x: ops.ReduceProd(x, np.int64([1])), 1),
    "ReduceL2": (lambda x: ops.ReduceL2(x, np.int64([1])), 0),
    "a chain": (lambda x: ops.Relu(ops.Subtract(ops.ReduceL1(x, np.int64([1])), np.float32(2))), 0),
}


@pytest.mark.parametrize("name", LARGE_RESULTS)
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_large_results_of_nothing(name, is_dynamic):
    build, expected = LARGE_RESULTS[name]
    x = Parameter(Type.f32, PartialShape([-1, -1, 700]) if is_dynamic else [700, 0, 700])
    found = CORE.compile_model(Model(build(x), [x]), "ONEDNN")(np.ones((700, 0, 700), np.float32))[0]
    np.testing.assert_array_equal(found, np.full((700, 700), expected))


@pytest.mark.parametrize("is_dynamic", [False, True])
def test_large_product_of_nothing(is_dynamic):
    x = Parameter(Type.f32, PartialShape([-1, -1]) if is_dynamic else [700, 0])
    model = Model(ops.MatMul(x, x, False, True), [x])
    found = CORE.compile_model(model, "ONEDNN")(np.ones((700, 0), np.float32))[0]
    np.testing.assert_array_equal(found, np.zeros((700, 700)))


@pytest.mark.parametrize("index", [np.s_[:, ::2], np.s_[::2, ::2], np.s_[1::3, ::4], np.s_[:, 1::2, ::2]], ids=str)
@pytest.mark.parametrize("shape", [(3, 5, 7), (2, 3, 3), (5, 17, 1)], ids=str)
def test_steps_that_do_not_divide_a_row(index, shape):
    x, array = Parameter(Type.f32, shape), numbers(*shape)
    start, stop, step = zip(*(part.indices(length) for part, length in zip(index, shape)))
    bounds = (np.int64(start), np.int64(stop), np.int64(step), np.int64(range(len(index))))
    found = CORE.compile_model(Model(ops.Slice(x, *bounds), [x]), "ONEDNN")(array)[0]
    np.testing.assert_array_equal(found, array[index])


@pytest.mark.parametrize("kind", [Type.i64, Type.boolean, Type.f64, Type.u8, Type.f32])
def test_identities_of_any_type(kind):
    x, array = Parameter(kind, [2, 3]), np.ones((2, 3), kind.to_dtype())
    for build in (lambda x: ops.Tile(x, np.int64([1, 1])), lambda x: ops.Convert(x, kind), ops.Identity):
        model = Model(build(x), [x])
        assert len(CORE.query_model(model, "ONEDNN")) == len(model.get_ordered_ops())
        np.testing.assert_array_equal(CORE.compile_model(model, "ONEDNN")(array)[0], array)


def test_error_function():
    array = np.concatenate([np.linspace(-5, 5, 20001), np.geomspace(1e-37, 1, 5000), [0, 1e30]]).astype(np.float32)
    x = Parameter(Type.f32, array.shape)
    found = CORE.compile_model(Model(ops.Erf(x), [x]), "ONEDNN")(array)[0]
    expected = np.vectorize(math.erf)(array.astype(np.float64))
    assert (np.abs(found - expected) <= 4 * np.spacing(np.abs(expected.astype(np.float32)))).all()


@pytest.mark.parametrize("kind", [Type.f16, Type.bf16])
def test_integers_as_16_bits(kind):
    array = np.int32([0, 1, -7, 255, 2049, -65519, 65520, 2**24 + 1, 2**31 - 1, -(2**31)])
    x = Parameter(Type.i32, PartialShape([-1]))
    found = CORE.compile_model(Model(ops.Convert(x, kind), [x]), "ONEDNN")(array)[0]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, array.astype(kind.to_dtype()))


@pytest.mark.parametrize("norm", [ops.ReduceL1, ops.ReduceL2])
def test_norms_of_single_elements(norm):
    x, array = Parameter(Type.f32, PartialShape([-1, -1, 3])), np.float32([[[-2.5, 0, np.nan]], [[np.inf, -np.inf, 7]]])
    found = CORE.compile_model(Model(norm(x, np.int64([1])), [x]), "ONEDNN")(array)[0]
    np.testing.assert_array_equal(found, np.abs(array[:, 0]))
