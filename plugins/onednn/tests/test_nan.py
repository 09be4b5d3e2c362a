"""Device ONEDNN: NaN and infinity, against numpy. ``test_instruction_sets.py`` runs this file too."""

import functools
import math

import numpy as np
import pytest
from hetero_onednn import compiled_model

from hetero import Core, Model, Parameter, PartialShape, Type, ops

CORE = Core()
rng = np.random.default_rng(9)
SPECIAL = np.float32([np.nan, -np.nan, np.inf, -np.inf, 0, -0.0, 1e-40, -1e-40, 3e38, -3e38, 1, -1, 0.3, -0.3, 7, -7])
quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def run(build, *arrays, shapes=None):
    parameters = [Parameter(Type.f32, shape) for shape in shapes or [array.shape for array in arrays]]
    node = build(*parameters)
    return CORE.compile_model(Model([node.output(0)], parameters), "ONEDNN")(list(arrays))[0]


def numbers(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


UNARY = {
    "Relu": (ops.Relu, lambda x: np.maximum(x, 0)),
    "Exp": (ops.Exp, np.exp),
    "Log": (ops.Log, np.log),
    "Clamp": (lambda x: ops.Clamp(x, -2.0, 5.0), lambda x: np.clip(x, -2, 5)),
    "HardSigmoid": (
        lambda x: ops.HardSigmoid(x, np.float32(0.2), np.float32(0.5)), lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    ),
    "HSigmoid": (ops.HSigmoid, lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    "Minimum": (lambda x: ops.Minimum(x, np.float32(0.25)), lambda x: np.minimum(x, 0.25)),
    "Maximum": (lambda x: ops.Maximum(np.float32(0.25), x), lambda x: np.maximum(x, 0.25)),
    "PRelu": (lambda x: ops.PRelu(x, np.float32([0.5])), lambda x: np.where(x > 0, x, 0.5 * x)),
    "PRelu 0": (lambda x: ops.PRelu(x, np.float32([0])), lambda x: np.where(x >= 0, x, 0 * x)),
    "Elu": (lambda x: ops.Elu(x, 1.0), lambda x: np.where(x > 0, x, np.expm1(x))),
    "Sigmoid": (ops.Sigmoid, sigmoid),
    "Tanh": (ops.Tanh, np.tanh),
    "Swish": (ops.Swish, lambda x: x * sigmoid(x)),
    "HSwish": (ops.HSwish, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "Sqrt": (ops.Sqrt, np.sqrt),
    "Round": (lambda x: ops.Round(x, "half_to_even"), np.rint),
    "Abs": (ops.Abs, np.abs),
    "Negative": (ops.Negative, np.negative),
    "twice": (lambda x: ops.Clamp(ops.Relu(ops.Multiply(x, np.float32(2))), 0.0, 6.0), lambda x: np.clip(2 * x, 0, 6)),
}  # fmt: skip


@quiet
@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("count", [1, 16, 37])
def test_elementwise(name, count):
    """Each number comes first once, as primitives compute the first, the middle and the last elements differently."""
    build, formula = UNARY[name]
    for start in range(len(SPECIAL)):
        x = np.resize(np.roll(SPECIAL, -start), (count,))
        expected = formula(x.astype(np.float64)).astype(np.float32)
        np.testing.assert_allclose(run(build, x), expected, rtol=1e-5, atol=1e-37, err_msg=str(x[:1]))


@quiet
@pytest.mark.parametrize("mode", ["erf", "tanh"])
@pytest.mark.parametrize("count", [1, 16, 37])
def test_gelu(mode, count):
    """Gelu of large numbers is the number, or 0 if it is negative."""
    special = np.float32([np.nan, np.inf, 3e38, 1e31, 1e20, 0, -1e20, -1e31, -3e38])
    expected = np.float32([np.nan, np.inf, 3e38, 1e31, 1e20, 0, 0, 0, 0])
    for start in range(len(special)):
        x, wanted = (np.resize(np.roll(array, -start), (count,)) for array in (special, expected))
        np.testing.assert_allclose(run(lambda x: ops.Gelu(x, mode), x), wanted, rtol=1e-6, err_msg=str(x[:1]))


@quiet
@pytest.mark.parametrize("shape", [(16, 16), (16, 1), (1, 16), (1, 1)], ids=str)
@pytest.mark.parametrize(
    ("build", "formula"),
    [
        (ops.Maximum, np.maximum), (ops.Minimum, np.minimum), (ops.Add, np.add), (ops.Subtract, np.subtract),
        (ops.Multiply, np.multiply), (ops.Divide, np.divide),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)  # fmt: skip
def test_pairs(build, formula, shape):
    x, other = np.tile(SPECIAL, (16, 1)), np.broadcast_to(SPECIAL[:, None], (16, 16))[: shape[0], : shape[1]]
    expected = formula(x, other)
    np.testing.assert_allclose(run(build, x, np.ascontiguousarray(other)), expected, rtol=1e-6, atol=1e-37)


@quiet
@pytest.mark.parametrize("axes", [(1,), (0, 2), (2,), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1"])
def test_reductions(name, special, axes):
    formulas = {"ReduceL1": lambda x, axes: np.abs(x).sum(axes), "ReduceProd": np.prod}
    x = rng.standard_normal((3, 5, 7)).astype(np.float32)
    x[0, 1, 2] = x[2, 4, 6] = x[1, 0, 0] = special
    formula = formulas.get(name) or getattr(np, name.removeprefix("Reduce").lower())
    found = run(lambda a: getattr(ops, name)(a, np.int64(axes), False), x)
    np.testing.assert_allclose(found, formula(x, axes), rtol=1e-4, atol=1e-5)


@quiet
@pytest.mark.parametrize("axes", [(1,), (0, 2), (2,), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, 0.0, -0.0])
@pytest.mark.parametrize("name", ["ReduceMax", "ReduceMin"])
def test_extrema_of_equal_elements(name, special, axes):
    """Of an attention mask that excludes a whole row, the maximum is -Inf."""
    array = numbers(4, 6, 5)
    array[1:3, :, 2:4] = special
    array[:, 2] = special
    found = run(lambda x: getattr(ops, name)(x, np.array(axes, np.int64), True), array)
    expected = getattr(array, name[-3:].lower())(axes, keepdims=True)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", [ops.Softmax, ops.LogSoftmax])
def test_softmax(kind, special, axis):
    x = rng.standard_normal((4, 5, 6)).astype(np.float32)
    x[1, 2, 3] = x[0, 0, 0] = special
    shifted = x - x.max(axis, keepdims=True)
    sums = np.exp(shifted).sum(axis, keepdims=True)
    expected = np.exp(shifted) / sums if kind is ops.Softmax else shifted - np.log(sums)
    np.testing.assert_allclose(run(lambda a: kind(a, axis), x), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_max_pool(special, dilation):
    x = rng.standard_normal((1, 3, 9, 9)).astype(np.float32)
    x[0, 0, 4, 4] = x[0, 2, 0, 8] = special
    steps = dilation * np.arange(2)
    windows = np.lib.stride_tricks.sliding_window_view(x, (1 + dilation, 1 + dilation), (2, 3))
    expected = windows[:, :, ::2, ::2][..., steps[:, None], steps].max((-1, -2))
    found = run(lambda a: ops.MaxPool(a, [2, 2], [dilation] * 2, [0, 0], [0, 0], [2, 2]), x)
    np.testing.assert_array_equal(found, expected)


PRODUCTS = {
    "convolution": (
        lambda x, w: ops.Convolution(x, w[:, :, None, None], [1, 1], [0, 0], [0, 0], [1, 1]),
        (1, 16, 3, 5),
    ),
    "matmul": (lambda x, w: ops.MatMul(x, w, False, True), (1, 16, 3, 16)),
}
EPILOGUES = {
    "relu": (ops.Relu, lambda x: np.maximum(x, 0)),
    "clip": (lambda x: ops.Clamp(x, 0.0, 6.0), lambda x: np.clip(x, 0, 6)),
    "hard sigmoid": (ops.HSigmoid, lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    "exp": (ops.Exp, np.exp),
    "maximum": (lambda x: ops.Maximum(x, np.float32(1)), lambda x: np.maximum(x, 1)),
    "prelu": (lambda x: ops.PRelu(x, np.float32([0.5])), lambda x: np.where(x > 0, x, x / 2)),
}


@quiet
@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("name", EPILOGUES)
def test_epilogues_of_products(product, name):
    """Ordinary numbers, NaN, infinity and again ordinary numbers, by one request."""
    (build, shape), (epilogue, formula) = PRODUCTS[product], EPILOGUES[name]
    weights, x = np.eye(16, dtype=np.float32), Parameter(Type.f32, shape)
    model = CORE.compile_model(Model(epilogue(build(x, weights)), [x]), "ONEDNN")
    request = model.create_infer_request()
    for special in (2.0, np.nan, np.inf, -np.inf, 3.0):
        array = rng.standard_normal(shape).astype(np.float32)
        array[0, 3, 1, 2] = special
        expected = formula(np.einsum("nchw,oc->nohw", array, weights) if product == "convolution" else array @ weights)
        np.testing.assert_allclose(request.infer([array])[0], expected, rtol=1e-5, atol=1e-6)


@quiet
def test_relu_after_sums_that_are_too_large():
    """A deep network, whose values may be too large: ordinary numbers, and numbers with which they are."""
    x = Parameter(Type.f32, [1, 16, 4, 4])
    value, scale = x.output(0), np.float32(1e6)
    for _ in range(6):
        product = ops.Convolution(
            value, scale * np.eye(16, dtype=np.float32)[:, :, None, None], [1, 1], [0, 0], [0, 0], [1, 1]
        )
        value = ops.Relu(product).output(0)
    difference = np.kron(np.eye(8), [[1, -1], [-1, 1]]).astype(np.float32)[:, :, None, None]
    last = ops.Relu(ops.Convolution(value, difference, [1, 1], [0, 0], [0, 0], [1, 1]))
    model = CORE.compile_model(Model(last, [x]), "ONEDNN")
    small = rng.random((1, 16, 4, 4)).astype(np.float32)
    grown = small * np.float32(1e36)
    expected = np.maximum(np.einsum("nchw,oc->nohw", grown, difference[..., 0, 0]), 0)
    np.testing.assert_allclose(model(small)[0], expected, rtol=1e-4)
    # Infinity minus infinity.
    assert np.isnan(model(small + np.float32(1e3))[0]).all()


@quiet
def test_relu_after_a_logarithm():
    """-Inf of a number whose logarithm is none is no NaN."""
    x = np.float32([0, 1, -1, 2])
    np.testing.assert_array_equal(run(lambda a: ops.Relu(ops.Log(a)), x), np.maximum(np.log(x), 0))


@quiet
def test_dynamic_shapes():
    x = Parameter(Type.f32, PartialShape([-1, 4]))
    request = CORE.compile_model(Model(ops.Softmax(ops.Relu(x), 1), [x]), "ONEDNN").create_infer_request()
    for rows in (1, 3):
        array = rng.standard_normal((rows, 4)).astype(np.float32)
        assert np.isfinite(request.infer([array])[0]).all()
        array[0, 1] = np.nan
        found = request.infer([array])[0]
        assert np.isnan(found[0]).all() and np.isfinite(found[1:]).all()


def test_ordinary_inputs_need_no_other_programs(monkeypatch):
    made = []
    original = compiled_model.lower_model
    monkeypatch.setattr(
        compiled_model, "lower_model", lambda *args, **options: made.append(options) or original(*args, **options)
    )
    x = Parameter(Type.f32, [1, 16])
    model = CORE.compile_model(
        Model(ops.Relu(ops.MatMul(x, np.eye(16, dtype=np.float32), False, False)), [x]), "ONEDNN"
    )
    model(np.full((1, 16), 255, np.float32))
    assert len(made) == 1
    model(np.full((1, 16), np.nan, np.float32))
    assert len(made) == 2


def pooled(x):
    image = ops.Reshape(x, [2, 1, 2, 2], False)
    return ops.MaxPoolV1(image, [1, 1], [0, 0], [0, 0], [2, 2])


def softmax(x):
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


AFTER_PRODUCTS = {
    "Softmax": (lambda x: ops.Softmax(x, 1), softmax),
    "Gelu": (lambda x: ops.Gelu(x, "erf"), lambda x: 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))),
    "ReduceMax": (lambda x: ops.ReduceMax(x, [1], True), lambda x: x.max(1, keepdims=True)),
    "MaxPool": (pooled, lambda x: x.max(1).reshape(2, 1, 1, 1)),
    "Clamp": (lambda x: ops.Clamp(x, -3.0, 3.0), lambda x: np.clip(x, -3, 3)),
    "Maximum": (lambda x: ops.Maximum(x, np.float32(0.5)), lambda x: np.maximum(x, 0.5)),
}


@quiet
@pytest.mark.parametrize("name", AFTER_PRODUCTS)
def test_values_that_are_checked(name):
    """Ordinary inputs become NaN in products of large weights: the request runs the program that keeps it, and back."""
    build, formula = AFTER_PRODUCTS[name]
    large = np.eye(4, dtype=np.float32) * np.float32(1e20)
    differences = np.float32([[1, 0, 0, 0], [-1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    x = Parameter(Type.f32, [2, 4])
    value = functools.reduce(
        lambda value, weights: ops.MatMul(value, weights, False, False), [x, large, large, differences]
    )
    node = build(ops.Multiply(value, np.float32(1e-38)))
    request = CORE.compile_model(Model([node.output(0)], [x]), "ONEDNN").create_infer_request()
    for array in (numbers(2, 4) * 1e-6, np.full([2, 4], 3, np.float32), numbers(2, 4) * 1e-6):
        products = array @ large @ large @ differences * np.float32(1e-38)
        expected = formula(products.astype(np.float64))
        np.testing.assert_allclose(request.infer([array.astype(np.float32)])[0], expected, rtol=1e-5, atol=1e-6)
