"""The plugin guide's pages on plugins, compiled models and infer requests: what their sections show."""

import threading
from datetime import timedelta

import numpy as np
import pytest

from hetero import AsyncInferQueue, Core, Model, Parameter, Type, ops
from hetero.system.errors import PropertyError
from hetero.system.tracing import Recorder
from tests.devices import PickyPlugin, core_with

PATIENCE = 20_000  # milliseconds
X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def model(name: str = "small") -> Model:
    """Return softmax(tanh(relu(x))) of any number of rows."""
    x = Parameter(Type.f32, [-1, 4], name="x")
    tanh = ops.Tanh(ops.Relu(x, name="relu"), name="tanh")
    return Model(ops.Softmax(tanh, 1, name="softmax"), [x], name)


@pytest.mark.parametrize("device", ["TEMPLATE", "GPU", "ONEDNN", "HETERO:GPU,TEMPLATE"])
@pytest.mark.parametrize("asynchronous", [False, True], ids=["infer", "start_async"])
def test_compiled_model_set_property(device, asynchronous):
    """PERF_COUNT may change after the compilation. Requests that exist follow it from their next inference on."""
    compiled = Core().compile_model(model(), device, {"AFFINITIES": {"tanh": "TEMPLATE"}} if ":" in device else {})
    request = compiled.create_infer_request()

    def infer():
        if asynchronous:
            request.start_async(X)
            request.wait()
            return request.results[0]
        return request.infer(X)[0]

    expected = infer().copy()
    assert request.profiling_info == []
    for value in (True, False, True):
        compiled.set_property({"PERF_COUNT": value})
        assert compiled.get_property("PERF_COUNT") is value
        np.testing.assert_array_equal(infer(), expected)
        names = {info.node_name for info in request.profiling_info}
        assert {"start", "softmax"} <= names if value else not names


def test_compiled_model_set_property_of_the_plugin():
    compiled = Core().compile_model(model(), "TEMPLATE")
    limited = compiled._compiled
    for threads in (1, 0):
        compiled.set_property({"INFERENCE_NUM_THREADS": threads})
        assert compiled.get_property("INFERENCE_NUM_THREADS") == threads
        assert (limited.run == limited.program.run) == (not threads)
        assert compiled(X)[0].shape == (3, 4)


@pytest.mark.parametrize("device", ["OPENVINO.CPU", "AUTO:TEMPLATE", "MULTI:TEMPLATE", "BATCH:TEMPLATE"])
def test_compiled_model_set_property_is_refused(device):
    """As in OpenVINO, where these devices change nothing after the compilation."""
    compiled = Core().compile_model(model(), device)
    with pytest.raises(PropertyError, match=r"PERF_COUNT of compiled model 'small' .* is read-only; set it in compile"):
        compiled.set_property({"PERF_COUNT": True})
    assert compiled.get_property("SUPPORTED_PROPERTIES")["PERF_COUNT"] == "RO"


@pytest.mark.parametrize("device", ["TEMPLATE", "GPU", "ONEDNN", "OPENVINO.CPU"])
def test_plugin_query_model_and_compile_model_are_traced(device):
    core = Core()
    with Recorder() as recorder:
        core.query_model(model(), device)
        exported = core.compile_model(model(), device).export_model()
        core.import_model(exported, device)
    # The first of each name, as a query may ask about operations alone too.
    spans = {s.name: s for s in reversed(recorder.spans) if s.name.startswith("Plugin::")}
    assert {"Plugin::query_model", "Plugin::compile_model", "Plugin::compile", "Plugin::import_model"} == set(spans)
    for name in ("query_model", "compile_model", "compile"):
        span = spans[f"Plugin::{name}"]
        assert (span.detail, span.device.split(".")[0]) == ("small", device.split(".")[0])


@pytest.mark.parametrize("device", ["TEMPLATE", "GPU", "HETERO:A,TEMPLATE"])
def test_infer_request_profiling_tasks_name_model_device_and_request(device):
    core = core_with(A=PickyPlugin(lambda node: node.type_info.name != "Tanh"))
    compiled = core.compile_model(model("net"), device)
    requests = [compiled.create_infer_request() for _ in range(2)]
    with Recorder() as recorder:
        for request in requests:
            request.infer(X)
    events = [e["args"] for e in recorder.to_chrome_trace()["traceEvents"] if e["ph"] == "X"]
    tasks = [e for e in events if "request" in e]
    assert {e["request"] for e in tasks} == {request._request.request.number for request in requests}
    assert {e["on"].split("/")[0] for e in tasks} == {"net"}
    devices = {e["device"].split(".")[0] for e in tasks}
    assert devices == ({"HETERO", "A", "TEMPLATE"} if ":" in device else {device})


@pytest.mark.parametrize("device", ["TEMPLATE", "GPU", "HETERO:A,TEMPLATE"])
def test_infer_request_get_profiling_info(device):
    """Every entry has both times, and a name of its own."""
    core = core_with(A=PickyPlugin(lambda node: node.type_info.name != "Tanh"))
    request = core.compile_model(model(), device, {"PERF_COUNT": True}).create_infer_request()
    assert request.profiling_info == []  # nothing was measured yet
    request.infer(np.ones([3000, 4], np.float32))
    infos = request.profiling_info
    names = [info.node_name for info in infos]
    assert len(set(names)) == len(names)
    assert all(timedelta(0) <= info.cpu_time <= info.real_time for info in infos)
    if ":" in device:
        for index in range(3):
            assert {f"subgraph {index}", f"subgraph {index}: start"} <= set(names)
        subgraphs = [info for info in infos if info.node_type == "Subgraph"]
        assert all(info.cpu_time > timedelta(0) for info in subgraphs)
        assert sum((info.real_time for info in subgraphs), timedelta(0)) < infos[1].real_time  # that of "start"


def test_infer_request_get_profiling_info_without_measuring():
    request = Core().compile_model(model(), "HETERO:GPU,TEMPLATE").create_infer_request()
    with Recorder():  # which has stages timed too
        request.infer(X)
    assert request.profiling_info == []


@pytest.mark.parametrize("device", ["TEMPLATE", "GPU", "HETERO:GPU,TEMPLATE", "AUTO:TEMPLATE"])
def test_compiled_model_callback_executor(device):
    """A callback that does not end delays no other request, with a callback or without."""
    compiled = Core().compile_model(model(), device, {"NUM_STREAMS": 1} if device != "AUTO:TEMPLATE" else {})
    slow, quick, other = (compiled.create_infer_request() for _ in range(3))
    entered, release, called = threading.Event(), threading.Event(), []

    def block(_):
        entered.set()
        assert release.wait(PATIENCE / 1000)

    slow.set_callback(block)
    quick.set_callback(called.append, "quick")
    slow.start_async(X)
    try:
        assert entered.wait(PATIENCE / 1000)
        for request in (quick, other):
            request.start_async(X)
            assert request.wait_for(PATIENCE)
        assert called == ["quick"] and not slow.wait_for(0)
    finally:
        release.set()
    slow.wait()


def test_async_infer_queue_callback_executor():
    """A slow callback of a queue keeps its own request busy, and no other one."""
    queue = AsyncInferQueue(Core().compile_model(model(), "TEMPLATE", {"NUM_STREAMS": 1}), 2)
    ended, release = [], threading.Event()

    def callback(request, number):
        if number == 0:
            assert release.wait(PATIENCE / 1000)
        ended.append(number)
        if number == 3:
            release.set()

    queue.set_callback(callback)
    for number in range(4):
        queue.start_async(X, number)
    queue.wait_all()
    assert ended == [1, 2, 3, 0]
