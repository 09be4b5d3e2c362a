"""Device OPENVINO beyond the conformance kit: devices, properties, memory, exports and errors."""

import gc
import io
import sys
import threading

import numpy as np
import openvino
import pytest
from hetero_openvino.memory import address_of, constant

from hetero import Constant, Core, Model, Parameter, Tensor, Type, ops
from hetero.graph import Op
from hetero.plugin.blobs.blob import read_blob
from hetero.system.errors import BlobError, CancelledError, DeviceError, PropertyError, UnsupportedOperationError
from tests.runtime.test_fork import fork

CPU = "OPENVINO.CPU"


@pytest.fixture
def core():
    return Core()


def product(rows: int = 2) -> Model:
    """Return a model y = relu(x) · weights, with weights of 1 + 2**-12, which is 1 in bf16."""
    x = Parameter(Type.f32, [rows, 64], name="x")
    weights = np.full((64, 64), 1 + 2**-12, np.float32)
    return Model(ops.MatMul(ops.Relu(x, name="relu"), weights, False, False, name="product"), [x], "product")


def test_devices_are_those_that_openvino_lists(core):
    engine = openvino.Core()
    found = [name for name in core.available_devices if name.startswith("OPENVINO")]
    assert found == [f"OPENVINO.{name}" for name in engine.available_devices]
    assert core.get_property(CPU, "FULL_DEVICE_NAME").startswith(engine.get_property("CPU", "FULL_DEVICE_NAME"))


@pytest.mark.parametrize("broken", ["missing", "broken"])
def test_unavailable_without_openvino(monkeypatch, broken):
    if broken == "missing":
        monkeypatch.setitem(sys.modules, "openvino", None)
    else:
        monkeypatch.delitem(sys.modules, "openvino")
        monkeypatch.setattr("builtins.__import__", _refuse_openvino(__import__))
    core = Core()
    assert not any(name.startswith("OPENVINO") for name in core.available_devices)
    assert "pip install --upgrade --force-reinstall openvino" in core.unavailable_devices["OPENVINO"]
    with pytest.raises(DeviceError, match="OPENVINO is not available: OpenVINO cannot be imported"):
        core.compile_model(product(), CPU)


def _refuse_openvino(real):
    def load(name, *arguments, **keywords):
        if name == "openvino":
            raise OSError("libopenvino.so: file too short")
        return real(name, *arguments, **keywords)

    return load


def test_properties_are_openvinos(core):
    engine = openvino.Core()
    mine, theirs = core.get_property(CPU, "SUPPORTED_PROPERTIES"), engine.get_property("CPU", "SUPPORTED_PROPERTIES")
    shared = mine.keys() & theirs.keys()
    assert {key: mine[key] for key in shared} == {key: theirs[key] for key in shared}
    # Not readable in Python, not writable without effect on later compilations, and hetero's own.
    assert theirs.keys() - mine.keys() <= {
        "COMPATIBILITY_CHECK",
        "ENABLE_CPU_RESERVATION",
        "EXECUTION_DEVICES",
        "WEIGHTS_PATH",
    }
    core.set_property(CPU, {"DYNAMIC_QUANTIZATION_GROUP_SIZE": 64})
    compiled = core.compile_model(product(), CPU, {"INFERENCE_NUM_THREADS": "1", "SCHEDULING_CORE_TYPE": "PCORE_ONLY"})
    assert compiled.get_property("DYNAMIC_QUANTIZATION_GROUP_SIZE") == 64
    assert compiled.get_property("INFERENCE_NUM_THREADS") == 1
    assert compiled.get_property("SCHEDULING_CORE_TYPE") == "PCORE_ONLY"
    with pytest.raises(
        PropertyError, match="SCHEDULING_CORE_TYPE of OPENVINO cannot be 'FAST': it takes one of ANY_CORE"
    ):
        core.compile_model(product(), CPU, {"SCHEDULING_CORE_TYPE": "FAST"})
    with pytest.raises(PropertyError, match="has no property KV_CACHE_PRECISIONS; did you mean"):
        core.set_property(CPU, {"KV_CACHE_PRECISIONS": "f32"})


def test_values_for_all_devices():
    """Core passes them to the devices that it has already, and to those that are created later."""
    core = Core()
    values = {"INFERENCE_NUM_THREADS": 1, "ENABLE_HYPER_THREADING": False}
    core.set_property({"INFERENCE_NUM_THREADS": 2, "ENABLE_HYPER_THREADING": True})
    core.get_plugin("OPENVINO")
    core.set_property(values)
    assert {key: core.get_property(CPU, key) for key in values} == values
    assert core.compile_model(product(), CPU).get_property("INFERENCE_NUM_THREADS") == 1


def test_computes_in_f32_unless_a_hint_allows_less(core):
    x = np.ones((2, 64), np.float32)
    exact = 64 * (1 + 2**-12)
    assert core.compile_model(product(), CPU)(x)[0][0, 0] == exact
    assert core.compile_model(product(), CPU).get_property("EXECUTION_MODE_HINT") == "ACCURACY"
    if "BF16" in core.get_property(CPU, "OPTIMIZATION_CAPABILITIES"):
        for options in ({"INFERENCE_PRECISION_HINT": "bf16"}, {"EXECUTION_MODE_HINT": "PERFORMANCE"}):
            compiled = core.compile_model(product(), CPU, options)
            assert compiled.get_property("INFERENCE_PRECISION_HINT") is Type.bf16
            assert compiled(x)[0][0, 0] == 64


def test_constants_share_memory_and_keep_it():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    array.setflags(write=False)
    made = constant(array, Type.f32)
    assert address_of(made.data) == address_of(array)
    del array
    gc.collect()
    np.testing.assert_array_equal(made.data, np.arange(6).reshape(2, 3))
    narrow = constant(np.array([1, 2, 3], Type.bf16.to_dtype()), Type.bf16)
    assert narrow.get_element_type() == openvino.Type.bf16
    assert narrow.get_data(dtype=np.float32).tolist() == [1, 2, 3]


def test_constants_of_less_than_a_byte(core):
    x = Parameter(Type.f32, [3])
    weights = ops.Convert(Constant(np.array([1, -2, 3], Type.i4.to_dtype())), "f32")
    compiled = core.compile_model(Model(ops.Multiply(x, weights), [x]), CPU)
    assert compiled(np.float32([2, 3, 4]))[0].tolist() == [2, -6, 12]


def test_tensors_are_used_in_place(core):
    request = core.compile_model(product(), CPU).create_infer_request()
    x, y = np.ones((2, 64), np.float32), np.zeros((2, 64), np.float32)
    x.setflags(write=False)
    request.set_tensor("x", Tensor(x, shared_memory=True))
    request.set_output_tensor(Tensor(y, shared_memory=True))
    request.infer()
    engine = request._request.request.engine
    assert address_of(engine.get_input_tensor(0).data) == address_of(x)
    assert address_of(engine.get_output_tensor(0).data) == address_of(y)
    assert (y == 64 * (1 + 2**-12)).all()


def test_outputs_that_are_one_value(core):
    x = Parameter(Type.f32, [3], name="x")
    y = ops.Relu(x)
    compiled = core.compile_model(Model([y, x, y, Constant(np.float32([7]))], [x]), CPU)
    for array in (np.float32([-1, 0, 1]), np.float32([2, -3, 4])):
        found = compiled(array).to_tuple()
        for actual, expected in zip(found, (array.clip(0), array, array.clip(0), [7])):
            np.testing.assert_array_equal(actual, expected)


def test_own_operations_are_refused_with_a_reason(core):
    class Negate(Op):
        input_names = ("data",)

        def validate_and_infer_types(self):
            self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    x = Parameter(Type.f32, [2])
    with pytest.raises(
        UnsupportedOperationError, match=r"OPENVINO.CPU cannot run Negate 'own' \(OpenVINO has no operation"
    ):
        core.compile_model(Model(Negate(x, name="own"), [x]), CPU)


def test_a_failing_query_names_the_operation(core):
    """OpenVINO fails to query Negative of u8, as it computes the constant -1 in u8."""
    x = Parameter(Type.f32, [2], name="x")
    half = ops.Relu(x, name="half")
    model = Model(ops.Add(half, ops.Tile(half, ops.Convert(x, "i64"), name="tile"), name="sum"), [x])
    found = core.query_model(model, CPU)
    assert found["half"] == CPU and "repetitions" in found.refused["tile"]


def test_requests_run_at_the_same_time(core):
    compiled = core.compile_model(product(), CPU, {"NUM_STREAMS": 2})
    requests = [compiled.create_infer_request() for _ in range(4)]
    ended = []
    for number, request in enumerate(requests):
        request.set_callback(ended.append, number)
        request.start_async(np.full((2, 64), number, np.float32))
    for number, request in enumerate(requests):
        request.wait()
        np.testing.assert_allclose(request.results[0], np.full((2, 64), 64 * (1 + 2**-12) * number), rtol=1e-6)
    assert sorted(ended) == [0, 1, 2, 3]


def test_cancel_stops_openvino(core):
    x = Parameter(Type.f32, [1, 64, 256, 256])
    value, weights = x, np.ones((64, 64, 3, 3), np.float32)
    for _ in range(12):
        value = ops.Convolution(value, weights, [1, 1], [1, 1], [1, 1], [1, 1])
    request = core.compile_model(Model(value, [x]), CPU).create_infer_request()
    request.infer()
    whole = request.latency
    timer = threading.Timer(whole / 10e3, request.cancel)
    timer.start()
    with pytest.raises(CancelledError):
        request.infer()
    assert request.latency < 0.8 * whole
    request.infer()


def test_exported_model_of_another_version(core):
    blob = core.compile_model(product(), CPU).export_model().getvalue()
    sections = read_blob(blob).sections
    plugin, options = core.resolve_device(CPU)
    with pytest.raises(BlobError, match="was exported by OpenVINO 2020.1, but this is 20"):
        plugin.import_model({**sections, "openvino_version": memoryview(b"2020.1")}, options)
    with pytest.raises(BlobError, match="OpenVINO cannot import it"):
        plugin.import_model({**sections, "openvino": memoryview(b"nothing")}, options)
    imported = core.import_model(io.BytesIO(blob), CPU)
    assert imported(np.ones((2, 64), np.float32))[0][0, 0] == 64 * (1 + 2**-12)


def test_variables_of_an_imported_model(core):
    x = Parameter(Type.f32, [2], name="x")
    read = ops.ReadValue(Constant(np.float32([5, 6])), "last")
    model = Model(ops.Add(read, x), [x], sinks=[ops.Assign(x, "last")])
    request = core.import_model(core.compile_model(model, CPU).export_model(), CPU).create_infer_request()
    assert request.infer(np.float32([1, 2]))[0].tolist() == [6, 8]
    (state,) = request.query_state()
    assert state.name == "last" and state.state.data.tolist() == [1, 2]
    state.state = Tensor(np.float32([10, 20]))
    assert request.infer(np.float32([1, 2]))[0].tolist() == [11, 22]
    request.reset_state()
    assert request.infer(np.float32([1, 2]))[0].tolist() == [6, 8]


def test_exact_division(core):
    """OpenVINO multiplies by the reciprocal: 127.5 steps of a scale then round up instead of down."""
    x, scale = Parameter(Type.f32, [1]), Parameter(Type.f32, [1])
    compiled = core.compile_model(Model([ops.Divide(x, scale), ops.Divide(np.float32([3]), scale)], [x, scale]), CPU)
    step = np.float32(5) / np.float32(255)
    found = compiled([np.float32([-2.5]), step.reshape(1)]).to_tuple()
    assert found[0] == np.float32(-2.5) / step
    np.testing.assert_allclose(found[1], np.float32(3) / step, rtol=1e-6)


def test_slopes_of_channels_keep_the_layout_of_convolutions(core):
    def convolution(value):
        return ops.Convolution(value, np.ones((16, 16, 1, 1), np.float32), [1, 1], [0, 0], [0, 0], [1, 1])

    def layout(shape):
        x = Parameter(Type.f32, [1, 16, 64, 64], name="x")
        pooled = ops.MaxPool(convolution(x), [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)
        slope = np.linspace(0, 1, 16, dtype=np.float32).reshape(shape)
        activated = ops.PRelu(pooled, slope, name="activated")
        compiled = core.compile_model(Model([convolution(activated), ops.Relu(activated)], [x]), CPU)
        executed = {node.friendly_name: node for node in compiled.get_runtime_model().get_ordered_ops()}
        return executed["activated"].rt_info["outputLayouts"]

    assert layout([16, 1, 1]) == layout([1, 16, 1, 1])


def test_a_variable_that_is_read_and_assigned_in_two_subgraphs(core):
    x = Parameter(Type.f32, [2], name="x")
    read = ops.Relu(ops.ReadValue(Constant(np.float32([5, 6])), "last"), name="read")
    between = ops.Multiply(read, x, name="between")
    model = Model(ops.Negative(read), [x], sinks=[ops.Assign(ops.Abs(between), "last")])
    between.rt_info["affinity"] = "TEMPLATE"
    request = core.compile_model(model, f"HETERO:{CPU},TEMPLATE").create_infer_request()
    for expected in ([-5, -6], [-10, -18], [-20, -54]):
        assert request.infer(np.float32([2, 3]))[0].tolist() == expected
    request.reset_state()
    assert request.infer(np.float32([2, 3]))[0].tolist() == [-5, -6]


def test_a_variable_that_is_never_assigned_has_the_initial_value_of_each_inference(core):
    x = Parameter(Type.f32, [2], name="x")
    compiled = core.compile_model(Model(ops.Relu(ops.ReadValue(x, "last")), [x]), CPU)
    for expected in ([1, 2], [3, 4]):
        assert compiled(np.float32(expected))[0].tolist() == expected


def test_rows_that_a_mask_excludes(core):
    query, key = (Parameter(Type.f32, [1, 2, 3], name=name) for name in ("query", "key"))
    mask = Parameter(Type.f32, [2, 2], name="mask")
    highest = ops.ReduceMax(mask, [1], True)
    outputs = [ops.ScaledDotProductAttention(query, key, key, mask), ops.Equal(highest, np.float32(-np.inf)), highest]
    compiled = core.compile_model(Model(outputs, [query, key, mask]), CPU)
    one, rows = np.ones((1, 2, 3), np.float32), np.float32([[-np.inf, -np.inf], [0, -np.inf]])
    attention, excluded, found = compiled([one, one, rows]).to_tuple()
    assert attention.tolist() == [[[0, 0, 0], [1, 1, 1]]]
    assert excluded.tolist() == [[True], [False]] and found.tolist() == [[-np.inf], [0]]


@pytest.mark.slow
def test_a_forked_process_gets_a_clear_error():
    fork(
        """
        core = Core()
        compiled = core.compile_model(model(), DEVICE)
        request = compiled.create_infer_request()
        run(request)
        """,
        """
        for error in (error_of(run, request), error_of(core.compile_model, model(), DEVICE)):
            assert isinstance(error, DeviceError) and "forked after OpenVINO was loaded" in str(error)
        assert "OPENVINO" in core.unavailable_devices
        os._exit(0)  # OpenVINO's own cleanup ends a forked process with an error
        """,
        CPU,
    )


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("keep", [True, False])
def test_a_constant_of_channels_after_a_reduction(core, axis, keep):
    """OpenVINO itself fuses it into reductions of three dimensions along the wrong axis."""
    data = np.random.default_rng(0).normal(size=(4, 7, 3)).astype(np.float32)
    expected = data.mean(axis, keepdims=keep)
    for along in range(expected.ndim):
        shape = [length if i == along else 1 for i, length in enumerate(expected.shape)]
        factors = np.arange(1, 1 + expected.shape[along], dtype=np.float32).reshape(shape)
        x = Parameter(Type.f32, [4, 7, 3], name="x")
        scaled = ops.Multiply(ops.ReduceMean(x, [axis], keep_dims=keep), factors)
        found = core.compile_model(Model([scaled], [x], "m"), CPU)([data])[0]
        np.testing.assert_allclose(found, expected * factors, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("version", [ops.TopK, ops.TopKV3, ops.TopKV1])
@pytest.mark.parametrize("kind", [Type.f32, Type.i32], ids=str)
@pytest.mark.parametrize(("mode", "sort"), [("max", "value"), ("min", "index"), ("max", "none")])
def test_the_first_of_equal_elements_is_selected(core, version, kind, mode, sort):
    data = np.random.default_rng(0).integers(0, 3, (5, 40)).astype(kind.to_dtype())
    x = Parameter(kind, data.shape, name="x")
    compiled = core.compile_model(Model(version(x, np.int64(7), 1, mode, sort).outputs(), [x], "m"), CPU)
    keys = data if mode == "min" else -data
    expected = np.sort(np.argsort(keys, axis=1, kind="stable")[:, :7], axis=1)
    np.testing.assert_array_equal(np.sort(compiled([data])[1], axis=1), expected)


@pytest.mark.parametrize("kind", [ops.LSTMSequence, ops.GRUSequence, ops.RNNSequence])
@pytest.mark.parametrize("shape", [[3, 5, 4], [-1, 5, 4], [3, -1, 4], [-1, -1, 4]], ids=str)
def test_sequences_that_end_early(core, kind, shape):
    """OpenVINO computes all steps if the shape of the data is dynamic."""
    generator = np.random.default_rng(0)
    gates = {ops.LSTMSequence: 4, ops.GRUSequence: 3, ops.RNNSequence: 1}[kind]
    weights = [
        generator.normal(size=size).astype(np.float32)
        for size in ((1, gates * 2, 4), (1, gates * 2, 2), (1, gates * 2))
    ]
    x, given = Parameter(Type.f32, shape, name="x"), Parameter(Type.i32, [shape[0]], name="lengths")
    batch, time = (ops.Gather(ops.ShapeOf(x), [axis], np.int64(0)) for axis in (0, 1))
    state = ops.Broadcast(np.float32(0), ops.Concat([batch, np.int64([1, 2])], 0))
    states = [state] * (2 if kind is ops.LSTMSequence else 1)

    def compiled(lengths, device):
        sequence = kind(x, *states, lengths, *weights, 2, "forward")
        inputs = [x, given] if lengths is given else [x]
        return core.compile_model(Model(sequence.outputs(), inputs, "m"), device)

    data = generator.normal(size=(3, 5, 4)).astype(np.float32)
    whole, *_ = compiled(ops.Broadcast(time, batch), CPU)([data]).to_tuple()
    lengths = np.int32([1, 5, 0])
    steps, last, *_ = compiled(given, f"HETERO:{CPU},TEMPLATE")([data, lengths]).to_tuple()
    for row, length in enumerate(lengths):
        np.testing.assert_allclose(steps[row, :, :length], whole[row, :, :length], rtol=1e-5, atol=1e-6)
        assert not steps[row, :, length:].any()
        np.testing.assert_array_equal(last[row], steps[row, :, length - 1] if length else 0)


@pytest.mark.parametrize("kind", [Type.f32, Type.f16], ids=str)
def test_regions_without_area(core, kind):
    """Detectors pad their lists of boxes with such regions. ONNX Runtime and torchvision return 0 for them."""
    dtype = kind.to_dtype()
    boxes = np.array([[1, 1, 3, 4], [2, 2, 2, 2], [2, 1, 2, 4], [4, 1, 2, 3], [3, 3, 1, 1]], dtype)
    regions = Parameter(kind, boxes.shape, name="regions")
    image, indices = np.ones((1, 2, 6, 7), dtype), np.zeros(5, np.int32)
    pooled = ops.ROIAlign(image, regions, indices, 3, 2, 0, 0.7, "avg", "half_pixel")
    found = core.compile_model(Model([pooled], [regions], "m"), CPU)([boxes])[0]
    np.testing.assert_array_equal(
        found, np.broadcast_to(np.array([1, 0, 0, 0, 0], dtype)[:, None, None, None], (5, 2, 3, 2))
    )
