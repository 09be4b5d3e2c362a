"""Devices that fail during inferences are dropped: the user sees one warning and the right results."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hetero import AsyncInferQueue, Model, Parameter, Tensor, Type, ops
from hetero.system.errors import CancelledError, DeviceError, TensorError
from tests.devices import PickyPlugin, core_with
from tests.dispatch.faulty import (
    FAULTS,
    TIMEOUT,
    Faulty,
    X,
    Y,
    chain,
    check_dropped,
    devices_of,
    inputs,
    limit_inferences,
    no_exp,
    warnings_in,
)


def expected(x: np.ndarray) -> np.ndarray:
    return np.tanh(np.exp(np.maximum(x, 0)))


def test_a_device_that_fails_is_dropped_and_the_inference_runs_elsewhere(faulty, caplog):
    b = PickyPlugin()
    compiled = core_with(A=faulty, B=b).compile_model(chain(), "HETERO:A,B", TIMEOUT)
    request = compiled.create_infer_request()
    for x in inputs(10):
        np.testing.assert_allclose(request.infer(x)[0], expected(x), rtol=1e-6)
        np.testing.assert_array_equal(request.get_input_tensor().data, x)
    check_dropped(compiled, caplog)
    assert len(b.compiled) == 2  # its part, and the whole


def test_profiling_that_was_set_later_stays_on(caplog):
    compiled = core_with(A=Faulty("raise", healthy=2), B=PickyPlugin()).compile_model(chain(), "HETERO:A,B")
    compiled.set_property({"PERF_COUNT": True})
    request = compiled.create_infer_request()
    for x in inputs(3):
        request.infer(x)
    assert {"relu", "exp", "tanh"} <= {entry.node_name for entry in request.get_profiling_info()}
    check_dropped(compiled, caplog)


def test_a_thousand_inferences_in_threads_all_give_the_right_result(faulty, caplog):
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


def test_a_thousand_inferences_in_a_queue_all_give_the_right_result(faulty, caplog):
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


def adding() -> Model:
    """exp(x + y), for vectors of the same length."""
    x, y = (Parameter(Type.f32, [-1], name=name) for name in "xy")
    return Model(ops.Exp(ops.Add(x, y, name="add"), name="exp"), [x, y], "adding")


@pytest.mark.parametrize("asynchronous", [False, True], ids=["infer", "start_async"])
def test_no_device_is_dropped_for_a_mistake_of_the_user(asynchronous, caplog):
    """An inference fails on all three devices: the user gets the first error, and all devices stay in use."""
    plugins = {name: Faulty(accepts=no_exp) for name in "AB"}
    core = core_with(**plugins, C=PickyPlugin())
    compiled = core.compile_model(adding(), "HETERO:A,B,C")
    request = compiled.create_infer_request()
    before = compiled.get_property("PLACEMENT_REPORT")
    for wrong in (7, 9):
        with pytest.raises(DeviceError, match=f"Add 'add' cannot run on these inputs: .*{wrong}"):
            if asynchronous:
                request.start_async([X[0], np.zeros(wrong, np.float32)])
                request.wait()
            else:
                request.infer([X[0], np.zeros(wrong, np.float32)])
    np.testing.assert_allclose(request.infer([X[0], X[0]])[0], np.exp(2 * X[0]), rtol=1e-6)
    assert compiled.get_property("PLACEMENT_REPORT") == before and not warnings_in(caplog)
    assert compiled.get_property("EXECUTION_DEVICES") == ["A", "C"]
    assert len(plugins["B"].compiled) == 1  # tried once, and kept for the next time


def test_no_device_is_dropped_for_wrong_tensors_and_cancelled_inferences(caplog):
    b = PickyPlugin()
    a = Faulty()
    compiled = core_with(A=a, B=b).compile_model(chain(), "HETERO:A,B")
    request = compiled.create_infer_request()
    request.set_output_tensor(Tensor(np.zeros([1, 4], np.float32), shared_memory=True))
    with pytest.raises(TensorError, match="shared memory of 4 elements cannot take the shape"):
        request.infer(np.repeat(X, 2, axis=0))
    a.fault, a.cancel = "cancel", request.cancel
    with pytest.raises(CancelledError):
        request.infer(X)
    a.fault = ""
    np.testing.assert_allclose(request.infer(X)[0], Y, rtol=1e-6)
    assert compiled.get_property("EXECUTION_DEVICES") == ["A"]
    assert len(b.compiled) == 1 and not warnings_in(caplog)  # B was tried once, and could not write the output either


@pytest.mark.parametrize("fault", FAULTS)
def test_without_fallback_the_error_is_raised_and_the_device_stays(fault, caplog):
    a, b = Faulty(fault, healthy=2), PickyPlugin()
    options = {"RUNTIME_FALLBACK": "NO"} | TIMEOUT
    compiled = core_with(A=a, B=b).compile_model(chain(), "HETERO:A,B", options)
    limit_inferences(compiled, 100)
    request = compiled.create_infer_request()
    message = {
        "raise": "KeyError: 'lost'",
        "hang": "A did not end an inference of 'chain/0' within 100 ms",
        "unwritten": "A did not write the output 'tanh/result' of 'chain/0'",
        "writes inputs": "A failed in start of 'chain/0': ValueError: assignment destination is read-only",
    }
    np.testing.assert_allclose(request.infer(X)[0], Y, rtol=1e-6)
    for start in (request.infer, request.start_async) * 2:
        with pytest.raises(DeviceError, match=message.get(fault, "A gave a wrong output of 'chain/0'")):
            start(X)
            request.wait()
    a.fault = ""
    a.released.set()
    np.testing.assert_allclose(request.infer(X)[0], Y, rtol=1e-6)
    assert compiled.get_property("EXECUTION_DEVICES") == ["A"]
    assert not b.compiled and not warnings_in(caplog)


@pytest.mark.parametrize("second", FAULTS)
def test_two_devices_that_fail_one_after_the_other(faulty, second, caplog):
    b = Faulty(
        second, healthy=31, accepts=no_exp
    )  # more than the number of requests, so that one of them succeeds on it
    compiled = core_with(A=faulty, B=b, C=PickyPlugin()).compile_model(chain(), "HETERO:A,B,C", TIMEOUT)
    limit_inferences(compiled, 200)
    queue = AsyncInferQueue(compiled, 20)
    found = {}
    queue.set_callback(lambda request, number: found.update({number: request.results[0].copy()}))
    xs = inputs(40)
    for number, x in enumerate(xs):
        queue.start_async(x, number)
    queue.wait_all()
    b.released.set()
    np.testing.assert_allclose([found[number] for number in range(40)], expected(np.array(xs)), rtol=1e-6)
    first, last = warnings_in(caplog)
    assert "no longer on A: " in first and "no longer on B: " in last
    assert compiled.get_property("EXECUTION_DEVICES") == ["C"]
    assert [failure.device for failure in compiled.get_property("PLACEMENT_REPORT").failures] == ["A", "B"]


def test_two_devices_that_fail_in_the_same_inference_give_one_warning(caplog):
    a, b = Faulty("raise"), Faulty("wrong type")
    compiled = core_with(A=a, B=b, C=PickyPlugin()).compile_model(chain(), "HETERO:A,B,C")
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    (warning,) = warnings_in(caplog)
    assert "no longer on A and B: A failed in start of 'chain/0': KeyError: 'lost'; B gave a wrong output" in warning


@pytest.mark.parametrize("fault", FAULTS)
def test_if_all_devices_fail_every_request_raises_the_first_error(fault, caplog):
    a, b = Faulty(fault), Faulty("raise")
    compiled = core_with(A=a, B=b).compile_model(chain(), "HETERO:A,B", TIMEOUT)
    limit_inferences(compiled, 20)
    requests = [compiled.create_infer_request() for _ in range(20)]
    for request in requests:
        request.start_async(X)
    for request in requests:
        with pytest.raises(DeviceError, match="^A "):
            request.wait()
    with pytest.raises(DeviceError, match="^A "):
        requests[0].infer(X)
    assert compiled.get_property("EXECUTION_DEVICES") == ["A"] and not warnings_in(caplog)
    a.fault = b.fault = ""  # the fault was temporary
    a.released.set()
    for request in requests:
        request.start_async(X)
    for request in requests:
        request.wait()
        np.testing.assert_allclose(request.results[0], Y, rtol=1e-6)


REQUESTS = {
    "create request": "A failed to create a request of 'chain/0': ValueError: no more requests",
    # StopIteration would end a generator silently.
    "stop at create request": "A failed to create a request of 'chain/0': StopIteration: no more requests",
    "no request": "A failed to create a request of 'chain/0': it returned NoneType, not a SyncInferRequest",
    "set tensor": "A failed to take a tensor of 'chain/0': KeyError: 'lost'",
    "no variables": "A failed to list the variables of 'chain/0': TypeError: 'NoneType' object is not iterable",
}


@pytest.mark.parametrize("fault", REQUESTS)
def test_a_device_that_can_create_no_request_is_dropped(fault, caplog):
    a = Faulty(accepts=no_exp)
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(chain(), "HETERO:A,B")
    old = compiled.create_infer_request()
    a.fault = fault
    np.testing.assert_allclose(compiled.create_infer_request().infer(X)[0], Y, rtol=1e-6)
    (warning,) = warnings_in(caplog)
    assert f"no longer on A: {REQUESTS[fault]}" in warning
    np.testing.assert_allclose(old.infer(X)[0], Y, rtol=1e-6)


def test_pinned_operations_of_a_device_that_is_dropped_go_elsewhere(caplog):
    a = Faulty("raise", healthy=2)
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(chain(exp="A", tanh="B"), "HETERO:B,A")
    assert devices_of(compiled) == {"relu": "B", "exp": "A", "tanh": "B"}
    for _ in range(2):
        np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    assert set(devices_of(compiled).values()) == {"B"} and len(warnings_in(caplog)) == 1


def branches() -> Model:
    x = Parameter(Type.f32, [1, 4], name="x")
    return Model([ops.Exp(x, name="exp"), ops.Tanh(x, name="tanh")], [x], "branches")


@pytest.mark.parametrize("faults", [("hang", "hang"), ("hang", "raise"), ("raise", "raise")])
def test_branches_that_fail_at_once(faults, caplog):
    a = Faulty(faults[0], accepts=no_exp)
    b = Faulty(faults[1], accepts=lambda node: node.type_info.name == "Exp")
    compiled = core_with(A=a, B=b, C=PickyPlugin()).compile_model(branches(), "HETERO:A,B,C", TIMEOUT)
    limit_inferences(compiled, 50)
    queue = AsyncInferQueue(compiled, 10)
    for _ in range(20):
        queue.start_async(X)
    queue.wait_all()
    for request in queue:
        np.testing.assert_allclose(request.results[0], np.exp(X), rtol=1e-6)
        np.testing.assert_allclose(request.results[1], np.tanh(X), rtol=1e-6)
    assert compiled.get_property("EXECUTION_DEVICES") == ["C"] and len(warnings_in(caplog)) <= 2
    a.released.set()
    b.released.set()


def test_exclusive_requests_fall_back_too(faulty, caplog):
    options = TIMEOUT | {"EXCLUSIVE_ASYNC_REQUESTS": True}
    compiled = core_with(A=faulty, B=PickyPlugin()).compile_model(chain(), "HETERO:A,B", options)
    request = compiled.create_infer_request()
    for x in inputs(8):
        request.start_async(x)
        request.wait()
        np.testing.assert_allclose(request.results[0], expected(x), rtol=1e-6)
    check_dropped(compiled, caplog)
