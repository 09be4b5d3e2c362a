"""Ctrl-C at any time: the request or the queue stays usable."""

import contextlib
import random
import signal

import numpy as np
import pytest

from hetero import AsyncInferQueue, Core, Model, Parameter, Type, ops
from hetero.graph.rt_info import AFFINITY
from hetero.system.errors import CancelledError
from tests.devices import core_with
from tests.dispatch.execution.test_interrupt import Interrupted

X = np.float32([[-1, 0, 0.5, 2]])
ROUNDS = 200
# Seconds until the signal; inferences take less than the most.
MOST = 4e-4


def interrupt(signum, frame):
    raise KeyboardInterrupt


@pytest.fixture
def pressed_at_random(monkeypatch):
    """A function that calls another one, with Ctrl-C at a random time. Return whether it was interrupted."""
    draw = random.Random(0)
    before = signal.signal(signal.SIGALRM, interrupt)

    def call(function) -> bool:
        try:
            signal.setitimer(signal.ITIMER_REAL, draw.uniform(1e-6, MOST))
            function()
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            return True
        return False

    yield call
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def compiled_on(devices: str):
    parameter = Parameter(Type.f32, X.shape)
    relu, exp = ops.Relu(parameter), ops.Exp(parameter)
    relu.rt_info[AFFINITY], exp.rt_info[AFFINITY] = "A", "B"
    model = Model([relu, exp], [parameter], "branches")
    core = core_with(A=Interrupted({"Relu"}), B=Interrupted({"Exp"})) if "A" in devices.split(":")[-1] else Core()
    return core.compile_model(model, devices)


def check(results) -> None:
    np.testing.assert_array_equal(results[0], np.maximum(X, 0))
    np.testing.assert_allclose(results[1], np.exp(X), rtol=1e-6)


@pytest.mark.parametrize("devices", ["TEMPLATE", "HETERO:A,B"])
def test_infer(devices, pressed_at_random):
    request = compiled_on(devices).create_infer_request()
    interrupted = 0
    for _ in range(ROUNDS):
        interrupted += pressed_at_random(lambda: request.infer(X))
        check(request.infer(X))
    assert interrupted


@pytest.mark.parametrize("devices", ["TEMPLATE", "HETERO:A,B"])
def test_start_async(devices, pressed_at_random):
    """An inference that was launched is cancelled, or has ended; another one did not start."""
    request = compiled_on(devices).create_infer_request()
    for _ in range(ROUNDS):
        pressed_at_random(lambda: request.start_async(X))
        with contextlib.suppress(CancelledError):
            request.wait()
        check(request.infer(X))


@pytest.mark.parametrize("devices", ["TEMPLATE", "HETERO:A,B"])
def test_wait(devices, pressed_at_random):
    request = compiled_on(devices).create_infer_request()
    for _ in range(ROUNDS):
        request.start_async(X)
        pressed_at_random(request.wait)
        request.wait()
        check(request.results)


def test_a_queue_that_waits(pressed_at_random):
    queue = AsyncInferQueue(compiled_on("TEMPLATE"), 2)
    results = []
    queue.set_callback(lambda request, userdata: results.append(request.results.to_tuple()))
    for _ in range(ROUNDS):
        queue.start_async(X)
        queue.start_async(X)
        pressed_at_random(queue.get_idle_request_id)
        pressed_at_random(queue.wait_all)
        queue.wait_all()
    assert len(results) == 2 * ROUNDS and len(queue._idle) == 2
