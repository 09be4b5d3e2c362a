"""Quantized networks run in the kernels of f32, with rounding and clamping in their epilogues; against ONNX Runtime."""

import numpy as np
import onnxruntime
import pytest
from hetero_opencl.kernels.convolution.blocked_convolution import BlockedConvolution
from hetero_opencl.kernels.reduction.reduction import ReduceAllBlocks
from onnx import TensorProto, helper, numpy_helper

import hetero
from hetero import Parameter, Type, ops
from hetero.graph import execution

GENERATOR = np.random.default_rng(5)
# Powers of two, so that nothing is rounded but by the Round of the definition.
SCALE, STEP = np.float32(0.5), np.float32(0.25)


def kernels_of(compiled: hetero.CompiledModel) -> list[str]:
    """Return the kernels that run, after an inference; those of merged launches one by one."""
    nodes = [node for node in compiled.get_runtime_model().get_ordered_ops() if type(node) is execution.ExecutionNode]
    found = [str(node.rt_info.get(execution.IMPLEMENTATION)) for node in nodes]
    return [kernel for name in found if name not in ("unknown", "none") for kernel in name.split("+")]


@pytest.mark.parametrize("kind", [Type.u8, Type.i8, Type.u16, Type.i16])
@pytest.mark.parametrize("is_clamped", [True, False])
def test_small_integers_between_floats_stay_in_the_kernel(device, kind, is_clamped):
    """Numbers of f32 that become small integers and f32 again; without Clamp they wrap around."""
    x = Parameter(Type.f32, [1, 32, 5, 7])
    weights = GENERATOR.integers(-2, 3, (32, 32, 1, 1)).astype(np.float32)
    limits = np.iinfo(kind.to_dtype())
    value = ops.Round(ops.Divide(ops.Convolution(x, weights, [1, 1], [0, 0], [0, 0], [1, 1]), SCALE), "half_to_even")
    if is_clamped:
        value = ops.Clamp(value, float(limits.min), float(limits.max))
    integers = ops.Convert(value, kind)
    result = ops.Multiply(ops.Subtract(ops.Convert(integers, "f32"), np.float32(3)), SCALE)
    compiled = hetero.Core().compile_model(hetero.Model([result], [x]), device)
    data = GENERATOR.integers(-9000, 9000, (1, 32, 5, 7)).astype(np.float32) / 8
    found = compiled([data])[0]
    sums = np.rint(np.einsum("oc,nchw->nohw", weights[:, :, 0, 0].astype(np.float64), data) / SCALE)
    numbers = np.clip(sums, limits.min, limits.max) if is_clamped else sums
    expected = (numbers.astype(np.int64).astype(kind.to_dtype()).astype(np.float32) - 3) * SCALE
    np.testing.assert_array_equal(found, expected, strict=True)
    assert len(kernels_of(compiled)) == 1


@pytest.mark.parametrize("shape", [(1, 32, 4, 9), (3, 40)])
def test_fake_quantize_in_vectors(template_agrees, shape):
    """Also of numbers on the limits, beyond them, and NaN."""
    x = Parameter(Type.f32, shape)
    limits = [np.float32(limit) for limit in (-1.5, 2.25, -1.5, 2.25)]
    data = GENERATOR.uniform(-3, 4, shape).astype(np.float32)
    data.flat[:6] = [-1.5, 2.25, np.nan, np.inf, -np.inf, 0]
    template_agrees(ops.FakeQuantize(x, *limits, 256), [x], [data])


@pytest.mark.parametrize("channels", [32, 20])
def test_an_epilogue_reads_a_single_element(device, is_processor, force, channels):
    """A scale that is computed from all elements of an image: they are reduced in the layout that they have."""
    force(BlockedConvolution, ReduceAllBlocks)
    x = Parameter(Type.f32, [1, 16, 5, 7])
    one, two = (GENERATOR.integers(-3, 4, shape).astype(np.float32) for shape in ((channels, 16), (16, channels)))
    image = ops.Convolution(x, one[..., None, None], [1, 1], [0, 0], [0, 0], [1, 1])
    extremes = [reduce(image, np.arange(4), keep_dims=False) for reduce in (ops.ReduceMax, ops.ReduceMin)]
    sums = ops.Convolution(image, two[..., None, None], [1, 1], [0, 0], [0, 0], [1, 1])
    result = ops.Relu(ops.Add(ops.Multiply(sums, extremes[0]), extremes[1]))
    compiled = hetero.Core().compile_model(hetero.Model([result], [x]), device)
    data = GENERATOR.integers(-9, 10, (1, 16, 5, 7)).astype(np.float32)
    found = compiled([data])[0]
    numbers = np.einsum("oc,nchw->nohw", one, data)
    expected = np.einsum("oc,nchw->nohw", two, numbers) * numbers.max() + numbers.min()
    np.testing.assert_array_equal(found, np.maximum(expected, 0), strict=True)
    if is_processor and channels == 32:
        assert sorted(kernels_of(compiled)) == ["blocked_convolution"] * 2 + ["reduce"] * 2 + ["rows_to_blocks"]


def tensor(name: str, array: np.ndarray) -> TensorProto:
    return numpy_helper.from_array(np.asarray(array), name)


def weights_of(*shape: int) -> np.ndarray:
    return GENERATOR.integers(-128, 128, shape).astype(np.int8)


def agree(device: str, nodes: list, constants: dict[str, np.ndarray], shape: tuple) -> list[str]:
    """Compare a model of an input ``x`` of f32 with ONNX Runtime, and return the kernels that run."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "quantized", [x], [y], [tensor(*item) for item in constants.items()])
    file = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()
    data = GENERATOR.integers(-700, 700, shape).astype(np.float32) * STEP
    expected = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"]).run(None, {"x": data})[0]
    core = hetero.Core()
    compiled = core.compile_model(core.read_model(file), device)
    found = compiled([data])[0]
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=0)
    return kernels_of(compiled)


def test_integer_convolutions(device, is_processor):
    """QLinearConv, MaxPool of its integers, and QLinearConv: both convolutions run in f32, and equal its integers."""
    node = helper.make_node
    nodes = [
        node("QuantizeLinear", ["x", "step", "zero"], ["q"]),
        node("QLinearConv", ["q", "step", "zero", "w", "scale", "none", "wide", "zero", "b"], ["c"], pads=[1] * 4),
        node("MaxPool", ["c"], ["m"], kernel_shape=[2, 2]),
        node("QLinearConv", ["m", "wide", "zero", "v", "scale", "none", "wider", "zero"], ["d"]),
        node("DequantizeLinear", ["d", "wider", "zero"], ["y"]),
    ]
    constants = {
        "step": STEP, "zero": np.uint8(3), "scale": np.float32(1 / 64), "none": np.int8(0), "wide": np.float32(16),
        "wider": np.float32(256), "w": weights_of(32, 16, 3, 3), "v": weights_of(16, 32, 1, 1),
        "b": GENERATOR.integers(-9999, 9999, 32).astype(np.int32),
    }  # fmt: skip
    kernels = agree(device, nodes, constants, (1, 16, 8, 8))
    if is_processor:
        assert kernels.count("blocked_convolution") == 2
        assert len(kernels) <= 6


def test_dynamically_quantized_convolution(device):
    """The scale and the zero point of the image are known only when it runs."""
    node = helper.make_node
    nodes = [
        node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        node("ConvInteger", ["q", "w", "z"], ["c"], pads=[1] * 4),
        node("Cast", ["c"], ["f"], to=TensorProto.FLOAT),
        node("Mul", ["s", "scale"], ["t"]),
        node("Mul", ["f", "t"], ["p"]),
        node("Add", ["p", "b"], ["a"]),
        node("Relu", ["a"], ["y"]),
    ]
    constants = {
        "scale": np.float32(1 / 64), "w": weights_of(32, 16, 3, 3), "b": np.float32(range(32)).reshape(1, 32, 1, 1),
    }  # fmt: skip
    agree(device, nodes, constants, (1, 16, 8, 8))


def test_dynamically_quantized_product(device):
    node = helper.make_node
    nodes = [
        node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        node("MatMulInteger", ["q", "w", "z"], ["c"]),
        node("Cast", ["c"], ["f"], to=TensorProto.FLOAT),
        node("Mul", ["f", "s"], ["y"]),
    ]
    agree(device, nodes, {"w": weights_of(1024, 24)}, (5, 1024))
    agree(device, nodes, {"w": weights_of(64, 24)}, (5, 64))
