"""Two threads that use one request, or one queue: at each line of the one, the other runs."""

import threading

import numpy as np
import pytest

from hetero import AsyncInferQueue, Core, Model, Parameter, Tensor, Type, ops
from hetero.plugin.requests import async_infer_request, sync_infer_request
from hetero.runtime import async_infer_queue, infer_request
from hetero.system.errors import DeviceError, RequestBusyError
from tests.threads import PATIENCE, WatchedLock, interleaved, started

MODULES = (infer_request, async_infer_request, sync_infer_request)


def difference() -> Model:
    a, b = (Parameter(Type.i32, [3], name=name) for name in "ab")
    return Model(ops.Subtract(a, b), [a, b], "difference")


def pair(start: int) -> list[np.ndarray]:
    return [np.arange(start, start + 3, dtype=np.int32), np.int32([start, 0, 5])]


MINE, OTHERS = pair(10), pair(200)


@pytest.fixture(params=["TEMPLATE", "HETERO:TEMPLATE"])
def request_and_event(request):
    made, settled = Core().compile_model(difference(), request.param).create_infer_request(), threading.Event()
    made._request.lock = WatchedLock(settled)
    return made, settled


def check(outcomes) -> None:
    """Check that each thread got its own result, or an error that says why not; and that both happened."""
    outcomes, refused = list(outcomes), 0
    for outcome in outcomes:
        for result, (a, b) in zip(outcome, (MINE, OTHERS)):
            if isinstance(result, RequestBusyError):
                refused += 1
            else:
                np.testing.assert_array_equal(result, a - b)
    assert 0 < refused < len(outcomes)


def test_two_threads_infer(request_and_event):
    request, settled = request_and_event
    check(interleaved(lambda: request.infer(MINE)[0], lambda: request.infer(OTHERS)[0], settled, *MODULES))


def test_one_thread_infers_while_another_starts_in_the_background(request_and_event):
    request, settled = request_and_event
    ended = threading.Event()
    request.set_callback(lambda _: ended.set())

    def start() -> np.ndarray:
        ended.clear()
        request.start_async(OTHERS)
        assert ended.wait(60)
        return OTHERS[0] - OTHERS[1]

    check(interleaved(lambda: request.infer(MINE)[0], start, settled, *MODULES))


def test_one_thread_infers_while_another_sets_a_tensor(request_and_event):
    request, settled = request_and_event
    tensor = Tensor(OTHERS[0])

    def infer() -> np.ndarray:
        request.set_input_tensor(0, Tensor(MINE[0]))
        return request.infer({"b": MINE[1]})[0]

    refused = 0
    outcomes = list(interleaved(infer, lambda: request.set_input_tensor(0, tensor), settled, *MODULES))
    for result, setting in outcomes:
        refused += isinstance(setting, RequestBusyError)
        assert result.tolist() in ((MINE[0] - MINE[1]).tolist(), (OTHERS[0] - MINE[1]).tolist())
    assert 0 < refused < len(outcomes)


def test_the_first_error_of_a_queue_is_raised_once():
    compiled, settled = Core().compile_model(difference(), "TEMPLATE"), threading.Event()
    queue = AsyncInferQueue(compiled, 2)
    queue._lock = WatchedLock(settled)
    queue.set_callback(lambda request, error: error and 1 / 0)
    queue.start_async(MINE)

    def fail_and_wait() -> None:
        queue.start_async(MINE, userdata=True)
        queue.wait_all()

    waits = [
        sorted(type(result).__name__ for result in results)
        for results in interleaved(fail_and_wait, queue.wait_all, settled, async_infer_queue)
    ]
    assert waits and all(names == ["NoneType", "ZeroDivisionError"] for names in waits)


def test_a_thread_that_waits_for_an_inference_that_does_not_start_gets_its_error(monkeypatch):
    request = Core().compile_model(difference(), "TEMPLATE").create_infer_request()
    waits, waiting = [], threading.Event()

    class Awaited(async_infer_request.End):
        def result(self):
            waiting.set()
            super().result()

    def fail(end):
        waits.append(started(request.wait))
        assert waiting.wait(PATIENCE)
        raise DeviceError("no threads are left")

    monkeypatch.setattr(async_infer_request, "End", Awaited)
    with monkeypatch.context() as patch:
        patch.setattr(request._request, "launch", fail)
        with pytest.raises(DeviceError, match="no threads are left"):
            request.start_async(MINE)
    assert isinstance(waits[0].exception(PATIENCE), DeviceError)
    request.start_async(OTHERS)
    request.wait()
    np.testing.assert_array_equal(request.results[0], OTHERS[0] - OTHERS[1])
