"""NaN and infinity behind products on OPENVINO, against numpy: inferences that need it run an exact model."""

import io

import numpy as np
import pytest
from hetero_openvino import plugin

from hetero import Constant, Core, Model, Parameter, Type, ops

CPU = "OPENVINO.CPU"
CORE = Core()
rng = np.random.default_rng(3)
HARD = (np.nan, -np.nan, np.inf, -np.inf, 3e38, -3e38, 2.0**25)
quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def gelu(x: np.ndarray) -> np.ndarray:
    root = np.float32(np.sqrt(2 / np.pi))
    return np.where(x == np.inf, x, np.float32(0.5) * x * (1 + np.tanh(root * (x + np.float32(0.044715) * x**3))))


def largest_of_pairs(x: np.ndarray) -> np.ndarray:
    return x.reshape(*x.shape[:2], x.shape[2] // 2, 2, x.shape[3] // 2, 2).max((3, 5))


FUNCTIONS = {
    "Relu": (ops.Relu, lambda x: np.maximum(x, 0)),
    "Clamp": (lambda x: ops.Clamp(x, -2.0, 5.0), lambda x: np.clip(x, -2, 5)),
    "HSigmoid": (ops.HSigmoid, lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    "HardSigmoid": (
        lambda x: ops.HardSigmoid(x, np.float32(0.2), np.float32(0.5)), lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    ),
    "Gelu": (lambda x: ops.Gelu(x, "tanh"), gelu),
    "Maximum": (lambda x: ops.Maximum(x, np.float32(0.25)), lambda x: np.maximum(x, 0.25)),
    "PRelu 0": (lambda x: ops.PRelu(x, np.float32([0])), lambda x: np.where(x >= 0, x, 0 * x)),
    "FakeQuantize": (
        lambda x: ops.FakeQuantize(x, *(np.float32(limit) for limit in (-1.28, 1.27) * 2), 256),
        lambda x: np.clip(np.rint(x * 100), -128, 127) / 100,
    ),
    "Exp": (ops.Exp, np.exp),
    "MaxPool": (lambda x: ops.MaxPool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]), largest_of_pairs),
    "ReduceMax": (lambda x: ops.ReduceMax(x, np.int64([1]), True), lambda x: x.max(1, keepdims=True)),
    "Softmax": (
        lambda x: ops.Softmax(x, 1),
        lambda x: np.exp(x - x.max(1, keepdims=True)) / np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True),
    ),
    "Clamp of Clamp": (lambda x: ops.Clamp(ops.Clamp(x, -2.0, 5.0), -1.0, 6.0), lambda x: np.clip(x, -1, 5)),
    "Maximum of Maximum": (
        lambda x: ops.Maximum(ops.Maximum(x, np.float32(0.25)), np.float32(0.5)), lambda x: np.maximum(x, 0.5),
    ),
    "Minimum of Maximum": (
        lambda x: ops.Minimum(ops.Maximum(x, np.float32(0.25)), np.float32(0.5)), lambda x: np.clip(x, 0.25, 0.5),
    ),
    "Clamp of Relu": (lambda x: ops.Clamp(ops.Relu(x), -1.0, 6.0), lambda x: np.clip(x, 0, 6)),
    "Relu of Relu": (lambda x: ops.Relu(ops.Relu(x)), lambda x: np.maximum(x, 0)),
    "MaxPool of Relu": (
        lambda x: ops.MaxPool(ops.Relu(x), [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]),
        lambda x: largest_of_pairs(np.maximum(x, 0)),
    ),
}  # fmt: skip
WEIGHTS = rng.standard_normal((4, 4)).astype(np.float32)
PRODUCTS = {
    "Convolution": lambda x: ops.Convolution(x, WEIGHTS[:, :, None, None], [1, 1], [0, 0], [0, 0], [1, 1]),
    "MatMul": lambda x: ops.Transpose(
        ops.MatMul(ops.Transpose(x, np.int64([0, 2, 3, 1])), WEIGHTS, False, True), np.int64([0, 3, 1, 2])
    ),
}


def product(x: np.ndarray) -> np.ndarray:
    """Sum the products in f32 one after the other, with NaN and infinities as in each order."""
    terms = WEIGHTS[None, :, :, None, None] * x[:, None]
    return terms.sum(2, dtype=np.float32)


def with_number(number: float) -> np.ndarray:
    x = rng.standard_normal((1, 4, 6, 6)).astype(np.float32)
    x[0, 1, 2, 3] = number
    return x


@quiet
@pytest.mark.parametrize("shape", [[1, 4, 6, 6], [-1, 4, -1, -1]], ids=["static", "dynamic"])
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", PRODUCTS)
def test_functions_of_products(kind, function, shape):
    build, expected = FUNCTIONS[function]
    x = Parameter(Type.f32, shape)
    compiled = CORE.compile_model(Model([build(PRODUCTS[kind](x))], [x]), CPU)
    for number in (1, *HARD, 1):
        array = with_number(number)
        np.testing.assert_allclose(compiled(array)[0], expected(product(array)), 1e-4, 1e-5, err_msg=f"{number}")


@quiet
def test_a_deep_chain():
    """Relu(x · W) 40 times, with weights whose sums by the worst case exceed f32."""
    weights = rng.standard_normal((64, 64)).astype(np.float32)
    x = Parameter(Type.f32, [2, 64])
    value = x
    for _ in range(40):
        value = ops.Multiply(ops.Relu(ops.MatMul(value, weights, False, False)), np.float32(0.18))
    compiled = CORE.compile_model(Model([value], [x]), CPU)
    for number in (1, np.nan, np.inf, 1):
        array = expected = rng.standard_normal((2, 64)).astype(np.float32)
        array[0, 0] = number
        for _ in range(40):
            expected = np.maximum(expected @ weights, 0) * np.float32(0.18)
        np.testing.assert_allclose(compiled(array)[0], expected, 1e-3, 1e-6)


@quiet
@pytest.mark.parametrize(
    "build, expected",
    [
        (lambda x: ops.Divide(x, x), lambda x: x / x),
        (ops.Sqrt, np.sqrt),
        (lambda x: ops.Multiply(ops.Multiply(x, np.float32(1e30)), np.float32(1e30)), lambda x: x * np.float32(np.inf)),
    ],
)
def test_nan_of_ordinary_numbers_behind_a_product(build, expected):
    x = Parameter(Type.f32, [1, 4])
    node = ops.Relu(ops.MatMul(build(x), WEIGHTS, False, False))
    array = np.float32([[0, -1, 1, 2]])
    found = CORE.compile_model(Model([node], [x]), CPU)(array)[0]
    np.testing.assert_allclose(found, np.maximum(expected(array) @ WEIGHTS, 0), 1e-5)


@quiet
@pytest.mark.parametrize(
    "last", [ops.Relu, lambda x: ops.Relu(ops.MatMul(ops.Sigmoid(x), np.eye(2, dtype=np.float32), False, False))]
)
def test_large_weights_behind_each_other(last):
    """Infinity minus infinity from numbers of 1."""
    x = Parameter(Type.f32, [1, 2])
    node = x
    for weights in ([[1e30, 0], [0, 1e30]], [[1e30, 0], [0, -1e30]], [[1, 1], [1, 1]]):
        node = ops.MatMul(node, np.float32(weights), False, False)
    found = CORE.compile_model(Model([last(node)], [x]), CPU)(np.ones((1, 2), np.float32))[0]
    assert np.isnan(found).all()


@pytest.fixture
def compilations(monkeypatch):
    made = []
    original = plugin.translate
    monkeypatch.setattr(
        plugin, "translate", lambda model, *finite: made.append(any(finite)) or original(model, *finite)
    )
    return made


def relu_of_product(x: Parameter) -> Model:
    return Model([ops.Relu(PRODUCTS["Convolution"](x))], [x])


def test_the_exact_model_is_compiled_when_it_is_needed(compilations):
    compiled = Core().compile_model(relu_of_product(Parameter(Type.f32, [1, 4, 6, 6])), CPU)
    requests = [compiled.create_infer_request() for _ in range(2)]
    requests[0].infer(with_number(1))
    assert compilations == [True]
    for number in (np.nan, 1, np.inf):
        for request in requests:
            request.infer(with_number(number))
    assert compilations == [True, False]


@pytest.mark.parametrize("build", [ops.Sqrt, lambda x: ops.Relu(ops.Sqrt(x)), ops.Sigmoid], ids=["none", "all", "no"])
def test_one_model_is_enough_if_the_other_one_is_the_same(compilations, build):
    x = Parameter(Type.f32, [4])
    compiled = Core().compile_model(Model([build(x)], [x]), CPU)
    assert np.isnan(compiled(np.float32([1, 2, 3, np.nan]))[0][3])
    assert compilations == [False]


def guarded_quotient(x: Parameter) -> ops.Select:
    """Return 1 / x, and 0 for 1 / 0, as TensorFlow's DivNoNan."""
    return ops.Select(ops.Equal(x, np.float32(0)), np.float32(0), ops.Divide(np.float32(1), x))


# Operations that may give NaN or infinity, their formulas, a divisor or data with only usual results, and others.
PARTIAL = {
    "Divide": (lambda x: ops.Divide(x, x), lambda x: x / x, 1, (0,)),
    "large quotient": (lambda x: ops.Divide(np.float32(1), x), lambda x: 1 / x, 1, (0, 1e-35)),
    "Log": (ops.Log, np.log, 1, (0, -1)),
    "Sqrt": (ops.Sqrt, np.sqrt, 1, (-1,)),
    "Select": (guarded_quotient, lambda x: np.where(x == 0, 0, 1 / x), 0, (1e-35,)),
}


def relu_of_partial(name: str, shape: list[int]) -> Model:
    x = Parameter(Type.f32, shape)
    node = ops.MatMul(PARTIAL[name][0](x), WEIGHTS, False, False, name="product")
    return Model([ops.Relu(node, name="relu")], [x])


@quiet
@pytest.mark.parametrize("shape", [[2, 4], [-1, -1]], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", PARTIAL)
def test_values_that_each_inference_checks(compilations, name, shape):
    _, formula, usual, unusual = PARTIAL[name]
    compiled = Core().compile_model(relu_of_partial(name, shape), CPU)
    for index, number in enumerate((usual, *unusual, usual)):
        array = np.float32([[2, 3, 4, 5], [6, 7, 8, number]])
        expected = np.maximum(formula(array) @ WEIGHTS, 0)
        np.testing.assert_allclose(compiled(array)[0], expected, 1e-4, 1e-5, err_msg=f"{number}")
        assert compilations == [True, False][: index + 1]


@quiet
@pytest.mark.parametrize("name", PARTIAL)
def test_imported_models_check_values(name):
    _, formula, usual, unusual = PARTIAL[name]
    imported = CORE.import_model(exported(CORE.compile_model(relu_of_partial(name, [2, 4]), CPU)), CPU)
    for number in (usual, *unusual, usual):
        array = np.float32([[2, 3, 4, 5], [6, 7, 8, number]])
        expected = np.maximum(formula(array) @ WEIGHTS, 0)
        np.testing.assert_allclose(imported(array)[0], expected, 1e-4, 1e-5, err_msg=f"{number}")


@pytest.mark.parametrize("name", PARTIAL)
def test_relu_is_fused_behind_a_value_that_is_checked(name):
    compiled = CORE.compile_model(relu_of_partial(name, [2, 4]), CPU)
    layers = [str(node.rt_info.get("originalLayersNames")) for node in compiled.get_runtime_model().get_ordered_ops()]
    assert any("product" in names and "relu" in names for names in layers)


@quiet
def test_values_of_integer_inputs_are_checked():
    x = Parameter(Type.i32, [1, 4])
    real = ops.Convert(x, "f32")
    compiled = CORE.compile_model(
        Model([ops.Relu(ops.MatMul(ops.Divide(real, real), WEIGHTS, False, False))], [x]), CPU
    )
    for number in (1, 0, 1):
        array = np.int32([[2, 3, number, 4]])
        np.testing.assert_allclose(compiled(array)[0], np.maximum((array / array) @ WEIGHTS, 0), 1e-5)


@quiet
@pytest.mark.parametrize("shape", [[], [1], [-1]], ids=["scalar", "vector", "dynamic"])
def test_scalars_and_vectors_are_checked(compilations, shape):
    x, scale = Parameter(Type.f32, [1, 4]), Parameter(Type.f32, shape)
    scaled = ops.Multiply(x, ops.Divide(np.float32(1), scale))
    compiled = Core().compile_model(Model([ops.Relu(ops.MatMul(scaled, WEIGHTS, False, False))], [x, scale]), CPU)
    array = np.float32([[1, 2, 3, 4]])
    for index, number in enumerate((2, 0, -1e-20, 2)):
        divisor = np.full([] if shape == [] else [1], number, np.float32)
        expected = np.maximum(array / divisor @ WEIGHTS, 0)
        np.testing.assert_allclose(compiled([array, divisor])[0], expected, 1e-4)
        assert compilations == [True, False][: index + 1]


@quiet
def test_many_values_are_corrected_instead_of_checked(compilations):
    x = Parameter(Type.f32, [1, 4])
    parts = [ops.Divide(ops.Add(x, np.float32(i)), ops.Subtract(x, np.float32(i))) for i in range(5)]
    compiled = Core().compile_model(
        Model([ops.Relu(ops.MatMul(part, WEIGHTS, False, False)) for part in parts], [x]), CPU
    )
    array = np.float32([[7, 3, 8, 9]])
    results = list(compiled(array).values())
    for i in range(5):
        np.testing.assert_allclose(results[i], np.maximum(((array + i) / (array - i)) @ WEIGHTS, 0), 1e-5)
    assert compilations == [False]


@quiet
def test_variables_keep_nan():
    x = Parameter(Type.f32, [1, 4])
    last = ops.ReadValue(Constant(np.zeros((1, 4), np.float32)), "last")
    model = Model([ops.Relu(ops.MatMul(last, WEIGHTS, False, False))], [ops.Assign(x, "last")], [x])
    request = CORE.compile_model(model, CPU).create_infer_request()
    before = np.zeros((1, 4), np.float32)
    for number in (1, np.nan, 2, np.inf, 3):
        array = np.float32([[1, 2, number, 3]])
        np.testing.assert_allclose(request.infer([array])[0], np.maximum(before @ WEIGHTS, 0), 1e-5, 1e-5)
        before = array


def exported(compiled) -> io.BytesIO:
    stream = io.BytesIO()
    compiled.export_model(stream)
    stream.seek(0)
    return stream


@quiet
def test_imported_models_keep_nan():
    compiled = CORE.compile_model(relu_of_product(Parameter(Type.f32, [1, 4, 6, 6])), CPU)
    imported = CORE.import_model(exported(compiled), CPU)
    for number in (1, np.nan, np.inf, 1):
        array = with_number(number)
        np.testing.assert_allclose(imported(array)[0], np.maximum(product(array), 0), 1e-4, 1e-5)
    again = CORE.import_model(exported(imported), CPU)
    assert np.isnan(again(with_number(np.nan))[0]).any()


@pytest.mark.parametrize("precision", ["f32", "bf16", "f16"])
def test_precisions(precision):
    compiled = CORE.compile_model(
        relu_of_product(Parameter(Type.f32, [1, 4, 6, 6])), CPU, {"INFERENCE_PRECISION_HINT": precision}
    )
    for number in (1, np.nan, 1):
        array = with_number(number)
        np.testing.assert_allclose(compiled(array)[0], np.maximum(product(array), 0), 0.05, 0.1)


@quiet
@pytest.mark.parametrize("kind", [Type.f16, Type.bf16])
def test_other_types(kind):
    x = Parameter(kind, [1, 4, 6, 6])
    node = ops.Convert(ops.Relu(PRODUCTS["Convolution"](ops.Convert(x, "f32"))), "f32")
    compiled = CORE.compile_model(Model([node], [x]), CPU)
    for number in (1, np.nan, np.inf, 1):
        array = with_number(number).astype(kind.to_dtype())
        np.testing.assert_allclose(compiled(array)[0], np.maximum(product(array.astype(np.float32)), 0), 1e-4, 1e-5)


@pytest.mark.parametrize("shape", [[1, 3, 6, 6], [-1, -1, -1, -1]], ids=["static", "dynamic"])
def test_infinities_in_bf16_convolutions(shape):
    """Zeros that filters are padded with make no NaN of infinities beside the border."""
    x = Parameter(Type.bf16, shape)
    filters = Constant(np.ones([4, 3, 3, 3], np.float32).astype(Type.bf16.to_dtype()))
    model = CORE.compile_model(Model(ops.Convolution(x, filters, [1, 1], [1, 1], [1, 1], [1, 1]), [x]), CPU)
    array = rng.integers(0, 3, (1, 3, 6, 6)).astype(np.float32)
    for special in (1, np.inf, -np.inf):
        array[0, :, 3, 2] = special
        padded = np.pad(array, [(0, 0), (0, 0), (1, 1), (1, 1)])
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        expected = np.repeat(windows.sum((1, 4, 5))[:, None], 4, 1)
        found = model([array.astype(Type.bf16.to_dtype())])[0].astype(np.float32)
        np.testing.assert_array_equal(found, expected)


@quiet
@pytest.mark.parametrize("initial", [True, False])
@pytest.mark.parametrize("name", ["min", "max"])
def test_scattered_extrema(name, initial):
    """Several updates of an element, one of which is NaN, and infinite ones alone."""
    indices = np.int64([0, 0, 2, 3, 4, 4, 6, 6])
    data, updates = Parameter(Type.f32, [8], name="data"), Parameter(Type.f32, [8], name="updates")
    arrays = [np.float32([1, 2, np.nan, np.inf, -1, 3, -np.inf, np.inf])]
    arrays.append(np.float32([np.nan, 5, 7, -np.inf, 2, -9, -np.inf, -np.inf]))
    expected, formula = arrays[0].copy(), getattr(np, f"{name}imum")
    if not initial:
        expected[indices] = -np.inf if name == "max" else np.inf
    formula.at(expected, indices, arrays[1])
    results = [ops.ScatterElementsUpdate(data, indices, updates, np.int64(0), name, initial)]
    if initial:
        results.append(ops.ScatterNDUpdate(data, indices[:, None], updates, name))
    for result in results:
        found = CORE.compile_model(Model(result, [data, updates]), CPU)(arrays)[0]
        np.testing.assert_array_equal(found, expected)
