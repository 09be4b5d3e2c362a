"""Quantized models on ONEDNN: products of 8-bit integers, compared with TEMPLATE and ONNX Runtime."""

import numpy as np
import onnx
import onnxruntime
import pytest
from hetero_onednn.library.api import multiplies_int8_exactly
from onnx import TensorProto, helper, numpy_helper

from hetero import Core, Model, Parameter, Type, ops

CORE = Core()
rng = np.random.default_rng(3)


def implementations(compiled):
    """Return the implementations of the operations that primitives compute."""
    nodes = compiled.get_runtime_model().get_ordered_ops()
    executed = [node for node in nodes if node.rt_info["layerType"] not in ("Input", "Const", "Output")]
    return [name for node in executed if (name := node.rt_info["primitiveType"]) != "view"]


def dequantized(integers, zero_point, scale):
    real = ops.Convert(integers, Type.f32)
    if zero_point:
        real = ops.Subtract(real, np.float32(zero_point))
    return ops.Multiply(real, np.float32(scale))


def quantized(real, scale, zero_point, kind):
    low = -128 if kind is Type.i8 else 0
    rounded = ops.Round(ops.Divide(real, np.float32(scale)), "half_to_even")
    return ops.Convert(ops.Clamp(ops.Add(rounded, np.float32(zero_point)), low, low + 255), kind)


def integers(kind, *shape):
    return rng.integers(-128, 128, shape).astype(np.int8) if kind is Type.i8 else rng.integers(0, 256, shape, np.uint8)


def weights(channels, *shape):
    """Return weights of f32 that are multiples of a scale per channel."""
    scales = rng.uniform(0.01, 0.1, (channels, *[1] * len(shape))).astype(np.float32)
    return rng.integers(-127, 128, (channels, *shape)).astype(np.float32) * scales


def check(result, x, array):
    """Compare with TEMPLATE to one step, as sums are rounded in another order. Returns the compiled model."""
    model = Model(result, [x])
    expected = CORE.compile_model(model, "TEMPLATE")(array)[0].astype(np.float64)
    compiled = CORE.compile_model(model, "ONEDNN")
    found = compiled(array)[0].astype(np.float64)
    assert np.abs(found - expected).max() <= 1
    assert np.mean(found != expected) < 0.01 and len(np.unique(expected)) > 20
    return compiled


@pytest.mark.parametrize("zero_point", [0, 7])
@pytest.mark.parametrize("kind", [Type.i8, Type.u8], ids=str)
@pytest.mark.parametrize("grouped", [False, True])
def test_convolution(kind, zero_point, grouped):
    """With bias and Relu; the convolution writes the integers of the next one."""
    x = Parameter(kind, [1, 16, 9, 9])
    window = [1, 1], [1, 1], [1, 1], [1, 1]
    real, bias = dequantized(x, zero_point, 0.05), rng.standard_normal((1, 16, 1, 1)).astype(np.float32)
    if grouped:
        product = ops.GroupConvolution(real, weights(16, 1, 3, 3).reshape(16, 1, 1, 3, 3), *window)
    else:
        product = ops.Convolution(real, weights(16, 16, 3, 3), *window)
    result = quantized(ops.Relu(ops.Add(product, bias)), 0.5, 3, Type.u8)
    compiled = check(result, x, integers(kind, 1, 16, 9, 9))
    assert len(implementations(compiled)) == 1 or not multiplies_int8_exactly()


@pytest.mark.parametrize("shape", [(5, 64), (2, 5, 64)], ids=str)
@pytest.mark.parametrize("transposed", [False, True])
def test_matmul(transposed, shape):
    x, matrix = Parameter(Type.u8, shape), weights(32, 64)
    product = ops.MatMul(dequantized(x, 100, 0.02), matrix if transposed else matrix.T.copy(), False, transposed)
    compiled = check(quantized(product, 0.3, 0, Type.i8), x, integers(Type.u8, *shape))
    assert len(implementations(compiled)) == 1 or not multiplies_int8_exactly()


def test_sums_of_integers():
    """As TensorFlow Lite's models are read: products in i32, bias in i32, one scale after them."""
    x, filters = Parameter(Type.i8, [1, 8, 6, 6]), integers(Type.i8, 16, 8, 3, 3)
    data = ops.Subtract(ops.Convert(x, Type.i32), np.int32(-5))
    window = [1, 1], [1, 1], [1, 1], [1, 1]
    total = ops.Convolution(data, ops.Convert(filters, Type.i32), *window)
    total = ops.Add(total, rng.integers(-1000, 1000, (16, 1, 1)).astype(np.int32))
    scales = rng.uniform(0.0005, 0.002, (16, 1, 1)).astype(np.float32)
    scaled = ops.Round(ops.Multiply(ops.Convert(total, Type.f32), scales), "half_to_even")
    result = ops.Convert(ops.Clamp(ops.Add(scaled, np.float32(4)), -128, 127), Type.i8)
    compiled = check(result, x, integers(Type.i8, 1, 8, 6, 6))
    assert len(implementations(compiled)) == 1 or not multiplies_int8_exactly()


def test_concat_of_several_scales():
    """The parts are quantized before Concat, which copies integers; the part of the same scale is not converted."""
    x = Parameter(Type.u8, [1, 8, 6, 6])
    joined = ops.Concat([dequantized(x, 3, 0.05), dequantized(x, 0, 0.02)], 1)
    compiled = check(quantized(joined, 0.05, 3, Type.u8), x, integers(Type.u8, 1, 8, 6, 6))
    assert len(implementations(compiled)) == 2 or not multiplies_int8_exactly()


def test_shuffle_of_integers():
    x, array = Parameter(Type.u8, [1, 12, 5, 5]), integers(Type.u8, 1, 12, 5, 5)
    order = np.arange(12).reshape(3, 4).T.reshape(-1)
    compiled = CORE.compile_model(Model(ops.Gather(x, order, np.int64(1)), [x]), "ONEDNN")
    np.testing.assert_array_equal(compiled(array)[0], array[:, order])


def test_long_chain():
    """Primitives take 32 operations after their own."""
    x, array = Parameter(Type.f32, [1, 4, 5, 5]), rng.standard_normal((1, 4, 5, 5)).astype(np.float32)
    value, expected = x, array.astype(np.float64)
    for _ in range(25):
        value = ops.Subtract(ops.Abs(value), np.float32(0.25))
        expected = np.abs(expected) - 0.25
    found = CORE.compile_model(Model(value, [x]), "ONEDNN")(array)[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("change", ["weights", "zero point per channel", "fractions"])
def test_what_is_not_quantized(change):
    """Weights that are no multiples of a scale, and the like, are computed in f32."""
    x, filters = Parameter(Type.u8, [1, 16, 5, 5]), weights(16, 16, 1, 1)
    real = dequantized(x, 3, 0.05)
    if change == "weights":
        filters = rng.standard_normal(filters.shape).astype(np.float32)
    elif change == "zero point per channel":
        points = np.arange(16, dtype=np.float32).reshape(1, 16, 1, 1)
        real = ops.Multiply(ops.Subtract(ops.Convert(x, Type.f32), points), np.float32(0.05))
    else:
        real = ops.Subtract(ops.Convert(x, Type.f32), np.float32(0.5))
    product = ops.Convolution(real, filters, [1, 1], [0, 0], [0, 0], [1, 1])
    model, array = Model(product, [x]), integers(Type.u8, 1, 16, 5, 5)
    expected = CORE.compile_model(model, "TEMPLATE")(array)[0]
    np.testing.assert_allclose(CORE.compile_model(model, "ONEDNN")(array)[0], expected, rtol=1e-4, atol=1e-3)


def test_model_in_qdq_format(tmp_path):
    """Two convolutions and a product with QuantizeLinear and DequantizeLinear; all of it runs on ONEDNN.

    Weights have 7 bits, for which ONNX Runtime is exact on processors without VNNI too.
    """
    nodes, constants = [], {}

    def constant(name, array):
        constants[name] = numpy_helper.from_array(np.asarray(array), name)
        return name

    def through_integers(name, scale, zero_point):
        kind = [constant(f"{name}_scale", np.float32(scale)), constant(f"{name}_zero", zero_point)]
        nodes.append(helper.make_node("QuantizeLinear", [name, *kind], [f"{name}_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}_q", *kind], [f"{name}_r"]))
        return f"{name}_r"

    def filters(name, *shape):
        scales = rng.uniform(0.002, 0.01, shape[0]).astype(np.float32)
        kind = [constant(f"{name}_i", integers(Type.i8, *shape) // 2), constant(f"{name}_s", scales)]
        zeros = constant(f"{name}_z", np.zeros(shape[0], np.int8))
        nodes.append(helper.make_node("DequantizeLinear", [*kind, zeros], [name], axis=0))
        return name

    value = through_integers("x", 0.02, np.uint8(128))
    for index, width in enumerate((8, 16)):
        inputs = [value, filters(f"w{index}", 16, width, 3, 3), constant(f"b{index}", np.full(16, 0.1, np.float32))]
        nodes.append(helper.make_node("Conv", inputs, [f"c{index}"], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{index}"], [f"a{index}"]))
        value = through_integers(f"a{index}", 0.05, np.uint8(0))
    nodes.append(helper.make_node("GlobalAveragePool", [value], ["y"]))
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy"]
    ports[0] = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 12, 12])
    graph = helper.make_graph(nodes, "quantized", ports[:1], ports[1:], [*constants.values()])
    path = tmp_path / "quantized.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    array = rng.standard_normal((1, 8, 12, 12)).astype(np.float32)
    (expected,) = session.run(None, {"x": array})
    found = CORE.compile_model(CORE.read_model(path), "ONEDNN")(array)[0]
    assert np.abs(found - expected).max() <= 0.05
    assert np.abs(found - expected).mean() <= 0.002


def dynamically_quantized_model(path):
    """Write a convolution, a product and what each needs, as ONNX Runtime's ``quantize_dynamic`` does."""
    constants = {
        "w0": rng.integers(-63, 64, (8, 4, 3, 3)).astype(np.int8),
        "w1": rng.integers(64, 192, (200, 6)).astype(np.uint8),
        "w1_zero": np.uint8(128), "w0_scale": np.float32(0.01), "w1_scale": np.float32(0.02),
        "rows": np.array([2, 200], np.int64),
    }  # fmt: skip

    def product(kind, name, index, *zeros):
        return [
            helper.make_node("DynamicQuantizeLinear", [name], [f"{name}_q", f"{name}_s", f"{name}_z"]),
            helper.make_node(kind, [f"{name}_q", f"w{index}", f"{name}_z", *zeros], [f"i{index}"]),
            helper.make_node("Cast", [f"i{index}"], [f"c{index}"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{name}_s", f"w{index}_scale"], [f"s{index}"]),
            helper.make_node("Mul", [f"c{index}", f"s{index}"], [f"p{index}"]),
        ]

    nodes = [
        *product("ConvInteger", "x", 0), helper.make_node("Relu", ["p0"], ["a"]),
        helper.make_node("Reshape", ["a", "rows"], ["flat"]), *product("MatMulInteger", "flat", 1, "w1_zero"),
        helper.make_node("Identity", ["p1"], ["y"]),
    ]  # fmt: skip
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 7, 12])]
    ports.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 6]))
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "dynamic", ports[:1], ports[1:], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def test_dynamic_quantization(tmp_path):
    """The scale and the zero point depend on the data; all of it runs on ONEDNN, also for data that are all 0."""
    path = tmp_path / "dynamic.onnx"
    dynamically_quantized_model(path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    compiled = CORE.compile_model(CORE.read_model(path), "ONEDNN")
    if multiplies_int8_exactly():
        names = [str(name.value) for name in implementations(compiled)]
        assert sum("vnni" in name or "int8" in name or "amx" in name for name in names) == 2, names
    normal = rng.standard_normal((1, 4, 7, 12)).astype(np.float32)
    for array in (normal, normal + 3, -np.abs(normal), normal * 0, normal * 1e-3):
        (expected,) = session.run(None, {"x": array})
        np.testing.assert_allclose(compiled(array)[0], expected, rtol=1e-5, atol=1e-6)
    assert np.isnan(compiled(np.where(normal > 2, np.nan, normal))[0]).all()


def test_replacement_of_zeros():
    """A Select by Equal to 0 is arithmetic."""
    x = Parameter(Type.f32, [10])
    model = Model(ops.Select(ops.Equal(x, np.float32(0)), np.float32(1), x), [x])
    assert set(CORE.query_model(model, "ONEDNN").values()) == {"ONEDNN"}
    least = np.finfo(np.float32).smallest_subnormal
    array = np.array([0, -0.0, 1, -2, least, -least, 3e38, np.inf, -np.inf, np.nan], np.float32)
    expected = np.where(array == 0, np.float32(1), array)
    np.testing.assert_array_equal(CORE.compile_model(model, "ONEDNN")(array)[0], expected)
