"""Asynchronous inference: waiting, callbacks, busy requests, errors, cancellation, queues and threads."""

import gc
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from hetero import AsyncInferQueue, CompiledModel, Core, InferRequest
from hetero.conformance.samples import SampleModel, assert_close, on_threads
from hetero.dispatch.devices import parse_device_name
from hetero.system.errors import CancelledError, DeviceError, RequestBusyError

# Time limit in milliseconds for one of these inferences; any working device needs far less.
TIMEOUT_MS = 60_000


class Held:
    """Makes a request's inferences wait in their stage ``start`` until ``go`` is set, then fail if ``error`` is set."""

    def __init__(self, request: InferRequest, error: Exception | None = None) -> None:
        self.entered, self.go, self.error = threading.Event(), threading.Event(), error
        synchronous = request._request.request
        self._start = synchronous.start
        synchronous.start = self  # type: ignore[method-assign]  # for this request only

    def __call__(self) -> None:
        self.entered.set()
        assert self.go.wait(TIMEOUT_MS / 1000)
        if self.error:
            raise self.error
        self._start()


Hold = Callable[..., Held]


@pytest.fixture
def hold() -> Iterator[Hold]:
    """A function that creates a Held. At the end of the test, all inferences that still wait are released."""
    created: list[Held] = []

    def create(request: InferRequest, error: Exception | None = None) -> Held:
        created.append(Held(request, error))
        return created[-1]

    yield create
    for held in created:
        held.go.set()


def test_start_and_wait(infer_request: InferRequest, sample: SampleModel) -> None:
    for seed in (0, 1):
        infer_request.start_async(sample.array(seed))
        infer_request.wait()
        assert_close(infer_request.results[0], sample.expected(sample.array(seed)))


def test_wait_before_anything_was_started_returns(infer_request: InferRequest, sample: SampleModel) -> None:
    infer_request.wait()
    assert infer_request.wait_for(0) is False
    infer_request.infer(sample.array())
    infer_request.wait()
    assert infer_request.wait_for(0) is True


def test_wait_for_returns_whether_it_has_ended(infer_request: InferRequest, sample: SampleModel, hold: Hold) -> None:
    held = hold(infer_request)
    infer_request.start_async(sample.array())
    assert infer_request.wait_for(10) is False
    held.go.set()
    assert infer_request.wait_for(TIMEOUT_MS) is True
    assert_close(infer_request.results[0], sample.expected(sample.array()))


def test_all_requests_at_once(compiled: CompiledModel, sample: SampleModel) -> None:
    requests = [compiled.create_infer_request() for _ in range(8)]
    for _ in range(3):
        for seed, request in enumerate(requests):
            request.start_async(sample.array(seed))
        for seed, request in enumerate(requests):
            assert request.wait_for(TIMEOUT_MS)
            assert_close(request.results[0], sample.expected(sample.array(seed)))


def test_a_busy_request_raises_and_stays_usable(infer_request: InferRequest, sample: SampleModel, hold: Hold) -> None:
    held = hold(infer_request)
    infer_request.start_async(sample.array())
    assert held.entered.wait(TIMEOUT_MS / 1000)
    tensor = sample.array(1)
    for act in (
        infer_request.start_async,
        infer_request.infer,
        lambda: infer_request.infer(tensor),
        lambda: infer_request.get_tensor("x"),
        lambda: infer_request.set_callback(print),
    ):
        with pytest.raises(RequestBusyError, match="busy"):
            act()
    held.go.set()
    assert infer_request.wait_for(TIMEOUT_MS)
    assert_close(infer_request.results[0], sample.expected(sample.array()))
    assert_close(infer_request.infer(tensor)[0], sample.expected(tensor))


def test_callback_is_called_once_with_userdata_and_results(infer_request: InferRequest, sample: SampleModel) -> None:
    seen, called = [], threading.Event()

    def callback(userdata: str) -> None:
        seen.append((userdata, infer_request.results[0].copy()))
        called.set()

    infer_request.set_callback(callback, "mine")
    infer_request.start_async(sample.array())
    assert infer_request.wait_for(TIMEOUT_MS) and called.wait(TIMEOUT_MS / 1000)
    ((userdata, result),) = seen
    assert userdata == "mine"
    assert_close(result, sample.expected(sample.array()))


def test_a_callback_may_start_the_next_inference(infer_request: InferRequest, sample: SampleModel) -> None:
    seeds, ended = [0], threading.Event()

    def callback(userdata: str) -> None:
        if len(seeds) < 3:
            seeds.append(len(seeds))
            infer_request.start_async(sample.array(seeds[-1]))
        else:
            ended.set()

    infer_request.set_callback(callback)
    infer_request.start_async(sample.array(0))
    assert ended.wait(TIMEOUT_MS / 1000) and infer_request.wait_for(TIMEOUT_MS)
    assert_close(infer_request.results[0], sample.expected(sample.array(2)))


def test_wait_raises_the_error_and_the_request_stays_usable(
    infer_request: InferRequest, sample: SampleModel, device: str, hold: Hold
) -> None:
    calls: list[str] = []
    infer_request.set_callback(calls.append, "called")
    held = hold(infer_request, ValueError("intended failure"))
    held.go.set()
    infer_request.start_async(sample.array())
    with pytest.raises(DeviceError, match=f"{parse_device_name(device).kind}.*intended failure"):
        infer_request.wait_for(TIMEOUT_MS)
    with pytest.raises(DeviceError, match="intended failure"):
        infer_request.infer()
    assert calls == ["called"]
    held.error = None
    sample.check(infer_request.infer, 1)


def test_cancel_ends_an_inference_and_the_request_stays_usable(
    infer_request: InferRequest, sample: SampleModel, hold: Hold
) -> None:
    held = hold(infer_request)
    infer_request.cancel()  # no inference is running, so this has no effect
    infer_request.start_async(sample.array())
    assert held.entered.wait(TIMEOUT_MS / 1000)
    infer_request.cancel()
    held.go.set()
    with pytest.raises(CancelledError):
        infer_request.wait_for(TIMEOUT_MS)
    sample.check(infer_request.infer, 1)


def test_a_queue_runs_everything_once(compiled: CompiledModel, sample: SampleModel) -> None:
    queue = AsyncInferQueue(compiled, 3)
    results: dict[int, np.ndarray] = {}
    queue.set_callback(lambda request, index: results.update({index: request.results[0].copy()}))
    for index in range(20):
        queue.start_async(sample.array(index), index)
    queue.wait_all()
    assert sorted(results) == list(range(20))
    for index, result in results.items():
        assert_close(result, sample.expected(sample.array(index)))


def test_a_queue_of_optimal_size(compiled: CompiledModel, sample: SampleModel) -> None:
    queue = AsyncInferQueue(compiled)
    assert len(queue) >= 1
    queue.start_async(sample.array())
    queue.wait_all()
    assert_close(queue[0].results[0], sample.expected(sample.array()))


def test_threads_with_separate_requests(compiled: CompiledModel, sample: SampleModel) -> None:
    def work(seed: int) -> None:
        request = compiled.create_infer_request()
        array, expected = sample.array(seed), sample.expected(sample.array(seed))
        for _ in range(25):
            assert_close(request.infer(array)[0], expected)

    on_threads(work)


def test_no_thread_is_left_when_the_compiled_model_is_gone(core: Core, device: str, sample: SampleModel) -> None:
    before = set(threading.enumerate())
    request = core.compile_model(sample.model(), device).create_infer_request()
    request.start_async(sample.array())
    assert request.wait_for(TIMEOUT_MS)
    del request, core
    deadline = time.monotonic() + 10
    while (left := set(threading.enumerate()) - before) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert not left


def test_a_deleted_request_that_still_runs_does_no_harm(compiled: CompiledModel, sample: SampleModel) -> None:
    compiled.create_infer_request().start_async(sample.array())
    sample.check(compiled, 1)
