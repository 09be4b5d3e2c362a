"""Asynchronous inference: waiting, callbacks, busy requests, errors, cancellation, queues and threads."""

import gc
import threading
import time

import pytest

from hetero import AsyncInferQueue
from hetero.conformance.samples import assert_close
from hetero.errors import CancelledError, DeviceError, RequestBusyError

# Time limit in milliseconds for one of these inferences; any working device needs far less.
TIMEOUT_MS = 60_000


@pytest.fixture
def compiled(core, device, sample):
    return core.compile_model(sample.model(), device)


class Held:
    """Makes a request's inferences wait in their stage ``start`` until ``go`` is set, then fail if ``error`` is set."""

    def __init__(self, request, error=None):
        self.entered, self.go, self.error = threading.Event(), threading.Event(), error
        synchronous = request._request.request
        self._start = synchronous.start
        synchronous.start = self

    def __call__(self):
        self.entered.set()
        assert self.go.wait(TIMEOUT_MS / 1000)
        if self.error:
            raise self.error
        self._start()


@pytest.fixture
def hold():
    """A function that creates a Held. At the end of the test, all inferences that still wait are released."""
    created = []

    def create(request, error=None):
        created.append(Held(request, error))
        return created[-1]

    yield create
    for held in created:
        held.go.set()


def test_start_and_wait(compiled, sample):
    request = compiled.create_infer_request()
    for seed in (0, 1):
        request.start_async(sample.array(seed))
        request.wait()
        assert_close(request.results[0], sample.expected(sample.array(seed)))


def test_wait_before_anything_was_started_returns(compiled):
    request = compiled.create_infer_request()
    request.wait()
    assert request.wait_for(0) is True


def test_wait_for_tells_whether_it_has_ended(compiled, sample, hold):
    request = compiled.create_infer_request()
    held = hold(request)
    request.start_async(sample.array())
    assert request.wait_for(10) is False
    held.go.set()
    assert request.wait_for(TIMEOUT_MS) is True
    assert_close(request.results[0], sample.expected(sample.array()))


def test_all_requests_at_once(compiled, sample):
    requests = [compiled.create_infer_request() for _ in range(8)]
    for _ in range(3):
        for seed, request in enumerate(requests):
            request.start_async(sample.array(seed))
        for seed, request in enumerate(requests):
            assert request.wait_for(TIMEOUT_MS)
            assert_close(request.results[0], sample.expected(sample.array(seed)))


def test_a_busy_request_says_so_and_stays_usable(compiled, sample, hold):
    request = compiled.create_infer_request()
    held = hold(request)
    request.start_async(sample.array())
    assert held.entered.wait(TIMEOUT_MS / 1000)
    tensor = sample.array(1)
    for act in (
        request.start_async,
        request.infer,
        lambda: request.infer(tensor),
        lambda: request.get_tensor("x"),
        lambda: request.set_callback(print),
    ):
        with pytest.raises(RequestBusyError, match="busy"):
            act()
    held.go.set()
    assert request.wait_for(TIMEOUT_MS)
    assert_close(request.results[0], sample.expected(sample.array()))
    assert_close(request.infer(tensor)[0], sample.expected(tensor))


def test_the_callback_comes_once_with_its_userdata_when_the_results_are_there(compiled, sample):
    request = compiled.create_infer_request()
    seen, called = [], threading.Event()

    def callback(userdata):
        seen.append((userdata, request.results[0].copy()))
        called.set()

    request.set_callback(callback, "mine")
    request.start_async(sample.array())
    assert request.wait_for(TIMEOUT_MS) and called.wait(TIMEOUT_MS / 1000)
    ((userdata, result),) = seen
    assert userdata == "mine"
    assert_close(result, sample.expected(sample.array()))


def test_a_callback_may_start_the_next_inference(compiled, sample):
    request = compiled.create_infer_request()
    seeds, ended = [0], threading.Event()

    def callback(userdata):
        if len(seeds) < 3:
            seeds.append(len(seeds))
            request.start_async(sample.array(seeds[-1]))
        else:
            ended.set()

    request.set_callback(callback)
    request.start_async(sample.array(0))
    assert ended.wait(TIMEOUT_MS / 1000) and request.wait_for(TIMEOUT_MS)
    assert_close(request.results[0], sample.expected(sample.array(2)))


def test_an_error_reaches_wait_and_the_request_stays_usable(compiled, sample, device, hold):
    request = compiled.create_infer_request()
    calls = []
    request.set_callback(calls.append, "called")
    held = hold(request, ValueError("told to fail"))
    held.go.set()
    request.start_async(sample.array())
    with pytest.raises(DeviceError, match=f"{device.split('.')[0]}.*told to fail"):
        request.wait_for(TIMEOUT_MS)
    with pytest.raises(DeviceError, match="told to fail"):
        request.infer()
    assert calls == ["called"]
    held.error = None
    assert_close(request.infer(sample.array(1))[0], sample.expected(sample.array(1)))


def test_cancel_ends_an_inference_and_the_request_stays_usable(compiled, sample, hold):
    request = compiled.create_infer_request()
    held = hold(request)
    request.cancel()  # no inference is running, so this has no effect
    request.start_async(sample.array())
    assert held.entered.wait(TIMEOUT_MS / 1000)
    request.cancel()
    held.go.set()
    with pytest.raises(CancelledError):
        request.wait_for(TIMEOUT_MS)
    assert_close(request.infer(sample.array(1))[0], sample.expected(sample.array(1)))


def test_a_queue_runs_everything_once(compiled, sample):
    queue = AsyncInferQueue(compiled, 3)
    results = {}
    queue.set_callback(lambda request, index: results.setdefault(index, request.results[0].copy()))
    for index in range(20):
        queue.start_async(sample.array(index), index)
    queue.wait_all()
    assert sorted(results) == list(range(20))
    for index, result in results.items():
        assert_close(result, sample.expected(sample.array(index)))


def test_a_queue_of_the_size_that_the_device_finds_best(compiled, sample):
    queue = AsyncInferQueue(compiled)
    assert len(queue) >= 1
    queue.start_async(sample.array())
    queue.wait_all()
    assert_close(queue[0].results[0], sample.expected(sample.array()))


def test_threads_with_requests_of_their_own(compiled, sample):
    wrong = []
    arrays = [sample.array(seed) for seed in range(4)]
    expected = [sample.expected(array) for array in arrays]

    def work(index):
        try:
            request = compiled.create_infer_request()
            for _ in range(25):
                assert_close(request.infer(arrays[index])[0], expected[index])
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=[index]) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT_MS / 1000)
    assert not wrong and not any(thread.is_alive() for thread in threads)


def test_no_thread_is_left_when_the_compiled_model_is_gone(core, device, sample):
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


def test_a_request_that_is_let_go_while_it_runs_does_no_harm(compiled, sample):
    compiled.create_infer_request().start_async(sample.array())
    assert_close(compiled(sample.array(1))[0], sample.expected(sample.array(1)))
