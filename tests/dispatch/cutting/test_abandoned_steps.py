"""Steps that hang or whose device is dropped: they write nowhere, can be cancelled, and are released."""

import gc
import threading
import time
import weakref

import numpy as np
import pytest

from hetero import Tensor
from hetero.system.errors import CancelledError
from tests.devices import PickyPlugin, core_with
from tests.dispatch.faulty import FAULTS, TIMEOUT, Faulty, X, Y, chain, inputs, limit_inferences, no_exp, warnings_in


def test_an_abandoned_step_writes_nowhere(caplog):
    """The step continues after the user got the result, but has no access to the user's tensors."""
    a = Faulty("hang")
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(chain(), "HETERO:A,B", TIMEOUT)
    limit_inferences(compiled, 50)
    request = compiled.create_infer_request()
    own = np.zeros((1, 4), np.float32)
    request.set_output_tensor(Tensor(own, shared_memory=True))
    request.infer(X)
    own[:] = 7
    a.released.set()
    (hung,) = a.hung
    hung.join(10)  # the thread ends, as another one replaced it
    assert not hung.is_alive()
    np.testing.assert_array_equal(own, np.full((1, 4), 7))
    request.infer(X)
    np.testing.assert_allclose(own, Y, rtol=1e-6)


def test_a_device_that_fails_to_cancel_a_hanging_step_is_dropped_too(monkeypatch, caplog):
    def cancel(self):
        raise SystemExit(3)

    monkeypatch.setattr("tests.dispatch.faulty._Request.cancel", cancel, raising=False)
    a = Faulty("hang")
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(chain(), "HETERO:A,B", TIMEOUT)
    limit_inferences(compiled, 50)
    requests = [compiled.create_infer_request() for _ in range(3)]
    for request in requests:
        request.start_async(X)
    for request in requests:
        assert request.wait_for(20000)
        np.testing.assert_allclose(request.results[0], Y, rtol=1e-6)
    a.released.set()
    assert "A failed to cancel an inference of 'chain/0': SystemExit: 3" in warnings_in(caplog)
    assert compiled.get_property("EXECUTION_DEVICES") == ["B"]


def test_all_devices_are_cancelled_if_one_fails_at_that(monkeypatch):
    def cancel(self):
        raise KeyError("lost")

    monkeypatch.setattr("tests.dispatch.faulty._Request.cancel", cancel, raising=False)
    a = Faulty("cancel", accepts=no_exp)
    request = core_with(A=a, B=PickyPlugin()).compile_model(chain(), "HETERO:A,B").create_infer_request()
    a.cancel = request.cancel
    with pytest.raises(CancelledError):
        request.infer(X)
    assert all(step.request.cancelled for step in request._request.request.bound.steps)


def test_a_hanging_inference_can_be_cancelled():
    a = Faulty("hang")
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(chain(), "HETERO:A,B", TIMEOUT)
    limit_inferences(compiled, 300)
    request = compiled.create_infer_request()
    request.start_async(X)
    while not a.count:
        time.sleep(0.001)
    request.cancel()
    with pytest.raises(CancelledError):
        request.wait()
    a.fault = ""
    np.testing.assert_allclose(request.infer(X)[0], Y, rtol=1e-6)
    assert "A" in compiled.get_property("EXECUTION_DEVICES")
    a.released.set()


@pytest.mark.parametrize("fault", FAULTS)
def test_everything_of_a_dropped_device_is_released(fault):
    """Its compiled models, their requests and all threads are released once the hanging step has ended."""
    before = set(threading.enumerate())
    a = Faulty(fault, healthy=3, accepts=no_exp)
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(chain(), "HETERO:A,B", TIMEOUT)
    limit_inferences(compiled, 50)
    requests = [compiled.create_infer_request() for _ in range(5)]
    on_a = [step.compiled for step in compiled._compiled.plan.steps if step.device == "A"]
    left = [
        weakref.ref(one) for one in (*on_a, *(s.request for q in requests for s in q._request.request.bound.steps[::2]))
    ]
    del on_a
    for request in requests * 2:
        request.start_async(X)
        request.wait()
    a.released.set()
    deadline = time.monotonic() + 10
    while any(ref() is not None for ref in left) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert [ref() for ref in left] == [None] * len(left)
    del compiled, request, requests
    while new_threads(before) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert new_threads(before) == []


def new_threads(before: set[threading.Thread]) -> list[str]:
    """Return the names of the threads of models that were not there before."""
    new = set(threading.enumerate()) - before
    return [thread.name for thread in new if thread.name.startswith("hetero HETERO chain")]


def test_fallback_costs_no_compilation_and_no_thread_as_long_as_nothing_fails():
    before = set(threading.enumerate())
    a, b = Faulty(accepts=no_exp), PickyPlugin()
    compiled = core_with(A=a, B=b).compile_model(chain(), "HETERO:A,B")
    for x in inputs(5):
        compiled(x)
    assert (len(a.compiled), len(b.compiled)) == (2, 1) and new_threads(before) == []
