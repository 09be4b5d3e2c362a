"""Callbacks: what they may call, and how their errors are raised."""

import threading
from concurrent.futures import Future

import numpy as np
import pytest
from hetero_template.infer_request import TemplateInferRequest

from hetero import AsyncInferQueue, Core
from hetero.system.errors import HeteroError, RequestBusyError
from tests.runtime.test_threads import expected, model

X = np.ones([3, 4], np.float32)
PATIENCE = 20_000  # milliseconds


def in_time(scenario) -> None:
    """Run ``scenario`` on another thread. Raises its exception, or TimeoutError if it hangs."""
    ended: Future[None] = Future()

    def run():
        try:
            ended.set_result(scenario())
        except BaseException as error:
            ended.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    ended.result(PATIENCE / 1000)


class Odd(BaseException):
    """A BaseException that is no Exception."""


@pytest.fixture(params=["TEMPLATE", "HETERO:TEMPLATE"])
def compiled(request):
    return Core().compile_model(model(), request.param)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), Odd("x"), StopIteration(), ValueError("v")])
def test_wait_raises_any_exception_of_the_callback(compiled, error):
    def fail(_):
        raise error

    request = compiled.create_infer_request()
    for _ in range(3):  # more often than there are threads
        request.set_callback(fail)
        request.start_async(X)
        with pytest.raises((HeteroError, type(error)) if isinstance(error, Exception) else HeteroError) as raised:
            assert not request.wait_for(PATIENCE), "the error is lost"
    if not isinstance(error, Exception):
        assert f"the callback of the infer request of 'small' failed: {type(error).__name__}" in str(raised.value)
    request.set_callback(lambda _: None)
    request.start_async(X)
    assert request.wait_for(PATIENCE)
    np.testing.assert_allclose(request.results[0], expected(X), rtol=1e-5)


def test_wait_all_raises_any_exception_of_the_queue_callback(compiled):
    queue = AsyncInferQueue(compiled, 2)

    def fail(request, number):
        if number == 1:
            raise SystemExit(3)

    def scenario():
        for number in range(2):
            queue.start_async(X, number)
        with pytest.raises(HeteroError, match="the callback of the queue failed: SystemExit: 3"):
            queue.wait_all()
        queue.start_async(X, 2)
        queue.wait_all()

    queue.set_callback(fail)
    in_time(scenario)


def test_system_exit_in_a_device_is_an_error_of_the_request(compiled, monkeypatch):
    def leave(self):
        raise SystemExit(3)

    request = compiled.create_infer_request()
    with monkeypatch.context() as patch:
        patch.setattr(TemplateInferRequest, "start", leave)
        request.start_async(X)
        with pytest.raises(HeteroError, match="failed in .* of 'small.*': SystemExit: 3"):
            request.wait_for(PATIENCE)
    request.start_async(X)
    assert request.wait_for(PATIENCE)


@pytest.mark.parametrize("call", ["wait", "wait_for", "infer"])
def test_callback_may_start_the_next_inference_but_not_wait(compiled, call):
    request, errors, again = compiled.create_infer_request(), [], []

    def callback(_):
        try:
            getattr(request, call)(*([PATIENCE * 10] if call == "wait_for" else []))
        except RequestBusyError as error:
            errors.append(str(error))
        if not again:
            again.append(True)
            request.start_async(2 * X)

    request.set_callback(callback)
    request.start_async(X)
    for _ in range(2):
        assert request.wait_for(PATIENCE)
    assert len(errors) == 2
    assert f"{call}() cannot be called in the callback of the infer request of 'small'" in errors[0]
    np.testing.assert_allclose(request.results[0], expected(2 * X), rtol=1e-5)


def test_queue_callback_must_not_wait_for_its_requests(compiled):
    queue, errors, ended = AsyncInferQueue(compiled, 1), [], threading.Event()

    def callback(request, _):
        for call in (request.wait, queue.wait_all, queue.start_async):
            try:
                call()
            except RequestBusyError as error:
                errors.append(str(error))
        ended.set()

    queue.set_callback(callback)
    queue.start_async(X)
    assert ended.wait(PATIENCE / 1000)
    assert len(errors) == 3 and "start_async() in the callback of a queue cannot wait" in errors[2]
    in_time(queue.wait_all)
    np.testing.assert_allclose(queue[0].results[0], expected(X), rtol=1e-5)


def test_a_queue_takes_no_callback_while_an_inference_runs(compiled, monkeypatch):
    """As in OpenVINO."""
    release, start = threading.Event(), TemplateInferRequest.start

    def wait_and_start(self):
        assert release.wait(PATIENCE / 1000)
        start(self)

    monkeypatch.setattr(TemplateInferRequest, "start", wait_and_start)
    queue, ended = AsyncInferQueue(compiled, 2), []
    queue.start_async(X)
    with pytest.raises(RequestBusyError, match="the infer request of 'small' is busy"):
        queue.set_callback(lambda request, number: None)
    release.set()
    queue.wait_all()
    queue.set_callback(lambda request, number: ended.append(number))
    queue.start_async(X, 5)
    queue.wait_all()
    assert ended == [5]
