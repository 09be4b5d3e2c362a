"""Devices that fail: others run what they do not, the user sees one warning, and the results are right."""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.infer_request import TemplateInferRequest

from hetero import AsyncInferQueue, Model, Parameter, Type, ops
from hetero.errors import DeviceError, PropertyError, UnsupportedOperationError
from hetero.graph.runtime_info import AFFINITY
from tests.devices import PickyPlugin, core_with

X = np.array([[-1, 0, 0.5, 2]], np.float32)
Y = np.tanh(np.exp(np.maximum(X, 0)))


def chain(**pins: str) -> Model:
    """x → relu → exp → tanh."""
    x = Parameter(Type.f32, [-1, 4], name="x")
    model = Model(ops.Tanh(ops.Exp(ops.Relu(x, name="relu"), name="exp"), name="tanh"), [x], "chain")
    for node in model.get_ordered_ops():
        if node.friendly_name in pins:
            node.rt_info[AFFINITY] = pins[node.friendly_name]
    return model


class FailsToCompile(PickyPlugin):
    """The reference without Exp; it fails to compile what it claimed while ``fails`` says so of one of the nodes."""

    def __init__(self, fails=lambda node: True, accepts=lambda node: node.type_info.name != "Exp"):
        super().__init__(accepts)
        self._fails, self.attempts = fails, []

    def compile_model(self, model, options, context=None):
        self.attempts.append([n.friendly_name for n in model.get_ordered_ops() if n.type_info.name in _NAMES])
        if any(self._fails(node) for node in model.get_ordered_ops()):
            raise ZeroDivisionError("by nothing")
        return super().compile_model(model, options, context)


_NAMES = ("Relu", "Exp", "Tanh", "Assign", "ReadValue", "Add")


class FailsToAnswer(PickyPlugin):
    def query_model(self, model, options):
        raise IndexError("out of lists")


def devices_of(compiled) -> dict[str, str]:
    return {o.name: o.device for o in compiled.get_property("PLACEMENT_REPORT").operations}


def warnings_in(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def test_what_a_device_fails_to_compile_goes_to_the_next(caplog):
    a, b = FailsToCompile(lambda node: node.type_info.name == "Relu"), PickyPlugin()
    compiled = core_with(A=a, B=b).compile_model(chain(), "HETERO:A,B")
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    assert devices_of(compiled) == {"relu": "B", "exp": "B", "tanh": "A"}
    assert a.attempts == [["relu"], ["tanh"]]  # what was compiled once is not compiled again
    (warning,) = warnings_in(caplog)
    assert "A failed to compile 'chain/0': ZeroDivisionError: by nothing" in warning
    report = compiled.get_property("PLACEMENT_REPORT")
    (failure,) = report.failures
    assert (failure.device, failure.operations) == ("A", ("relu",)) and "by nothing" in failure.reason
    assert report.operations[0].reason == "A: A failed to compile 'chain/0': ZeroDivisionError: by nothing"
    assert "A is not used for 1 operation: A failed to compile 'chain/0': Zero" in str(report)


def test_a_device_that_fails_at_everything_is_not_used(caplog):
    core = core_with(A=FailsToCompile(), B=FailsToCompile(accepts=lambda node: True), C=PickyPlugin())
    compiled = core.compile_model(chain(), "HETERO:A,B,C")
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    assert compiled.get_property("EXECUTION_DEVICES") == ("C",)
    assert {failure.device for failure in compiled.get_property("PLACEMENT_REPORT").failures} == {"A", "B"}
    assert len(warnings_in(caplog)) == 1


def test_a_device_that_fails_to_tell_what_it_can_run_is_not_used(caplog):
    core = core_with(A=FailsToAnswer(), B=PickyPlugin())
    compiled = core.compile_model(chain(), "HETERO:A,B")
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    assert compiled.get_property("EXECUTION_DEVICES") == ("B",)
    (warning,) = warnings_in(caplog)
    assert "A failed to tell what it can run of 'chain': IndexError: out of lists" in warning
    assert set(core.query_model(chain(), "HETERO:A,B").values()) == {"B"}


def test_with_nobody_left_the_first_error_is_raised_with_device_and_operations():
    core = core_with(A=FailsToCompile(), B=FailsToCompile(), C=PickyPlugin(lambda node: node.type_info.name == "Exp"))
    message = "A failed to compile 'chain/0': .* by nothing; no other device can run Relu 'relu'"
    with pytest.raises(DeviceError, match=message) as caught:
        core.compile_model(chain(), "HETERO:A,B,C")
    assert "\n" not in str(caught.value) and isinstance(caught.value.__cause__, DeviceError)
    with pytest.raises(DeviceError, match="A failed to tell what it can run .*; no other device can run Relu 'relu'"):
        core_with(A=FailsToAnswer()).compile_model(chain(), "HETERO:A")
    picky = PickyPlugin(lambda node: node.type_info.name != "Exp")
    with pytest.raises(UnsupportedOperationError, match="HETERO:A cannot run Exp 'exp'"):
        core_with(A=picky).compile_model(chain(), "HETERO:A")


def test_pinned_operations_stay_pinned_and_lose_only_their_company():
    """A fails at a subgraph that has a pinned operation and others: it keeps the pinned one."""
    accepts = lambda node: True  # noqa: E731
    core = core_with(A=FailsToCompile(lambda node: node.type_info.name == "Exp", accepts), B=PickyPlugin())
    compiled = core.compile_model(chain(relu="A"), "HETERO:A,B")
    assert devices_of(compiled) == {"relu": "A", "exp": "B", "tanh": "B"}
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    with pytest.raises(DeviceError, match="A failed to compile .*; pinned to A: Exp 'exp'"):
        core.compile_model(chain(exp="A"), "HETERO:A,B")


def test_a_variable_goes_to_the_next_device_as_a_whole():
    x = Parameter(Type.f32, [1, 4], name="x")
    total = ops.Add(ops.ReadValue(np.zeros((1, 4), np.float32), "total", name="read"), x, name="add")
    model = Model([total], [x], "sum", sinks=[ops.Assign(total, "total", name="set")])
    a = FailsToCompile(lambda node: node.type_info.name == "Assign")
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(model, "HETERO:A,B")
    assert {devices_of(compiled)[name] for name in ("read", "set")} == {"B"}
    compiled(X)
    np.testing.assert_allclose(compiled(X)[0], 2 * X, rtol=1e-6)


def test_wrong_options_are_no_fault_of_a_device():
    with pytest.raises(PropertyError, match="NUM_STREAMS"):
        options = {"DEVICE_PROPERTIES": {"A": {"NUM_STREAMS": "many"}}}
        core_with(A=PickyPlugin(), B=PickyPlugin()).compile_model(chain(), "HETERO:A,B", options)


class _Request(TemplateInferRequest):
    """An infer request with the faults of its device."""

    def start(self):
        plugin = self.compiled_model.plugin
        with plugin.lock:
            plugin.count += 1
            fails = plugin.count >= plugin.healthy
        fault = plugin.fault if fails else ""
        if fault == "hang":
            plugin.released.wait(60)
        super().start()
        if fault == "raise":
            raise KeyError("lost")
        for tensor in self.output_tensors():
            if fault == "wrong shape":
                tensor.take(np.zeros([*tensor.shape, 2], np.float32))
            if fault == "wrong type":
                tensor.take(np.zeros(tensor.shape, np.int64))


class _CompiledModel(TemplateCompiledModel):
    def create_sync_infer_request(self):
        if self.plugin.fault == "create request":
            raise ValueError("no more requests")
        return _Request(self)


class Faulty(PickyPlugin):
    """The reference; from the inference ``healthy`` on, counted from 1, it fails in the way of ``fault``."""

    def __init__(self, fault: str = "", healthy: int = 1, accepts=lambda node: True) -> None:
        super().__init__(accepts)
        self.fault, self.healthy, self.count = fault, healthy, 0
        self.lock, self.released = threading.Lock(), threading.Event()

    def compile_model(self, model, options, context=None):
        self.compiled.append(model)
        properties = self.property_table(options)
        return _CompiledModel(model, self.transform_model(model.clone(), properties), self, properties)


def no_exp(node) -> bool:
    return node.type_info.name != "Exp"


FAULTS = ("raise", "wrong shape", "wrong type", "hang")
# Long for a device that works, also on a busy machine.
TIMEOUT = {"DEVICE_TIMEOUT": 500}


@pytest.fixture(params=FAULTS)
def faulty(request):
    """A device that works five times, and never again."""
    plugin = Faulty(request.param, healthy=6, accepts=no_exp)
    yield plugin
    plugin.released.set()


def inputs(count: int) -> list[np.ndarray]:
    return list(np.random.default_rng(0).standard_normal((count, 1, 4), np.float32))


def expected(x: np.ndarray) -> np.ndarray:
    return np.tanh(np.exp(np.maximum(x, 0)))


def check_dropped(compiled, caplog, device: str = "A") -> None:
    (warning,) = warnings_in(caplog)
    assert f"no longer on {device}: {device} " in warning
    assert device not in compiled.get_property("EXECUTION_DEVICES")
    report = compiled.get_property("PLACEMENT_REPORT")
    assert device not in set(devices_of(compiled).values())
    assert [failure.device for failure in report.failures] == [device]
    assert any(o.reason.startswith(f"{device}: {device} ") for o in report.operations)


def test_a_device_that_fails_is_dropped_and_the_inference_runs_elsewhere(faulty, caplog):
    b = PickyPlugin()
    compiled = core_with(A=faulty, B=b).compile_model(chain(), "HETERO:A,B", TIMEOUT)
    request = compiled.create_infer_request()
    for x in inputs(10):
        np.testing.assert_allclose(request.infer(x)[0], expected(x), rtol=1e-6)
        np.testing.assert_array_equal(request.get_input_tensor().data, x)
    check_dropped(compiled, caplog)
    assert len(b.compiled) == 2  # its part, and the whole


def test_a_thousand_requests_in_threads_are_all_answered_rightly(faulty, caplog):
    b = PickyPlugin()
    compiled = core_with(A=faulty, B=b).compile_model(chain(), "HETERO:A,B", TIMEOUT)
    xs = inputs(1000)

    def run(part: list[np.ndarray]) -> list[np.ndarray]:
        request = compiled.create_infer_request()
        return [request.infer(x)[0] for x in part]

    with ThreadPoolExecutor(50) as threads:
        found = [y for part in threads.map(run, [xs[i : i + 20] for i in range(0, 1000, 20)]) for y in part]
    np.testing.assert_allclose(found, expected(np.array(xs)), rtol=1e-6)
    check_dropped(compiled, caplog)
    assert len(b.compiled) == 2


def test_a_thousand_requests_at_once_in_a_queue_are_all_answered_rightly(faulty, caplog):
    b = PickyPlugin()
    compiled = core_with(A=faulty, B=b).compile_model(chain(), "HETERO:A,B", TIMEOUT)
    xs, found = inputs(1000), {}
    queue = AsyncInferQueue(compiled, 1000)
    queue.set_callback(lambda request, number: found.update({number: request.results[0].copy()}))
    for number, x in enumerate(xs):
        queue.start_async(x, number)
    queue.wait_all()
    np.testing.assert_allclose([found[number] for number in range(1000)], expected(np.array(xs)), rtol=1e-6)
    check_dropped(compiled, caplog)
    assert len(b.compiled) == 2
    for x, request in zip(xs, queue):  # and all are usable again
        request.start_async(x)
    queue.wait_all()
    assert len(warnings_in(caplog)) == 1
