"""Models that a device once computed wrong, on each device alone and cut between two devices that take turns.

Expected values are formulas of numpy. Other faults have tests beside what they were found in: variables in
``tests/dispatch/execution/test_shared_variable.py``, bodies in ``tests/ops/control_flow``, element types in
``tests/dispatch/test_types_of_any_kind.py``, implementations of engines in the tests of their plugins.
"""

import math
from itertools import cycle

import numpy as np
import pytest

from hetero import Constant, Core, Model, Parameter, Type, ops
from hetero.graph import AFFINITY, is_terminal
from hetero.system.errors import HeteroError, UnsupportedValueError
from tests.devices import ALL_KINDS, ENGINES, GPUS

CORE = Core()
rng = np.random.default_rng(0)
PAIRS = [ENGINES, (ENGINES[0], GPUS[0]), (ENGINES[1], "TEMPLATE"), (GPUS[0], "TEMPLATE")]


@pytest.fixture(params=[*((device,) for device in (*ALL_KINDS, "CPU")), *PAIRS], ids="+".join)
def check(request):
    """A function that asserts the results of operations: on one device, or on two that take turns along the model.

    TEMPLATE runs the operations that a device refuses.
    """
    devices = request.param

    def assert_results(build, inputs, expected, rtol=0.0, atol=0.0):
        """Assert that the outputs that ``build`` makes of parameters are as expected, for static and dynamic shapes."""
        for dynamic in (False, True):
            shapes = [[-1] * array.ndim if dynamic else array.shape for array in inputs]
            parameters = [Parameter(Type(array.dtype), shape) for array, shape in zip(inputs, shapes)]
            model = Model(build(*parameters), parameters, "m")
            try:
                results = compile_in_turns(model, devices)(inputs)
            except UnsupportedValueError:  # the device says that it cannot, and TEMPLATE takes over
                results = CORE.compile_model(model, f"HETERO:{devices[0]},TEMPLATE")(inputs)
            for found, wanted in zip(results.to_tuple(), expected, strict=True):
                assert found.dtype == wanted.dtype
                np.testing.assert_allclose(found, wanted, rtol, atol, err_msg=f"{dynamic=}")

    return assert_results


def compile_in_turns(model, devices):
    supported = {device: CORE.query_model(model, device) for device in devices}
    names = [node.friendly_name for node in model.get_ordered_ops() if not is_terminal(node)]
    if len(devices) == 1 and set(names) <= supported[devices[0]].keys():
        return CORE.compile_model(model, devices[0])
    pins = {name: device for name, device in zip(names, cycle(devices)) if name in supported[device]}
    for node in model.get_ordered_ops():
        if node.friendly_name in pins:
            node.rt_info[AFFINITY] = pins[node.friendly_name]
    return CORE.compile_model(model, "HETERO:" + ",".join(dict.fromkeys((*devices, "TEMPLATE"))))


def numbers(*shape):
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("x", [np.int64([2**40 + 3, -(2**50), 2**61, 7, 3 * 10**9]), np.arange(1000) + 2**33], ids=len)
def test_integers_beyond_32_bits(check, x):
    def build(x):
        axis = np.int64(0)
        return [
            *(kind(x) for kind in (ops.Negative, ops.Abs, ops.Sign, ops.Relu)),
            ops.Add(x, x), ops.Maximum(x, ops.Negative(x)), ops.Gather(x, np.int64([3, -1]), axis),
            ops.ReduceSum(x, axis), ops.ReduceMax(x, axis), ops.CumSum(x, axis),
            *ops.TopK(x, np.int64(2), 0, "max", "value", "i64").outputs(),
        ]  # fmt: skip

    order = np.argsort(-x, kind="stable")[:2]
    results = [-x, abs(x), np.sign(x), np.maximum(x, 0), x + x, abs(x), x[[3, -1]], x.sum(), x.max(), x.cumsum()]
    check(build, [x], [*results, x[order], order])


def test_conversions_beyond_32_bits(check):
    x = np.float32([5e18, 1e15, 3e9, -3e9, 7.7])
    check(lambda x: ops.Convert(x, "i64"), [x], [x.astype(np.int64)])
    check(lambda x: ops.Convert(x, "u32"), [x[2:3]], [x[2:3].astype(np.uint32)])
    check(lambda x: ops.Convert(x, "f64"), [np.int64([2**40 + 3, -(2**53)])], [np.float64([2**40 + 3, -(2**53)])])


def test_products_of_integers_are_exact(check):
    """The sums are odd, and beyond 2**24, from which on f32 has even numbers only."""
    a, b = np.full((4, 1024), 255, np.uint8), np.full((1024, 8), 127, np.int8)
    a[:, 0], b[:, 1::2] = 254 + np.arange(4) % 2, -128

    def build(x, y):
        return ops.MatMul(ops.Convert(x, "i32"), ops.Convert(y, "i32"), False, False)

    expected = a.astype(np.int32) @ b.astype(np.int32)
    check(build, [a, b], [expected])
    check(lambda x: build(x, Constant(b)), [a], [expected])


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("count", [4, 2000])
def test_floor_division_of_negative_integers(check, kind, count):
    a, b = np.resize([7, -7, 7, -7], count).astype(kind), np.resize([2, 2, -2, -2], count).astype(kind)
    check(ops.Divide, [a, b], [a // b])
    check(lambda x: ops.Negative(ops.Divide(ops.Negative(x), Constant(kind([3])))), [a], [-(-a // 3)])


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_not_finite_stays_so(check, special):
    def build(x):
        axis, quarter = np.int64([1]), Constant(np.float32(0.25))
        return [
            ops.Clamp(x, 0.0, 6.0), ops.HardSigmoid(x, np.float32(0.2), np.float32(0.5)), ops.Relu(x), ops.Exp(x),
            ops.Minimum(x, quarter), ops.Maximum(x, quarter), ops.ReduceMin(x, axis), ops.ReduceMax(x, axis),
            ops.ReduceSum(ops.Softmax(x, 1), axis),
        ]  # fmt: skip

    x = np.float32([[special, -1, 2, 3], [1, special, -2, 0.5], [-1, 2, 0, 4]])
    sums = np.exp(x - x.max(1, keepdims=True)).sum(1) / np.exp(x - x.max(1, keepdims=True)).sum(1)
    expected = [
        np.clip(x, 0, 6), np.clip(0.2 * x + 0.5, 0, 1), np.maximum(x, 0), np.exp(x), np.minimum(x, 0.25),
        np.maximum(x, 0.25), x.min(1), x.max(1), sums,
    ]  # fmt: skip
    check(build, [x], [np.float32(value) for value in expected], rtol=1e-5)


def test_logarithms_near_one(check):
    n = np.arange(1, 129, dtype=np.float32)
    check(ops.Log, [n / 8], [np.log(n.astype(np.float64) / 8).astype(np.float32)], rtol=4 * 2**-23)
    # Buckets of relative positions, as in T5.
    scale = np.log(np.float32(16))
    check(
        lambda x: ops.Convert(ops.Multiply(ops.Divide(ops.Log(x), Constant(scale)), Constant(np.float32(8))), "i32"),
        [n / 8], [(np.log(n / 8) / scale * np.float32(8)).astype(np.int32)],
    )  # fmt: skip


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), (2, 1, 3)], ids=str)
def test_prelu_with_slopes_along_an_axis(check, shape):
    """A vector as long as axis 1 belongs to it, another one to the last axis."""
    x, slope = numbers(*shape), np.float32([0.1, 0.2, 0.3])
    aligned = slope[:, None] if shape == (2, 3, 4) else slope
    check(lambda x: ops.PRelu(x, Constant(slope)), [x], [np.where(x < 0, x * aligned, x)], rtol=1e-6)


@pytest.mark.parametrize("kind", [np.float32, np.float16])
@pytest.mark.parametrize("block", [16, 32])
def test_weights_of_4_bits_in_blocks(check, kind, block):
    elements = rng.integers(0, 16, (8, 64 // block, block))
    scales = np.exp2(rng.integers(-6, -3, (8, 64 // block, 1))).astype(kind)  # exact in f16

    def build(x):
        weights = ops.Convert(Constant(elements.astype(Type.u4.to_dtype())), Type(kind))
        points = ops.Convert(Constant(np.full((8, 64 // block, 1), 8).astype(Type.u4.to_dtype())), Type(kind))
        scaled = ops.Multiply(ops.Subtract(weights, points), Constant(scales))
        return ops.MatMul(x, ops.Reshape(scaled, np.int64([8, 64]), False), False, True)

    x = numbers(3, 64).astype(kind)
    expected = (x.astype(np.float64) @ ((elements - 8) * scales.astype(np.float64)).reshape(8, 64).T).astype(kind)
    # Sums of 64 products, which a device may add up in the type of its inputs.
    check(build, [x], [expected], rtol=1e-5 if kind is np.float32 else 1e-2, atol=1e-5 if kind is np.float32 else 2e-2)


@pytest.mark.parametrize("index", [4, -5, -1000, 2**31, 2**40])
def test_an_index_out_of_range_gives_zeros_or_an_error(check, index):
    x = numbers(4, 5)
    check(ops.GatherND, [x, np.int64([[3], [1]])], [x[[3, 1]]])
    try:
        check(ops.GatherND, [x, np.int64([[index], [1]])], [np.stack([np.zeros_like(x[0]), x[1]])])
    except HeteroError as error:
        assert str(index) in str(error) or "range" in str(error)


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize(("shape", "axes"), [((4, 7, 3), [-1]), ((4, 7, 3), [1]), ((2, 7, 4, 3), [2, 3])])
def test_a_constant_after_a_reduction(check, shape, axes, keep):
    x = numbers(*shape)
    mean = x.mean(tuple(axes), keepdims=keep)
    factors = np.arange(1, 1 + mean[0].size, dtype=np.float32).reshape(mean.shape[1:])
    check(
        lambda x: ops.Multiply(ops.ReduceMean(x, np.int64(axes), keep), Constant(factors)), [x], [mean * factors],
        rtol=1e-5, atol=1e-5,
    )  # fmt: skip


@pytest.mark.parametrize("shape", [(2, 1, 2, 8), (4, 1, 3, 16), (2, 2, 2, 8), (1, 2, 3, 8)], ids=str)
def test_a_moved_axis_of_length_1(check, shape):
    x = numbers(*shape)
    moved = x.transpose(0, 2, 1, 3)
    for other in (moved[:, :1] + 1, moved + 1):
        check(
            lambda x, y: [kind(ops.Transpose(x, np.int64([0, 2, 1, 3])), y) for kind in (ops.Multiply, ops.Add)],
            [x, other], [moved * other, moved + other], rtol=1e-6,
        )  # fmt: skip


@pytest.mark.parametrize("length", [768, 3])
@pytest.mark.parametrize("rank", [0, 1])
def test_a_vector_times_a_number_that_is_not_constant(check, length, rank):
    number, vector = np.full((1,) * rank, 0.7, np.float32), numbers(length)
    expected = [vector * number, np.maximum(vector * number, 0), vector + number * number]

    def build(x, y):
        return [ops.Multiply(x, y), ops.Relu(ops.Multiply(x, y)), ops.Add(y, ops.Multiply(x, x))]

    check(build, [number, vector], expected, rtol=1e-6, atol=1e-6)
    check(lambda x: build(x, Constant(vector)), [number], expected, rtol=1e-6, atol=1e-6)


def gelu(x):
    return ops.Multiply(x, ops.Add(ops.Erf(ops.Divide(x, np.float32(2**0.5))), np.float32(1)))


def times_rows(x):
    rows = ops.Gather(ops.ShapeOf(x), np.int64(0), np.int64(0))
    return ops.Multiply(x, ops.Convert(ops.Select(ops.Less(rows, np.int64(10)), rows, np.int64(10)), "f32"))


def quantized(x):
    rounded = ops.Round(ops.Multiply(x, np.float32(16)), "half_to_even")
    return ops.Multiply(ops.Convert(ops.Convert(ops.Clamp(rounded, 0.0, 255.0), "u8"), "f32"), np.float32(0.0625))


# Operations that an engine may take only beside others, or not without elements, and their results for x.
LONE = {
    "gelu": (gelu, lambda x: x * (1 + np.vectorize(math.erf, [np.float64])(x / np.float32(2**0.5)))),
    "times rows": (times_rows, lambda x: x * min(len(x), 10)),
    "quantized": (quantized, lambda x: np.clip(np.round(x * 16), 0, 255) / 16),
    "Tile by ones": (lambda x: ops.Tile(x, np.int64([1, 1])), np.array),
    "Slice with a step": (
        lambda x: ops.Slice(x, np.int64([0]), np.int64([99]), np.int64([2]), np.int64([1])), lambda x: x[:, ::2]
    ),
    "ReduceSum": (lambda x: ops.ReduceSum(x, np.int64([1])), lambda x: x.sum(1)),
    "MatMul": (lambda x: ops.MatMul(x, x, False, True), lambda x: x @ x.T),
    "Pad": (
        lambda x: ops.Pad(x, np.int64([0, 1]), np.int64([0, 2]), "constant"), lambda x: np.pad(x, ((0, 0), (1, 2)))
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", [(3, 16), (4, 0)], ids=str)
@pytest.mark.parametrize("name", LONE)
def test_operations_that_are_pinned_alone(check, name, shape):
    build, formula = LONE[name]
    x = numbers(*shape)
    check(lambda x: build(ops.Abs(x)), [x], [formula(np.abs(x)).astype(np.float32)], rtol=1e-5, atol=1e-5)
