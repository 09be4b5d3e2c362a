"""Device ONEDNN: fused chains, layouts, views, shapes, precisions and errors, compared with numpy and OpenVINO."""

import subprocess
import sys

import numpy as np
import openvino
import pytest
from hetero_onednn.library import library
from hetero_onednn.library.api import computes_in_bf16

import hetero
from hetero import Core, Model, Parameter, PartialShape, Type, ops
from hetero.system.errors import DeviceError

CORE = Core()
rng = np.random.default_rng(5)


def compiled(result, *parameters, options=None):
    return CORE.compile_model(Model(result, list(parameters)), "ONEDNN", options or {})


def numbers(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def steps(compiled_model):
    """Return the types of the executed operations, in order."""
    nodes = compiled_model.get_runtime_model().get_ordered_ops()
    kinds = [node.rt_info["layerType"] for node in nodes]
    return [kind for kind in kinds if kind not in ("Input", "Const", "Output")]


def test_post_ops_of_a_convolution():
    """Bias, a residual and an activation run inside the convolution."""
    x, residual = Parameter(Type.f32, [1, 16, 9, 9]), Parameter(Type.f32, [1, 16, 9, 9])
    filters, bias, slope = numbers(16, 16, 3, 3), numbers(1, 16, 1, 1), np.abs(numbers(1, 16, 1, 1))
    product = ops.Convolution(x, filters, [1, 1], [1, 1], [1, 1], [1, 1])
    result = ops.PRelu(ops.Add(ops.Add(product, bias), residual), slope)
    model = compiled(result, x, residual)
    assert len(steps(model)) == 1
    a, b = numbers(1, 16, 9, 9), numbers(1, 16, 9, 9)
    padded = np.pad(a, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    sums = np.einsum("nchwij,ocij->nohw", windows, filters) + bias + b
    np.testing.assert_allclose(model([a, b])[0], np.where(sums > 0, sums, sums * slope), rtol=1e-4, atol=1e-4)


def test_a_value_with_two_readers_is_no_post_op():
    x = Parameter(Type.f32, [1, 8, 5, 5])
    product = ops.Convolution(x, np.eye(8, dtype=np.float32)[:, :, None, None], [1, 1], [0, 0], [0, 0], [1, 1])
    array = numbers(1, 8, 5, 5)
    found = compiled(ops.Multiply(product, ops.Sigmoid(product)), x)(array)[0]
    np.testing.assert_allclose(found, array / (1 + np.exp(-array)), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("first", [(3, 1, 5), (1, 4, 1), (3, 4, 5), ()], ids=str)
@pytest.mark.parametrize("second", [(4, 5), (3, 1, 1), (1,), (3, 4, 5)], ids=str)
@pytest.mark.parametrize(
    ("operation", "formula"),
    [(ops.Subtract, np.subtract), (ops.Divide, np.divide), (ops.Maximum, np.maximum), (ops.SquaredDifference, None)],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_broadcasting(operation, formula, first, second):
    a, b = Parameter(Type.f32, first), Parameter(Type.f32, second)
    x, y = numbers(*first), numbers(*second)
    expected = (x - y) ** 2 if formula is None else formula(x, y)
    np.testing.assert_allclose(compiled(operation(a, b), a, b)([x, y])[0], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "index", [np.s_[:, 1:5, :, :], np.s_[:, :, :, ::2], np.s_[:, 2:7:3, 1:, :], np.s_[:, :, 3:4, :]], ids=str
)
def test_slices_of_values_in_blocks(index):
    """The value before the slice has whatever layout the pooling gives it."""
    x = Parameter(Type.f32, [2, 8, 6, 6])
    relu = ops.Relu(ops.MaxPool(x, [1, 1], [1, 1], [0, 0], [0, 0], [1, 1]).output(0))
    bounds = [part.indices(length) for part, length in zip(index, (2, 8, 6, 6))]
    start, stop, step = (np.int64(column) for column in zip(*bounds))
    array = numbers(2, 8, 6, 6)
    found = compiled(ops.Slice(relu, start, stop, step), x)(array)[0]
    np.testing.assert_array_equal(found, np.maximum(array, 0)[index])


@pytest.mark.parametrize("axes", [(1,), (0, 2), (2, 3), (1, 2, 3), (0,)], ids=str)
@pytest.mark.parametrize("name", ["ReduceMean", "ReduceMax", "ReduceSum", "ReduceL2"])
def test_reductions(name, axes):
    formulas = {
        "ReduceMean": np.mean, "ReduceMax": np.max, "ReduceSum": np.sum,
        "ReduceL2": lambda array, axis: np.sqrt((array**2).sum(axis)),
    }  # fmt: skip
    x, array = Parameter(Type.f32, [2, 5, 4, 7]), numbers(2, 5, 4, 7)
    found = compiled(getattr(ops, name)(x, np.int64(axes), False), x)(array)[0]
    np.testing.assert_allclose(found, formulas[name](array, axis=axes), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("groups", [2, 3, 6])
def test_channel_shuffle(groups):
    x, array = Parameter(Type.f32, [1, 12, 4, 4]), numbers(1, 12, 4, 4)
    order = np.arange(12).reshape(groups, -1).T.reshape(-1)
    found = compiled(ops.Relu(ops.Gather(x, order, np.int64(1), 0)), x)(array)[0]
    np.testing.assert_array_equal(found, np.maximum(array[:, order], 0))


@pytest.mark.parametrize("mode", ["half_pixel", "asymmetric", "align_corners"])
@pytest.mark.parametrize("kind", ["nearest", "linear_onnx", "cubic"])
def test_interpolation(kind, mode):
    """Resampling where oneDNN's coordinates are the right ones, products elsewhere; against OpenVINO."""
    x = Parameter(Type.f32, [1, 3, 5, 6])
    settings = {"mode": kind, "shape_calculation_mode": "sizes", "coordinate_transformation_mode": mode}
    sizes, axes, array = np.int64([9, 12]), np.int64([2, 3]), numbers(1, 3, 5, 6)
    image = openvino.opset11.parameter([1, 3, 5, 6], np.float32)
    theirs = openvino.Model([openvino.opset11.interpolate(image, sizes, axes=axes, **settings)], [image])
    expected = openvino.compile_model(theirs, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([array])[0]
    found = compiled(ops.Interpolate(x, sizes, axes=axes, **settings), x)(array)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_dynamic_shapes():
    x = Parameter(Type.f32, PartialShape([-1, 4, -1]))
    length = ops.Gather(ops.ShapeOf(x), np.int64([0]), np.int64(0), 0)
    flat = ops.Reshape(ops.Relu(x), ops.Concat([length, np.int64([-1])], 0), False)
    request = compiled(ops.MatMul(flat, ops.Transpose(flat, np.int64([1, 0])), False, False), x).create_infer_request()
    for shape in ((1, 4, 3), (5, 4, 2), (1, 4, 3)):
        array = numbers(*shape)
        rows = np.maximum(array, 0).reshape(shape[0], -1)
        np.testing.assert_allclose(request.infer([array])[0], rows @ rows.T, rtol=1e-5)


def test_inputs_and_outputs_without_a_copy():
    x = Parameter(Type.f32, [64])
    request = compiled(ops.Sqrt(x), x).create_infer_request()
    given, wanted = np.arange(64, dtype=np.float32), np.zeros(128, np.float32)
    request.set_input_tensor(hetero.Tensor(given, shared_memory=True))
    request.set_output_tensor(hetero.Tensor(wanted[::2], shared_memory=True))
    for _ in range(2):
        request.infer()
        np.testing.assert_allclose(wanted[::2], np.sqrt(given), rtol=1e-6)
        given += 1
    assert not wanted[1::2].any()


def test_bf16_is_chosen_by_its_property():
    x = Parameter(Type.f32, [32, 512])
    product = ops.MatMul(x, numbers(512, 32), False, False)
    array = numbers(32, 512)
    results = {
        precision: compiled(product, x, options={"INFERENCE_PRECISION_HINT": precision})(array)[0]
        for precision in ("f32", "bf16", "dynamic")
    }
    np.testing.assert_array_equal(results["f32"], results["dynamic"])
    difference = np.abs(results["bf16"] - results["f32"]).max()
    assert difference < 0.02 * np.abs(results["f32"]).max()
    # A processor without bf16 computes in f32.
    assert (difference > 0) == computes_in_bf16()
    allowed = compiled(product, x, options={"EXECUTION_MODE_HINT": "PERFORMANCE"})(array)[0]
    is_fast_in_bf16 = "BF16" in CORE.get_property("ONEDNN", "OPTIMIZATION_CAPABILITIES")
    np.testing.assert_array_equal(allowed, results["bf16" if is_fast_in_bf16 else "f32"])


def test_profile_names_implementations():
    x = Parameter(Type.f32, [1, 16, 8, 8])
    node = ops.Convolution(x, numbers(16, 16, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1])
    model = compiled(node, x, options={"PERF_COUNT": True})
    request = model.create_infer_request()
    request.infer([numbers(1, 16, 8, 8)])
    found = {info.node_name: info for info in request.get_profiling_info()}
    assert found[node.friendly_name].real_time.total_seconds() > 0 and found[node.friendly_name].exec_type


def test_missing_library(monkeypatch):
    monkeypatch.setattr(library.importlib.metadata, "distributions", lambda: [])
    with pytest.raises(DeviceError, match=r"no package of oneDNN is installed: pip install onednn-cpu-gomp"):
        library.load_library.__wrapped__()


def test_libraries_that_do_not_wait(monkeypatch):
    """An execution on SYCL returns before its results are there: such a library is refused, and others come first."""
    version = library._Version(3, 9, 0, b"", 512)
    monkeypatch.setattr(library, "_version_of", lambda handle: version)
    with pytest.raises(DeviceError, match=r"runs on SYCL .*: pip install onednn-cpu-gomp"):
        library.load_library.__wrapped__()


def test_packages_for_the_processor_come_first(monkeypatch, tmp_path):
    for name, number in (("onednn", "2026.1"), ("onednn_cpu_gomp", "2023.2.0"), ("onednn-cpu-iomp", "2022.1")):
        info = tmp_path / f"{name}-{number}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name}\nVersion: {number}\n")
        (info / "RECORD").write_text("lib/libdnnl.so.3,,\n")
    found = list(library.importlib.metadata.distributions(path=[str(tmp_path)]))
    monkeypatch.setattr(library.importlib.metadata, "distributions", lambda: found)
    names = [package for package, _ in library._candidates()]
    assert names == ["onednn_cpu_gomp 2023.2.0", "onednn-cpu-iomp 2022.1", "onednn 2026.1"]


@pytest.mark.slow
def test_forked_process():
    """The threads of OpenMP are gone there: an error instead of an inference that never ends."""
    program = (
        "import os, numpy as np, hetero\nfrom hetero import ops\n"
        "x = hetero.Parameter(hetero.Type.f32, [3])\n"
        "model = hetero.Core().compile_model(hetero.Model(ops.Exp(x), [x]), 'ONEDNN')\n"
        "model(np.zeros(3, np.float32))\n"
        "if not os.fork():\n"
        "    try:\n        model(np.zeros(3, np.float32))\n"
        "    except hetero.HeteroError as error:\n        print(error, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    result = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60)
    assert "ONEDNN cannot be used in this process, which was forked" in result.stdout, result.stderr
