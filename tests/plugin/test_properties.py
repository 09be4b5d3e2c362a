"""The properties that all devices share: their meaning, and bad values."""

import dataclasses
import functools
import gc
import logging
import threading

import numpy as np
import pytest
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.plugin import TemplatePlugin

import hetero
from hetero import Core, Model, Parameter, Type, ops
from hetero import properties as props
from hetero.system.errors import PropertyError

DEVICES = ["TEMPLATE", "GPU"]
READ_ONLY = [
    "AVAILABLE_DEVICES", "SUPPORTED_PROPERTIES", "FULL_DEVICE_NAME", "DEVICE_ARCHITECTURE", "DEVICE_TYPE",
    "OPTIMIZATION_CAPABILITIES", "RANGE_FOR_ASYNC_INFER_REQUESTS", "RANGE_FOR_STREAMS",
    "OPTIMAL_NUMBER_OF_INFER_REQUESTS",
]  # fmt: skip
READ_AND_WRITE = [
    "DEVICE_ID", "PERF_COUNT", "NUM_STREAMS", "PERFORMANCE_HINT", "PERFORMANCE_HINT_NUM_REQUESTS",
    "INFERENCE_PRECISION_HINT", "EXECUTION_MODE_HINT", "MODEL_PRIORITY", "LOG_LEVEL", "EXCLUSIVE_ASYNC_REQUESTS",
    "DISABLE_TRANSFORMATIONS", "DISABLED_PASSES",
]  # fmt: skip
X = np.arange(4, dtype=np.float32)


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture
def core():
    return Core()


def relu_model(name: str = "relu") -> Model:
    x = Parameter(Type.f32, [4], name="x")
    return Model(ops.Relu(x), [x], name)


def test_the_keys_of_a_device(core, device):
    supported = core.get_property(device, "SUPPORTED_PROPERTIES")
    assert {key: supported.get(key) for key in READ_ONLY} == dict.fromkeys(READ_ONLY, "RO")
    assert {key: supported.get(key) for key in READ_AND_WRITE} == dict.fromkeys(READ_AND_WRITE, "RW")
    assert core.get_property(device, "DEVICE_TYPE") in set(props.device.Type)
    assert set(core.get_property(device, "OPTIMIZATION_CAPABILITIES")) <= set(props.device.Capability)
    least, most = core.get_property(device, "RANGE_FOR_STREAMS")
    assert least == 1 and most >= 1
    assert core.get_property(device, "RANGE_FOR_ASYNC_INFER_REQUESTS") == (1, most, 1)


@pytest.mark.parametrize(
    ("options", "streams"),
    [
        ({}, 1),
        ({"PERFORMANCE_HINT": "LATENCY"}, 1),
        ({"PERFORMANCE_HINT": "THROUGHPUT"}, "most"),
        ({"PERFORMANCE_HINT": props.hint.PerformanceMode.CUMULATIVE_THROUGHPUT}, "most"),
        ({"PERFORMANCE_HINT": "THROUGHPUT", "PERFORMANCE_HINT_NUM_REQUESTS": 1}, 1),
        ({"PERFORMANCE_HINT": "THROUGHPUT", "PERFORMANCE_HINT_NUM_REQUESTS": 1000}, "most"),
        ({"PERFORMANCE_HINT": "THROUGHPUT", "NUM_STREAMS": 3}, 3),
        ({"PERFORMANCE_HINT_NUM_REQUESTS": 1, "NUM_STREAMS": 3}, 3),
        ({"NUM_STREAMS": "AUTO"}, "most"),
        ({"NUM_STREAMS": props.streams.Num.AUTO, "PERFORMANCE_HINT_NUM_REQUESTS": 1}, 1),
    ],
)
@pytest.mark.parametrize("name", [*DEVICES, "HETERO:TEMPLATE,GPU"])
def test_streams_follow_the_performance_hint(core, name, options, streams):
    kind = name.partition(":")[0]
    if streams == "most":
        streams = core.get_property(kind, "RANGE_FOR_STREAMS")[1]
    compiled = core.compile_model(relu_model(), name, options)
    assert compiled.get_property("NUM_STREAMS") == streams
    assert compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS") == streams
    plugin, implied = core.resolve_device(name)
    assert plugin.compile_model(relu_model(), {**implied, **options}).executor.size == streams
    core.set_property(kind, options)
    assert core.get_property(kind, "NUM_STREAMS") == streams


@pytest.mark.parametrize(
    ("options", "slots"),
    [
        ({}, {"GPU": 1, "TEMPLATE": 1}),
        ({"NUM_STREAMS": 3}, {"GPU": 3, "TEMPLATE": 3}),
        ({"PERFORMANCE_HINT": "THROUGHPUT", "PERFORMANCE_HINT_NUM_REQUESTS": 1}, {"GPU": 1, "TEMPLATE": 1}),
        ({"DEVICE_PROPERTIES": {"GPU": {"NUM_STREAMS": 2}}}, {"GPU": 2, "TEMPLATE": 1}),
    ],
)
def test_the_dispatcher_runs_as_many_steps_at_once_as_its_devices_have_streams(core, options, slots):
    x = Parameter(Type.f32, [4], name="x")
    model = Model(ops.Tanh(ops.Relu(x, name="relu"), name="tanh"), [x])
    placed = {"AFFINITIES": {"relu": "GPU", "tanh": "TEMPLATE"}}
    hetero, implied = core.resolve_device("HETERO:GPU,TEMPLATE")
    compiled = hetero.compile_model(model, {**implied, **options, **placed})
    assert compiled.plan.slots == slots
    assert compiled.get_property("NUM_STREAMS") == max(slots.values())
    assert compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS") == sum(slots.values())


def test_most_properties_of_a_compiled_model_are_read_only(core, device):
    options = {
        "PERF_COUNT": True, "NUM_STREAMS": 2, "PERFORMANCE_HINT": "THROUGHPUT", "PERFORMANCE_HINT_NUM_REQUESTS": 7,
        "INFERENCE_PRECISION_HINT": Type.f32, "EXECUTION_MODE_HINT": "ACCURACY", "MODEL_PRIORITY": "HIGH",
        "EXCLUSIVE_ASYNC_REQUESTS": True, "DISABLED_PASSES": ["fold_constants"], "DISABLE_TRANSFORMATIONS": True,
    }  # fmt: skip
    compiled = core.compile_model(relu_model("small"), device, options)
    assert {key: compiled.get_property(key) for key in options} == options
    assert compiled.get_property("NETWORK_NAME") == "small"
    assert compiled.get_property("EXECUTION_DEVICES") == [device]
    assert compiled.get_property("LOADED_FROM_CACHE") is False
    mutable = {key for key, kind in compiled.get_property("SUPPORTED_PROPERTIES").items() if kind == "RW"}
    assert mutable == {"PERF_COUNT"} | ({"INFERENCE_NUM_THREADS"} if device == "TEMPLATE" else set())
    read_only = rf"property NUM_STREAMS of compiled model 'small' of {device} is read-only; set it in compile_model\(\)"
    with pytest.raises(PropertyError, match=read_only):
        compiled.set_property({"PERF_COUNT": False, "NUM_STREAMS": 1})
    assert compiled.get_property("PERF_COUNT") is True
    with pytest.raises(PropertyError, match="property NETWORK_NAME of compiled model 'small' .* is read-only$"):
        compiled.set_property({"NETWORK_NAME": "large"})
    with pytest.raises(PropertyError, match="compiled model 'small' of .* has no property PERF_COUNTS; did you mean"):
        compiled.get_property("PERF_COUNTS")


def test_exported_models_keep_their_properties(core, device):
    options = {
        "INFERENCE_PRECISION_HINT": Type.f32, "EXECUTION_MODE_HINT": props.hint.ExecutionMode.ACCURACY,
        "NUM_STREAMS": 3, "DISABLED_PASSES": ["fold_constants"],
    }  # fmt: skip
    exported = core.compile_model(relu_model(), device, options).export_model()
    imported = core.import_model(exported.getvalue(), device)
    assert {key: imported.get_property(key) for key in options} == options
    again = core.import_model(exported.getvalue(), device, {"NUM_STREAMS": 2})
    assert again.get_property("NUM_STREAMS") == 2
    np.testing.assert_array_equal(again(X)[0], X)


def test_the_dispatcher_reports_the_options_of_its_devices(core):
    options = {"INFERENCE_PRECISION_HINT": "f32", "MODEL_PRIORITY": "LOW", "EXECUTION_MODE_HINT": "ACCURACY"}
    compiled = core.compile_model(relu_model(), "HETERO:GPU,TEMPLATE", options)
    assert {key: hetero.OVAny(compiled.get_property(key)).astype(str) for key in options} == options
    assert compiled.get_property("EXECUTION_DEVICES") == ["GPU"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"INFERENCE_PRECISION_HINT": "u8"}, "PRECISION_HINT of D cannot be 'u8': it takes one of f32,.* dynamic"),
        ({"INFERENCE_PRECISION_HINT": Type.i8}, "PRECISION_HINT of D cannot be .*int8.*one of f32,.* dynamic"),
        ({"EXECUTION_MODE_HINT": "FAST"}, "MODE_HINT of D cannot be 'FAST': it takes one of PERFORMANCE, ACC"),
        ({"MODEL_PRIORITY": 2}, "MODEL_PRIORITY of D cannot be 2: it takes one of LOW, MEDIUM, HIGH"),
        ({"LOG_LEVEL": "LOUD"}, "LOG_LEVEL of D cannot be 'LOUD': it takes one of LOG_NONE, LOG_ERROR"),
        ({"PERFORMANCE_HINT_NUM_REQUESTS": -1}, "PERFORMANCE_HINT_NUM_REQUESTS of D cannot be -1: it takes an integer"),
        ({"RANGE_FOR_STREAMS": (1, 2)}, "RANGE_FOR_STREAMS of D is read-only$"),
        ({"DEVICE_ID": "77"}, "DEVICE_ID of D cannot be '77': it takes "),
    ],
)  # fmt: skip
def test_bad_values_change_nothing(core, device, values, message):
    message = message.replace("of D", f"of {device}")
    with pytest.raises(PropertyError, match=message):
        core.set_property(device, {"PERF_COUNT": True, **values})
    assert core.get_property(device, "PERF_COUNT") is False
    for act in (core.compile_model, core.query_model):
        with pytest.raises(PropertyError, match=message):
            act(relu_model(), device, values)
    np.testing.assert_array_equal(core.compile_model(relu_model(), device)(X - 1)[0], np.maximum(X - 1, 0))


@pytest.mark.parametrize("value", ["f32", "FP32", np.float32, Type.dynamic, "dynamic", "undefined"])
def test_supported_precisions(core, device, value):
    core.set_property(device, {"INFERENCE_PRECISION_HINT": value})
    expected = Type.dynamic if value in (Type.dynamic, "dynamic", "undefined") else Type.f32
    assert core.get_property(device, "INFERENCE_PRECISION_HINT") is expected


class _Bf16Plugin(TemplatePlugin):
    """TEMPLATE with a device that says that it is fastest in bf16."""

    def devices(self):
        return [dataclasses.replace(device, fastest_type=Type.bf16) for device in super().devices()]


@pytest.mark.parametrize(
    ("options", "precision"),
    [
        ({}, Type.dynamic),
        ({"EXECUTION_MODE_HINT": "PERFORMANCE"}, Type.bf16),
        ({"EXECUTION_MODE_HINT": "ACCURACY"}, Type.dynamic),
        ({"EXECUTION_MODE_HINT": "PERFORMANCE", "INFERENCE_PRECISION_HINT": "f32"}, Type.f32),
        ({"EXECUTION_MODE_HINT": "PERFORMANCE", "INFERENCE_PRECISION_HINT": "dynamic"}, Type.dynamic),
        ({"EXECUTION_MODE_HINT": "ACCURACY", "INFERENCE_PRECISION_HINT": "bf16"}, Type.bf16),
    ],
)
def test_the_fastest_type_is_for_users_who_ask_for_performance(core, options, precision):
    core.register_plugin(_Bf16Plugin, "NPU")
    compiled = core.compile_model(relu_model(), "HETERO:NPU,TEMPLATE", options)
    assert compiled.get_property("INFERENCE_PRECISION_HINT") is precision
    assert core.compile_model(relu_model(), "NPU", options).get_property("INFERENCE_PRECISION_HINT") is precision
    core.set_property(options)
    assert core.get_property("NPU", "INFERENCE_PRECISION_HINT") is precision
    assert core.get_property("TEMPLATE", "INFERENCE_PRECISION_HINT") in (precision, Type.dynamic)


def normalized() -> tuple[Model, np.ndarray, np.ndarray]:
    """Return a model of a convolution with a batch normalization, an input, and the result in float64."""
    random = np.random.default_rng(0)
    x = random.standard_normal([1, 2, 4, 4]).astype(np.float32)
    weights, gamma, beta, mean = (
        random.standard_normal(shape).astype(np.float32) for shape in ([3, 2, 1, 1], [3], [3], [3])
    )
    variance = random.uniform(1, 2, [3]).astype(np.float32)
    data = Parameter(Type.f32, [1, 2, 4, 4], name="x")
    convolution = ops.Convolution(data, weights, strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 0], dilations=[1, 1])
    model = Model(ops.BatchNormInference(convolution, gamma, beta, mean, variance, epsilon=1e-3), [data], "normalized")
    product = np.einsum("nchw,kc->nkhw", x.astype(np.float64), weights[:, :, 0, 0])
    scale, shift, center = ((gamma / np.sqrt(variance + 1e-3)), beta, mean)
    return model, x, (product - center[:, None, None]) * scale[:, None, None] + shift[:, None, None]


@pytest.mark.parametrize(("mode", "folded"), [("PERFORMANCE", True), ("ACCURACY", False)])
def test_accuracy_mode_skips_passes_that_change_rounding(core, device, mode, folded):
    model, x, expected = normalized()
    plugin = core.get_plugin(device)
    weights = model.get_ordered_ops()
    before = next(n for n in weights if n.type_info.name == "Convolution").input_value(1).node.data
    transformed = plugin.transform_model(model.clone(), plugin.property_table({"EXECUTION_MODE_HINT": mode}))
    convolution = next(n for n in transformed.get_ordered_ops() if "Convolution" in n.type_info.name)
    assert np.array_equal(convolution.input_value(1).node.data, before) is not folded
    result = core.compile_model(model, device, {"EXECUTION_MODE_HINT": mode})(x)[0]
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_disabled_transformations_leave_the_model_unchanged(core, device):
    x = Parameter(Type.f32, [4], name="x")
    model = Model(ops.Relu(ops.Add(x, ops.Add(X, X))), [x])
    plugin = core.get_plugin(device)
    for disabled in (False, True):
        table = plugin.property_table({"DISABLE_TRANSFORMATIONS": disabled})
        types = [n.type_info.name for n in plugin.transform_model(model.clone(), table).get_ordered_ops()]
        assert types.count("Add") == (2 if disabled else 1)
        compiled = core.compile_model(model, device, {"DISABLE_TRANSFORMATIONS": disabled})
        np.testing.assert_array_equal(compiled(-X)[0], X)


@pytest.mark.parametrize("where", ["device", "compilation"])
def test_the_log_level_is_that_of_the_devices_logger(core, device, where, caplog):
    logger = logging.getLogger(f"hetero.{device}")

    def messages(level):
        caplog.clear()
        if where == "device":
            core.set_property(device, {"LOG_LEVEL": level})
            core.compile_model(relu_model(), device)
        else:
            core.compile_model(relu_model(), device, {"LOG_LEVEL": level})
        return [(r.name, r.levelname) for r in caplog.records if r.name == logger.name]

    try:
        assert messages("LOG_INFO") == [(logger.name, "INFO")]
        assert set(messages(props.log.Level.DEBUG)) == {(logger.name, "INFO"), (logger.name, "DEBUG")}
        assert messages("LOG_NONE") == [] and not logger.isEnabledFor(logging.CRITICAL)
    finally:
        logger.setLevel(logging.NOTSET)


@pytest.mark.parametrize("asked", ["of a property", "of a query", "of a bad property"])
def test_the_log_level_is_not_set_by_being_asked(core, device, asked):
    logger, options = logging.getLogger(f"hetero.{device}"), {"LOG_LEVEL": "LOG_DEBUG"}
    before = logger.level
    try:
        if asked == "of a property":
            assert core.get_property(device, "LOG_LEVEL", options) == props.log.Level.DEBUG
        elif asked == "of a query":
            assert core.query_model(relu_model(), device, options)
        else:
            with pytest.raises(PropertyError, match="NO_SUCH_KEY"):
                core.set_property(device, {**options, "NO_SUCH_KEY": 1})
            with pytest.raises(PropertyError, match="DEVICE_ID"):
                core.set_property(device, {**options, "DEVICE_ID": "no such device"})
        assert logger.level == before
    finally:
        logger.setLevel(before)


def test_the_log_level_of_a_compilation_is_that_of_its_devices_too(device, caplog):
    logger, core = logging.getLogger(f"hetero.{device}"), Core()
    before = logger.level
    try:
        core.compile_model(relu_model(), f"HETERO:{device}", {"LOG_LEVEL": "LOG_DEBUG"})
        assert {"DEBUG", "INFO"} <= {record.levelname for record in caplog.records if record.name == logger.name}
    finally:
        logger.setLevel(before)


def test_the_log_level_of_a_registration_is_that_of_the_device():
    logger, core = logging.getLogger("hetero.REGISTERED"), Core()
    core.register_plugin(TemplatePlugin, "REGISTERED", {"LOG_LEVEL": "LOG_ERROR"})
    try:
        core.get_plugin("REGISTERED")
        assert logger.level == logging.ERROR
    finally:
        logger.setLevel(logging.NOTSET)


def order_of_starts(core, device, priorities, options) -> tuple[list[str], set[int]]:
    """Start inferences of several models while one blocks its thread; return the order of starts and the threads."""
    started, threads, held, go = [], set(), threading.Event(), threading.Event()

    def start(name, original):
        if name == "first":
            held.set()
            assert go.wait(60)
        started.append(name)
        threads.add(threading.get_ident())
        original()

    requests = []
    for name in ("first", *priorities):
        priority = {} if name == "first" else {"MODEL_PRIORITY": name}
        request = core.compile_model(relu_model(name), device, {**options, **priority}).create_infer_request()
        sync = request._request.request
        sync.start = functools.partial(start, name, sync.start)
        request.start_async(X)
        requests.append(request)
        assert held.wait(60)
    go.set()
    for request in requests:
        request.wait()
        np.testing.assert_array_equal(request.results[0], X)
    return started, threads


@pytest.mark.parametrize("device", [*DEVICES, "HETERO:GPU,TEMPLATE"])
def test_exclusive_requests_run_one_after_the_other_by_the_priority_of_their_models(core, device):
    started, threads = order_of_starts(core, device, ["LOW", "MEDIUM", "HIGH"], {"EXCLUSIVE_ASYNC_REQUESTS": True})
    assert started == ["first", "HIGH", "MEDIUM", "LOW"] and len(threads) == 1


def test_other_requests_do_not_share_threads(core, device):
    _, threads = order_of_starts(core, device, ["LOW", "HIGH"], {})
    assert len(threads) == 3


def test_the_exclusive_thread_ends_with_the_last_model_that_uses_it(core, device):
    gc.collect()
    earlier = threading.enumerate()  # one of another test may be about to end
    compiled = core.compile_model(relu_model(), device, {"EXCLUSIVE_ASYNC_REQUESTS": True})
    request = compiled.create_infer_request()
    request.start_async(X)
    request.wait()
    name = f"hetero {device} exclusive"
    mine = [t for t in threading.enumerate() if t.name.startswith(name) and t not in earlier]
    assert len(mine) == 1
    del compiled, request
    gc.collect()
    mine[0].join(60)
    assert not mine[0].is_alive()


def test_threads_for_each_request_that_keeps_a_device_busy():
    class Busy(TemplateCompiledModel):
        def __init__(self, prepared):
            super().__init__(prepared)
            self.properties.set_internal({props.optimal_number_of_infer_requests: 3})

    class BusyPlugin(TemplatePlugin):
        def compile(self, prepared):
            return Busy(prepared)

    core = Core()
    core.register_plugin(BusyPlugin, "BUSY")
    compiled = core.compile_model(relu_model(), "BUSY")
    assert (compiled.get_property("NUM_STREAMS"), compiled._compiled.executor.size) == (1, 3)
