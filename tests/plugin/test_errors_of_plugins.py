"""Whatever code of a plugin raises is a failure of the device: no other program ends, and other devices take over."""

import signal
import threading

import numpy as np
import pytest
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.infer_request import TemplateInferRequest

from hetero import Core, Model, Parameter, Tensor, Type, ops
from hetero.system.errors import (
    BlobError,
    CancelledError,
    ConfigError,
    DeviceError,
    FrontendError,
    GraphError,
    HeteroError,
    NotSupportedError,
    PropertyError,
    RequestBusyError,
    TensorError,
    UnsupportedOperationError,
)
from tests.devices import PickyPlugin, core_with
from tests.dispatch.faulty import warnings_in

X = np.array([[-1, 0, 0.5, 2]], np.float32)
Y = np.maximum(X, 0)


class Odd(BaseException):
    """An error that is not an Exception."""


class _Request(TemplateInferRequest):
    def set_tensor(self, port, tensor):
        self.compiled_model.plugin.fail("set_tensor")
        super().set_tensor(port, tensor)

    def preprocess(self):
        self.compiled_model.plugin.fail("preprocess")
        super().preprocess()

    def start(self):
        self.compiled_model.plugin.fail("start")
        super().start()

    def wait(self):
        self.compiled_model.plugin.fail("wait")

    def postprocess(self):
        self.compiled_model.plugin.fail("postprocess")
        super().postprocess()

    def check_inputs(self):
        self.compiled_model.plugin.fail("check_inputs")
        super().check_inputs()

    def query_state(self):
        self.compiled_model.plugin.fail("query_state")
        return super().query_state()

    def get_profiling_info(self):
        self.compiled_model.plugin.fail("get_profiling_info")
        return super().get_profiling_info()

    def cancel(self):
        self.compiled_model.plugin.fail("cancel")
        super().cancel()


class _CompiledModel(TemplateCompiledModel):
    def create_sync_infer_request(self):
        self.plugin.fail("create_sync_infer_request")
        return _Request(self)

    def create_infer_request(self):
        self.plugin.fail("create_infer_request")
        return super().create_infer_request()

    def export_sections(self):
        self.plugin.fail("export_sections")
        return super().export_sections()

    def get_runtime_model(self):
        self.plugin.fail("get_runtime_model")
        return super().get_runtime_model()

    def get_property(self, key):
        self.plugin.fail("get_property of a compiled model")
        return super().get_property(key)

    def set_property(self, values):
        self.plugin.fail("set_property of a compiled model")
        super().set_property(values)


def _failing(method):
    """Return the method of PickyPlugin, after a call of ``fail``."""

    def call(self, *arguments, **options):
        self.fail(method)
        return getattr(PickyPlugin, method)(self, *arguments, **options)

    return call


class Failing(PickyPlugin):
    """TEMPLATE that raises an error in one place, from when ``place`` is set; the error is made anew each time."""

    def __init__(self, place: str = "", error=lambda: Odd("x")) -> None:
        super().__init__()
        self.place, self.error = place, error

    def fail(self, place: str) -> None:
        if place == self.place:
            raise self.error()

    def compile(self, prepared):
        self.fail("compile")
        self.compiled.append(prepared.model)
        return _CompiledModel(prepared)

    query_model, compile_model, import_model = map(_failing, ("query_model", "compile_model", "import_model"))
    get_property, set_property, transform_model = map(_failing, ("get_property", "set_property", "transform_model"))
    devices, unavailable_devices, close = map(_failing, ("devices", "unavailable_devices", "close"))
    create_context, get_default_context = map(_failing, ("create_context", "get_default_context"))
    cache_key = _failing("cache_key")


def relu() -> Model:
    x = Parameter(Type.f32, [-1, 4], name="x")
    return Model(ops.Relu(x, name="relu"), [x], "relu")


def infer(core: Core, device: str, asynchronous: bool = False):
    request = core.compile_model(relu(), device).create_infer_request()
    if asynchronous:
        request.start_async(X)
        request.wait()
    else:
        request.infer(X)
    return request.results[0]


ENDING = [SystemExit, GeneratorExit, Odd, StopIteration, KeyboardInterrupt, MemoryError]
INFERENCE = (
    "query_model", "transform_model", "compile_model", "compile", "create_sync_infer_request", "set_tensor",
    "preprocess", "start", "wait", "postprocess",
)  # fmt: skip


@pytest.mark.parametrize("error", ENDING)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["infer", "start_async"])
@pytest.mark.parametrize("place", INFERENCE)
def test_another_device_takes_over(place, asynchronous, error, caplog):
    core = core_with(A=Failing(place, lambda: error("odd")), B=PickyPlugin())
    for devices in ("HETERO:A,B", "AUTO:A,B"):
        caplog.clear()
        np.testing.assert_array_equal(infer(core, devices, asynchronous), Y)
        # HETERO compiles what the query prepared, and AUTO asks no query.
        if (place, devices) not in (("compile_model", "HETERO:A,B"), ("query_model", "AUTO:A,B")):
            (warning,) = warnings_in(caplog)
            assert " A failed " in warning and f"{error.__name__}: odd" in warning


@pytest.mark.parametrize("error", ENDING)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["infer", "start_async"])
@pytest.mark.parametrize("place", [*INFERENCE[1:5], *INFERENCE[6:], "create_infer_request", "check_inputs"])
def test_the_error_names_the_device(place, asynchronous, error):
    core = core_with(A=Failing(place, lambda: error("odd")))
    with pytest.raises(DeviceError, match=rf"^A failed .*'relu': {error.__name__}: odd$"):
        infer(core, "A", asynchronous)


def _export(core):
    return core.compile_model(relu(), "A").export_model()


OTHERS = {
    "query_model": lambda core: core.query_model(relu(), "A"),
    "export_sections": _export,
    "import_model": lambda core: core.import_model(_export(core), "A"),
    "get_property": lambda core: core.get_property("A", "FULL_DEVICE_NAME"),
    "set_property": lambda core: core.set_property("A", {"PERF_COUNT": True}),
    "create_context": lambda core: core.create_context("A", {}),
    "get_default_context": lambda core: core.get_default_context("A"),
    "get_runtime_model": lambda core: core.compile_model(relu(), "A").get_runtime_model(),
    "get_property of a compiled model": lambda core: core.compile_model(relu(), "A").get_property("PERF_COUNT"),
    "set_property of a compiled model": lambda core: core.compile_model(relu(), "A").set_property({"PERF_COUNT": True}),
    "query_state": lambda core: core.compile_model(relu(), "A").query_state(),
    "get_profiling_info": lambda core: core.compile_model(relu(), "A").create_infer_request().get_profiling_info(),
    "set_tensor": lambda core: core.compile_model(relu(), "A").create_infer_request().set_input_tensor(Tensor(X)),
    "devices": lambda core: core.compile_model(relu(), "A.0"),
    "close": lambda core: core.unload_plugin("A"),
}


@pytest.mark.parametrize("error", ENDING)
@pytest.mark.parametrize("place", OTHERS)
def test_other_functions_name_the_device(place, error):
    plugin = Failing(error=lambda: error("odd"))
    core = core_with(A=plugin)
    infer(core, "A")
    plugin.place = place
    with pytest.raises(DeviceError, match=rf"^A failed .*{error.__name__}: odd$"):
        OTHERS[place](core)


@pytest.mark.parametrize("error", ENDING)
def test_lists_of_devices_leave_out_those_that_fail(error):
    plugin = Failing(error=lambda: error("odd"))
    core = core_with(A=plugin, B=PickyPlugin())
    assert {"A", "B"} <= {*core.available_devices}
    plugin.place = "devices"
    assert "B" in core.available_devices and "A" not in core.available_devices
    for devices in ("HETERO:A,B", "AUTO:A,B", "HETERO:A.0,B"):
        np.testing.assert_array_equal(infer(core, devices), Y)
    plugin.place = "unavailable_devices"
    assert core.unavailable_devices["A"] == f"A failed to list its unavailable devices: {error.__name__}: odd"


@pytest.mark.parametrize("place", ["cache_key", "compile_model", "export_sections"])
def test_the_model_cache(place, tmp_path, caplog):
    core = core_with(A=Failing(place, lambda: SystemExit(3)))
    options = {"CACHE_DIR": tmp_path}
    if place == "export_sections":
        core.compile_model(relu(), "A", options)
        assert warnings_in(caplog) == ["'relu' is not cached: A failed to export the model: SystemExit: 3"]
    else:
        with pytest.raises(DeviceError, match="^A failed to .*: SystemExit: 3$"):
            core.compile_model(relu(), "A", options)


KEPT = [
    DeviceError,
    NotSupportedError,
    UnsupportedOperationError,
    PropertyError,
    BlobError,
    TensorError,
    CancelledError,
]
REPLACED = [HeteroError, GraphError, FrontendError, RequestBusyError, ConfigError]


@pytest.mark.parametrize("error", [*KEPT, *REPLACED])
@pytest.mark.parametrize("place", INFERENCE)
def test_errors_of_hetero_that_a_plugin_raises_are_its_failures_too(place, error, caplog):
    plugin = Failing(place, lambda: error("odd"))
    core = core_with(A=plugin, B=PickyPlugin())
    np.testing.assert_array_equal(infer(core, "HETERO:A,B"), Y)
    if place != "compile_model":
        (warning,) = warnings_in(caplog)
        assert " A failed " in warning and warning.count("odd") == 1
    np.testing.assert_array_equal(infer(core, "AUTO:A,B"), Y)


@pytest.mark.parametrize("error", [*KEPT, *REPLACED])
@pytest.mark.parametrize("place", ["compile", "create_sync_infer_request", "start"])
def test_errors_of_hetero_that_a_plugin_raises_name_the_device(place, error):
    with pytest.raises(error if error in KEPT else DeviceError, match=r"^A failed .*'relu': odd$"):
        infer(core_with(A=Failing(place, lambda: error("odd"))), "A")
    with pytest.raises(error, match="^odd on A$") if error in KEPT else pytest.raises(DeviceError, match="^odd on A$"):
        infer(core_with(A=Failing(place, lambda: error("odd on A"))), "A")


def test_mistakes_of_the_user_are_no_failures_of_a_device(caplog):
    core = core_with(A=PickyPlugin(), B=PickyPlugin())
    for devices in ("HETERO:A,B", "AUTO:A,B"):
        with pytest.raises(PropertyError, match="^property PERF_COUNT of .* cannot be 'perhaps'"):
            core.compile_model(relu(), devices, {"PERF_COUNT": "perhaps"})
        with pytest.raises(PropertyError, match="^property INFERENCE_NUM_THREADS of A cannot be 'some'"):
            core.compile_model(relu(), devices, {"INFERENCE_NUM_THREADS": "some"})
        request = core.compile_model(relu(), devices).create_infer_request()
        with pytest.raises(TensorError, match="^'x' takes the shape"):
            request.infer(np.zeros([1, 5], np.float32))
        with pytest.raises(TensorError, match="^'x' takes f32 elements"):
            request.set_input_tensor(Tensor(np.zeros([1, 4], np.int64)))
        np.testing.assert_array_equal(request.infer(X)[0], Y)
        assert not warnings_in(caplog)


def _python_handler(number, frame):
    raise SystemExit(number)


class _Handler:
    def __call__(self, *arguments):
        raise TimeoutError("too late")


HANDLERS = {
    "Ctrl-C": (signal.SIGINT, signal.default_int_handler, KeyboardInterrupt),
    "exit at SIGTERM": (signal.SIGTERM, _python_handler, SystemExit),
    "lambda": (signal.SIGTERM, lambda *_: exec("raise KeyboardInterrupt"), KeyboardInterrupt),
    "alarm": (signal.SIGALRM, _Handler(), TimeoutError),
}


@pytest.mark.parametrize("devices", ["A", "HETERO:A,B", "AUTO:A,B"])
@pytest.mark.parametrize("kind", HANDLERS)
@pytest.mark.parametrize("place", ["query_model", "compile", "create_sync_infer_request", "set_tensor", "start"])
def test_a_signal_reaches_the_caller(place, kind, devices):
    """The program is interrupted in code of the plugin, as by Ctrl-C or by a limit of time."""
    number, handler, error = HANDLERS[kind]

    def interrupt():
        signal.raise_signal(number)
        return AssertionError("no signal came")

    plugin = Failing(error=interrupt)
    core = core_with(A=plugin, B=PickyPlugin())
    infer(core, "A")
    plugin.place = place
    before = signal.signal(number, handler)
    try:
        with pytest.raises(error):
            if place == "query_model":
                core.query_model(relu(), devices)
            infer(core, devices)
    finally:
        signal.signal(number, before)


def test_a_thread_has_no_signals(caplog):
    """A KeyboardInterrupt in another thread than the main one is no Ctrl-C of the user."""
    core = core_with(A=Failing("start", KeyboardInterrupt), B=PickyPlugin())
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(infer(core, "HETERO:A,B")))
    thread.start()
    thread.join(60)
    np.testing.assert_array_equal(outcome[0], Y)
