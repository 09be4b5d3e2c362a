"""MULTI, and AUTO with the hint CUMULATIVE_THROUGHPUT: requests are spread over all devices."""

import threading
import time

import numpy as np
import pytest

from hetero import AsyncInferQueue, Core
from hetero.conformance.features import delay
from hetero.conformance.samples import find_sample
from hetero.core.types import Type
from hetero.system.errors import DeviceError, TensorError
from tests.devices import core_with
from tests.dispatch.faulty import no_exp, warnings_in
from tests.virtual.devices import TIMEOUT, Backend, arrays, square

DEVICES = ("A", "B")


class Timed(Backend):
    """A device whose inferences take ``seconds``, without the processor."""

    def __init__(self, seconds: float, **options) -> None:
        super().__init__(**options)
        self.seconds, self.running, self.most_running = seconds, 0, 0

    def begin(self, inputs) -> None:
        with self.lock:
            self.running += 1
            self.most_running = max(self.most_running, self.running)
        time.sleep(self.seconds)
        with self.lock:
            self.running -= 1


def run(compiled, count: int, jobs: int = 0) -> float:
    """Run inferences in a queue, check the results and return the seconds."""
    queue, results = AsyncInferQueue(compiled, jobs), []
    queue.set_callback(lambda request, x: results.append((x, request.results[0].copy())))
    started = time.perf_counter()
    for x in arrays(count):
        queue.start_async(x, x)
    queue.wait_all()
    seconds = time.perf_counter() - started
    assert len(results) == count
    for x, found in results:
        np.testing.assert_allclose(found, x * x, rtol=1e-6)
    return seconds


@pytest.mark.parametrize(
    ("device", "options"),
    [("MULTI:A,B", {}), ("AUTO:A,B", {"PERFORMANCE_HINT": "CUMULATIVE_THROUGHPUT"})],
)
def test_all_devices_run(device, options):
    a, b = Backend(max_streams=2), Backend(max_streams=3)
    compiled = core_with(A=a, B=b).compile_model(square(), device, options)
    assert compiled.get_property("EXECUTION_DEVICES") == list(DEVICES)
    assert compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS") == 5
    run(compiled, 100)
    assert a.count + b.count == 100


def test_the_throughput_is_the_sum_of_the_devices():
    a, b = Timed(0.01), Timed(0.02)
    core = core_with(A=a, B=b)
    alone = run(core.compile_model(square(), "MULTI:A(1)"), 60)
    together = run(core.compile_model(square(), "MULTI:A(1),B(1)"), 60)
    assert together < 0.85 * alone  # 2/3 if nothing else ran on the machine
    assert a.count > 60 + b.count > 60


def test_numbers_limit_the_requests_of_a_device():
    a, b = Timed(0.005, max_streams=8), Timed(0.005, max_streams=8)
    compiled = core_with(A=a, B=b).compile_model(square(), "MULTI:A(3),B(1)")
    assert compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS") == 4
    run(compiled, 100, jobs=16)
    assert (a.most_running, b.most_running) == (3, 1)


def test_the_first_idle_device_in_the_order_of_priority_runs():
    a, b = Backend(), Backend()
    compiled = core_with(A=a, B=b).compile_model(square(), "MULTI:B,A")
    request = compiled.create_infer_request()
    for x in arrays(4):
        request.infer(x)
    assert (a.count, b.count) == (0, 4)


def test_round_robin_takes_turns():
    a, b = Backend(), Backend()
    compiled = core_with(A=a, B=b).compile_model(square(), "MULTI:A,B", {"SCHEDULE_POLICY": "ROUND_ROBIN"})
    request = compiled.create_infer_request()
    for x in arrays(6):
        request.infer(x)
    assert (a.count, b.count) == (3, 3)


def test_a_device_that_cannot_compile_is_left_out(caplog):
    core = core_with(A=Backend(compile_error="out of memory"), B=Backend(), C=Backend(accepts=no_exp))
    compiled = core.compile_model(square(), "MULTI:A,B,C")
    assert compiled.get_property("EXECUTION_DEVICES") == ["B", "C"]
    (warning,) = warnings_in(caplog)
    assert "out of memory" in warning
    with pytest.raises(DeviceError, match="A: out of memory"):
        core.compile_model(square(), "MULTI:A")


def test_a_failing_device_is_dropped_and_no_inference_is_lost(caplog):
    a, b = Backend("raise", healthy=10, max_streams=2), Backend(max_streams=2)
    compiled = core_with(A=a, B=b).compile_model(square(), "MULTI:A,B")
    run(compiled, 100)
    run(compiled, 20)
    assert compiled.get_property("EXECUTION_DEVICES") == ["B"]
    (warning,) = warnings_in(caplog)
    assert "no longer on A: " in warning


def test_bound_requests_are_divided_by_the_numbers_of_the_devices():
    a, b = Backend(), Backend()
    compiled = core_with(A=a, B=b).compile_model(square(), "MULTI:A(2),B(1)", {"DEVICE_BIND_BUFFER": True})
    requests = [compiled.create_infer_request() for _ in range(6)]
    for request, x in zip(requests, arrays(6)):
        np.testing.assert_allclose(request.infer(x)[0], x * x, rtol=1e-6)
    assert (a.count, b.count) == (4, 2)


def test_each_request_keeps_its_variables_on_its_device():
    core = core_with(A=Backend(), B=Backend())
    sample = find_sample(core, "B")
    compiled = core.compile_model(delay(sample), "MULTI:A(1),B(1)")
    requests = [compiled.create_infer_request() for _ in range(4)]
    for given, remembered in ((1, 9), (2, 1), (3, 2)):
        for request in requests:
            request.start_async(sample.array(given))
        for request in requests:
            request.wait()
            np.testing.assert_allclose(request.results[0], sample.expected(sample.array(remembered)), rtol=1e-4)
    assert core.get_plugin("A").count == core.get_plugin("B").count == 6


def test_remote_tensors_run_on_their_device():
    a, b = Backend(), Backend()
    core = core_with(A=a, B=b)
    request = core.compile_model(square(), "MULTI:A,B").create_infer_request()
    x = arrays(1)[0]
    tensor = core.get_default_context("B").create_tensor(Type.f32, x.shape)
    tensor.copy_from(x)
    request.set_tensor("x", tensor)
    request.infer()
    np.testing.assert_allclose(request.get_output_tensor().data, x * x, rtol=1e-6)
    assert (a.count, b.count) == (0, 1)
    foreign = core.get_default_context("TEMPLATE").create_tensor(Type.f32, x.shape)
    with pytest.raises(TensorError, match="which no device of MULTI takes"):
        request.set_tensor("x", foreign)


def test_synchronous_requests_on_many_threads():
    a, b = Backend(), Backend()
    compiled = core_with(A=a, B=b).compile_model(square(), "MULTI:A,B")
    errors = []

    def work() -> None:
        try:
            request = compiled.create_infer_request()
            for x in arrays(30):
                np.testing.assert_allclose(request.infer(x)[0], x * x, rtol=1e-6)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    assert not errors and a.count + b.count == 180


def test_versions_are_those_of_the_devices():
    assert list(Core().get_versions("MULTI:TEMPLATE(2)")) == ["MULTI", "TEMPLATE"]
    assert list(Core().get_versions("AUTO:-TEMPLATE")) == ["AUTO"]
