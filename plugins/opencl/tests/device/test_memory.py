"""Device memory that models allocate: at most their weights and 1.3 times the largest live set."""

import gc

import numpy as np
import pytest
from hetero_opencl.device.launch import SLACK
from hetero_opencl.device.memory import allocations_on
from hetero_opencl.execute.workspace import Arena
from hetero_opencl.lowering import program
from hetero_opencl.lowering.memory_plan import plan_arenas
from hypothesis import given, settings
from hypothesis import strategies as st

import hetero
from hetero import Constant, Model, Parameter, Type, ops
from tests import zoo
from tests.peak_memory import resident
from tests.tiers import IS_FULL

CORE = hetero.Core()
ROWS = 24
# Quick models of the zoo; in the full tier all of them, some with hundreds of megabytes.
SMALL = ("ocr_direction", "magika", "shufflenet")
NAMES = list(zoo.ONNX) if IS_FULL else SMALL


def peak_of(model, device, arrays):
    """Compile a model and run it twice; return the peak of allocated bytes, the compiled model and the results."""
    gc.collect()
    counted = allocations_on(CORE.get_default_context(device).device.handle)
    before = counted.current
    counted.peak = counted.current
    compiled = CORE.compile_model(model, device)
    request = compiled.create_infer_request()
    results = [request.infer(arrays).to_tuple() for _ in range(2)][1]
    return counted.peak - before, compiled, results


def check(model, device, arrays):
    peak, compiled, results = peak_of(model, device, arrays)
    used = compiled.get_property("GPU_MODEL_MEMORY")
    # SLACK: kernels may read past the end of the arena.
    assert 0 < peak <= used["weights"] + 1.3 * used["largest_live_set"] + SLACK
    assert used["arena"] <= 1.3 * used["largest_live_set"] and used["weights"] + used["arena"] <= peak
    return compiled, results


@pytest.mark.parametrize("name", NAMES)
def test_models_of_the_zoo(device, plugin_request, name):
    model, shape = CORE.read_model(zoo.path(name)), zoo.MODELS[name].shapes[0]
    compiled, _ = check(model, device, zoo.inputs(name, 0, shape))
    # Weights are on the device in one layout only, not also in that of the model.
    for each in plugin_request(compiled.create_infer_request()).compiled_model.last_programs():
        sources = [buffer.source.__array_interface__["data"][0] for buffer in each.constants()]
        assert sources and len(set(sources)) == len(sources)


def test_weights_in_a_file_have_no_memory_once_they_are_on_the_device(device, tmp_path):
    """They are read again for an export and for other shapes."""
    weights = np.random.default_rng(0).standard_normal((1024, 1024)).astype(np.float32)
    x = Parameter(Type.f32, [-1, 1024])
    hetero.serialize(Model(ops.MatMul(x, weights, False, False), [x]), tmp_path / "model.xml")
    model = CORE.read_model(tmp_path / "model.xml")
    (constant,) = [node for node in model.get_ordered_ops() if isinstance(node, Constant)]
    compiled = CORE.compile_model(model, device)
    imported = CORE.import_model(compiled.export_model(), device)
    for rows in (1, 40):
        array = np.random.default_rng(rows).standard_normal((rows, 1024)).astype(np.float32)
        for each in (compiled, imported):
            np.testing.assert_allclose(each([array])[0], array @ weights, rtol=1e-4, atol=1e-4)
        assert resident(constant.data) < weights.nbytes / 10


@st.composite
def graphs(draw):
    """Random graphs of matrices of various widths and lifetimes."""
    x = Parameter(Type.f32, [ROWS, 64])
    values = [x]
    for _ in range(draw(st.integers(1, 14))):
        value, other = (values[-draw(st.integers(1, min(5, len(values))))] for _ in range(2))
        kind = draw(st.sampled_from(["widen", "softmax", "join", "add", "part"]))
        width = value.shape[1]
        if kind == "widen":
            weights = np.full((width, draw(st.sampled_from([8, 40, 100, 333]))), 1 / width, np.float32)
            values.append(ops.MatMul(value, weights, False, False))
        elif kind == "join" and width + other.shape[1] < 2000:
            values.append(ops.Concat([value, other], 1))
        elif kind == "add":
            values.append(ops.Add(value, ops.ReduceMax(other, np.int64([1]), keep_dims=True)))
        elif kind == "part" and width > 8:
            values.append(ops.Slice(value, *(np.int64([n]) for n in (1, width // 2, 1, 1))))
        else:
            values.append(ops.Softmax(value, 1))
    return Model([values[-1], draw(st.sampled_from(values[1:]))], [x])


@pytest.mark.slow
@given(model=graphs())
@settings(max_examples=8 if IS_FULL else 4, deadline=None, derandomize=True, database=None)
def test_random_graphs(model):
    data = np.random.default_rng(0).random((ROWS, 64), np.float32)
    expected = CORE.compile_model(model, "TEMPLATE")(data).to_tuple()
    _, found = check(model, "GPU", [data])
    for array, wanted in zip(found, expected):
        np.testing.assert_allclose(array, wanted, rtol=1e-5, atol=1e-6)


def test_memory_is_freed(device):
    x = Parameter(Type.f32, [-1, 1000])
    gc.collect()
    before = CORE.get_property(device, "GPU_MEMORY_STATISTICS")["cl_mem"]
    compiled = CORE.compile_model(Model([ops.Softmax(ops.Exp(x), 1)], [x]), device)
    request = compiled.create_infer_request()
    used = []
    for rows in (100, 10):
        request.infer(np.zeros((rows, 1000), np.float32))
        gc.collect()
        used.append(compiled.get_property("GPU_MEMORY_STATISTICS")["cl_mem"] - before)
    # Two values are live at once, and the smaller shape keeps no memory of the larger one.
    assert used[0] >= 2 * 4 * 100_000 and used[1] <= used[0] / 5
    del request, compiled
    gc.collect()
    assert CORE.get_property(device, "GPU_MEMORY_STATISTICS")["cl_mem"] == before


def test_programs_of_a_request_share_an_arena(device, bound_programs):
    """The second program starts when the first has counted the nonzero elements."""
    x = Parameter(Type.f32, [1000])
    places = ops.Convert(ops.NonZero(ops.Relu(x)), Type.f32)
    compiled = CORE.compile_model(Model(ops.Softmax(ops.Tanh(places), 1), [x]), device)
    request = compiled.create_infer_request()
    for count in (10, 900, 500):
        data = np.where(np.arange(1000) < count, 1, -1).astype(np.float32)
        np.testing.assert_allclose(request.infer(data)[0].sum(), 1, rtol=1e-4)
    bound = bound_programs(request)
    assert len(bound) == 2 and bound[0].arena is bound[1].arena


def test_weights_are_stored_once(device):
    """Transposed at upload, without a second copy in the model's layout."""
    x, weights = Parameter(Type.f32, [4, 256]), np.ones((64, 256), np.float32)
    model = Model([ops.MatMul(x, weights, False, True)], [x])
    _, compiled, _ = peak_of(model, device, [np.ones((4, 256), np.float32)])
    assert compiled.get_property("GPU_MODEL_MEMORY")["weights"] == weights.nbytes + SLACK


def test_a_plan_beyond_the_largest_allocation(run, monkeypatch):
    """It has several arenas."""
    monkeypatch.setattr(program, "plan_arenas", lambda lives, alignment, *_: plan_arenas(lives, alignment, 3000))
    reserved = []
    reserve = Arena.reserve
    monkeypatch.setattr(Arena, "reserve", lambda self, sizes: (reserved.append(list(sizes)), reserve(self, sizes)))
    x = Parameter(Type.f32, [20, 30])
    data = np.random.default_rng(0).random((20, 30), np.float32)
    normal = ops.Softmax(x, 1)
    found = run([ops.Concat([ops.Softmax(normal, 0), normal], 0), normal], [x], [data])
    assert [sizes for sizes in reserved if len(sizes) > 2]
    by_row = np.exp(data) / np.exp(data).sum(1, keepdims=True)
    by_column = np.exp(by_row) / np.exp(by_row).sum(0, keepdims=True)
    np.testing.assert_allclose(found[0], np.concatenate([by_column, by_row]), rtol=1e-5)
