"""Variables, compared with TEMPLATE and OpenVINO: initial values, order, dynamic shapes, and partitioned models."""

from importlib import import_module

import numpy as np
import openvino
import pytest
from hetero_opencl.plugin import OpenCLPlugin

import hetero
from hetero.graph.rt_info import AFFINITY
from hetero.opset_modules import make_modules
from hetero.plugin import ProfilingInfo
from hetero.system.errors import TensorError

OPSETS = make_modules()
LIBRARIES = {
    "hetero": (OPSETS["opset6"], hetero),
    "openvino": (import_module("openvino.opset6"), openvino),
}
ROWS = [np.random.default_rng(seed).standard_normal((2, 3)).astype(np.float32) for seed in range(5)]


def running_mean(library):
    """Return a model of the running mean of its inputs, with a computed initial value and outputs of both variables."""
    op, package = LIBRARIES[library]
    x = op.parameter(package.PartialShape([2, 3]), np.float32)
    start = op.exp(op.multiply(x, op.constant(np.float32(0.5))))
    total = op.add(op.read_value(start, "total"), x)
    seen = op.read_value(op.constant(np.float32(1)), "seen")
    count = op.add(seen, op.constant(np.float32(1)))
    mean = op.divide(total, count)
    results = [op.result(value) for value in (mean, seen, count)]
    return package.Model(results, [op.assign(total, "total"), op.assign(count, "seen")], [x], "mean")


def outputs_of(compiled, steps):
    request = compiled.create_infer_request()
    found = []
    for step in steps:
        if step == "reset":
            request.reset_state()
        else:
            found.append([np.array(array) for array in request.infer([ROWS[step]]).to_tuple()])
    return found


@pytest.mark.parametrize("prefix", ["", "HETERO:"])
def test_several_inferences_are_as_in_openvino_and_on_template(device, prefix):
    steps = [0, 1, 2, "reset", 3, 4, 0]
    exact = {"INFERENCE_PRECISION_HINT": "f32"}
    wanted = outputs_of(openvino.Core().compile_model(running_mean("openvino"), "CPU", exact), steps)
    core = hetero.Core()
    for name in (prefix + device, prefix + "TEMPLATE"):
        found = outputs_of(core.compile_model(running_mean("hetero"), name), steps)
        for one, other in zip(found, wanted, strict=True):
            for array, expected in zip(one, other, strict=True):
                np.testing.assert_allclose(array, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "pinned", [("Exp",), ("Add",), ("ReadValue",), ("Divide", "Exp"), ("Result", "Multiply", "Divide")]
)
def test_cuts_through_a_stateful_model(device, pinned):
    """Operations of some types run on TEMPLATE; the results equal those of TEMPLATE alone."""
    core, steps = hetero.Core(), [0, 1, "reset", 2, 3]
    wanted = outputs_of(core.compile_model(running_mean("hetero"), "TEMPLATE"), steps)
    model = running_mean("hetero")
    for node in model.get_ordered_ops():
        if node.get_type_name() in pinned:
            node.rt_info[AFFINITY] = "TEMPLATE"
    compiled = core.compile_model(model, f"HETERO:{device},TEMPLATE")
    assert set(compiled.get_property("EXECUTION_DEVICES")) == {device, "TEMPLATE"}
    for one, other in zip(outputs_of(compiled, steps), wanted, strict=True):
        for array, expected in zip(one, other, strict=True):
            np.testing.assert_allclose(array, expected, rtol=1e-5, atol=1e-6)


def test_an_initial_value_is_computed_only_while_its_variable_is_unset():
    """Operations that have other readers too are always computed."""
    op = OPSETS["opset6"]
    x = op.parameter([2, 3], np.float32)
    shared = op.softmax(x, 1)
    start = op.matmul(op.relu(shared), op.constant(np.eye(3, dtype=np.float32)), False, False)
    read = op.read_value(start, "v")
    model = hetero.Model([op.result(op.add(read, shared))], [op.assign(read, "v")], [x])
    compiled = OpenCLPlugin().compile_model(model, {"PERF_COUNT": True})
    request = compiled.create_sync_infer_request()
    request.set_tensor(compiled.inputs[0], hetero.Tensor(ROWS[0]))

    def types():
        request.infer()
        executed = [info for info in request.get_profiling_info() if info.status is ProfilingInfo.EXECUTED]
        return {info.node_type for info in executed} & {"Softmax", "MatMul", "Relu"}

    (state,) = request.query_state()
    assert types() == {"Softmax", "MatMul", "Relu"}
    assert types() == {"Softmax"}
    state.reset()
    assert types() == {"Softmax", "MatMul", "Relu"}
    state.reset()
    state.state = hetero.Tensor(ROWS[1])
    assert types() == {"Softmax"}
    soft = np.exp(ROWS[0]) / np.exp(ROWS[0]).sum(1, keepdims=True)
    np.testing.assert_allclose(request.get_tensor(compiled.outputs[0]).data, ROWS[1] + soft, rtol=1e-5)


def test_variables_that_are_exchanged(device):
    """Each is read before either is set."""
    op = OPSETS["opset6"]
    first = op.read_value(op.constant(np.float32([1, 2])), "first")
    second = op.read_value(op.constant(np.float32([3, 4])), "second")
    results = [op.result(op.exp(op.add(first, op.multiply(second, np.float32(2)))))]
    model = hetero.Model(results, [op.assign(second, "first"), op.assign(first, "second")], [])
    request = hetero.Core().compile_model(model, device).create_infer_request()
    for _ in range(3):
        np.testing.assert_allclose(request.infer()[0], np.exp([7, 10]), rtol=1e-5)
        np.testing.assert_allclose(request.infer()[0], np.exp([5, 8]), rtol=1e-5)


@pytest.mark.parametrize("name", ["{}", "TEMPLATE", "HETERO:{},TEMPLATE"])
def test_a_variable_read_twice_with_different_starts(device, name):
    op = OPSETS["opset6"]
    x = op.parameter([2], np.float32)
    reads = [op.read_value(op.constant(np.full(2, start, np.float32)), "v") for start in (1, 2)]
    set_it = op.assign(op.multiply(x, op.add(*reads)), "v")
    results = [op.result(value) for value in (*reads, op.negative(set_it))]
    model = hetero.Model(results, [set_it], [x])
    request = hetero.Core().compile_model(model, name.format(device)).create_infer_request()
    for expected in ([1, 2, -6], [6, 6, -24], [24, 24, -96]):
        found = request.infer([np.full(2, 2, np.float32)])
        assert [array[0] for array in found.to_tuple()] == expected


def test_a_variable_that_is_set_twice(device):
    op = OPSETS["opset6"]
    x = op.parameter([2], np.float32)
    read = op.read_value(op.constant(np.zeros(2, np.float32)), "v")
    first = op.assign(op.add(read, x), "v")
    second = op.assign(op.multiply(first, np.float32(2)), "v")
    model = hetero.Model([op.result(read)], [first, second], [x])
    core = hetero.Core()
    requests = [core.compile_model(model, name).create_infer_request() for name in (device, "TEMPLATE")]
    for _ in range(4):
        found, wanted = (request.infer([np.float32([1, 3])])[0] for request in requests)
        np.testing.assert_array_equal(found, wanted)


def test_contents_outlive_the_program_of_one_input_shape(device):
    op = OPSETS["opset6"]
    x = op.parameter([-1, 3], np.float32)
    total = op.add(op.read_value("sum", np.float32, [1, 3]), op.reduce_sum(x, np.array([0]), True))
    model = hetero.Model([op.result(total)], [op.assign(total, "sum")], [x])
    core = hetero.Core()
    requests = [core.compile_model(model, name).create_infer_request() for name in (device, "TEMPLATE")]
    for rows in (1, 4, 2, 4, 0):
        data = np.random.default_rng(rows).random((rows, 3), np.float32)
        found, wanted = (request.infer([data])[0] for request in requests)
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.int32, np.bool_, np.uint8])
@pytest.mark.parametrize("shape", [(), (0, 2), (3, 5)])
def test_types_and_shapes(device, kind, shape):
    op = OPSETS["opset6"]
    x = op.parameter(list(shape), kind)
    model = hetero.Model([op.result(op.read_value("v", kind, list(shape)))], [op.assign(x, "v")], [x])
    request = hetero.Core().compile_model(model, device).create_infer_request()
    (state,) = request.query_state()
    arrays = [np.random.default_rng(seed).integers(0, 2, shape).astype(kind) for seed in range(3)]
    np.testing.assert_array_equal(request.infer([arrays[0]])[0], np.zeros(shape, kind), strict=True)
    np.testing.assert_array_equal(request.infer([arrays[1]])[0], arrays[0], strict=True)
    np.testing.assert_array_equal(state.state.data, arrays[1], strict=True)
    state.state = hetero.Tensor(arrays[2])
    np.testing.assert_array_equal(request.infer([arrays[1]])[0], arrays[2], strict=True)


@pytest.mark.parametrize("name", ["{}", "HETERO:{},TEMPLATE", "HETERO:TEMPLATE,{}"])
def test_a_variable_of_dynamic_shape_that_grows(device, name):
    """Like the KV cache of a language model."""
    op = OPSETS["opset6"]
    x = op.parameter([-1, 3], np.float32)
    total = op.concat([op.read_value("seen", np.float32, [-1, 3]), op.exp(x)], 0)
    model = hetero.Model([op.result(op.relu(total))], [op.assign(total, "seen")], [x])
    core = hetero.Core()
    assert not core.query_model(model, device).refused
    request = core.compile_model(model, name.format(device)).create_infer_request()
    (state,) = request.query_state()
    for _ in range(2):
        for count in range(1, 5):
            expected = np.exp(np.concatenate(ROWS[:count]))
            np.testing.assert_allclose(request.infer([ROWS[count - 1]])[0], expected, rtol=1e-5)
            np.testing.assert_allclose(state.state.data, expected, rtol=1e-5)
        request.reset_state()
        assert state.state.shape == (0, 3)
    state.state = hetero.Tensor(ROWS[4])
    expected = np.concatenate([ROWS[4], np.exp(ROWS[0])])
    np.testing.assert_allclose(request.infer([ROWS[0]])[0], np.maximum(expected, 0), rtol=1e-5)


def test_a_canceled_inference_keeps_the_contents(device, plugin_request):
    compiled = hetero.Core().compile_model(running_mean("hetero"), device)
    request = compiled.create_infer_request()
    request.infer([ROWS[0]])
    before = [np.array(state.state.data) for state in request.query_state()]
    plugin_request(request).preprocess()
    plugin_request(request).start()  # without the other stages, as after a cancellation
    for state, array in zip(request.query_state(), before):
        np.testing.assert_array_equal(state.state.data, array)


def test_a_state_that_does_not_fit_is_refused_and_changes_nothing(device):
    request = hetero.Core().compile_model(running_mean("hetero"), device).create_infer_request()
    states = {state.name: state for state in request.query_state()}
    states["total"].state = hetero.Tensor(ROWS[2])
    for tensor in (hetero.Tensor(np.ones([2, 3])), hetero.Tensor(np.ones([3, 2], np.float32))):
        with pytest.raises(TensorError, match="variable 'total'"):
            states["total"].state = tensor
    np.testing.assert_array_equal(states["total"].state.data, ROWS[2])
    np.testing.assert_allclose(request.infer([ROWS[0]])[0], (ROWS[2] + ROWS[0]) / 2, rtol=1e-5)
