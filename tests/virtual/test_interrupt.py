"""Ctrl-C and cancellations while other threads use the same devices."""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from hetero.virtual import batch_request
from tests.devices import core_with
from tests.threads import PATIENCE, Gate, press_control_c, started
from tests.virtual.devices import Backend, arrays, square


def test_a_batch_has_ended_when_the_interruption_of_a_member_is_raised(monkeypatch):
    """The batch reads and writes the tensors of the interrupted request."""
    joined, ends = threading.Event(), []
    waits = []  # counted without a lock, which Ctrl-C could leave locked
    join, first, second = batch_request.Gathering._wait, *arrays(2)

    def wait_in_batch(self, batch, request):
        joined.set()
        join(self, batch, request)

    class Awaited(threading.Event):
        def wait(self, timeout=None):
            waits.append(None)
            return super().wait(timeout)

    def wait_for_waits(count):
        end = time.monotonic() + PATIENCE
        while len(waits) < count:
            assert time.monotonic() < end
            time.sleep(0.001)

    class Device(Backend):
        def begin(self, inputs):
            if not ends:
                wait_for_waits(1)
                press_control_c()
                wait_for_waits(2)  # the interrupted thread waits again, or has raised
                ends.append("of the batch")

    compiled = core_with(A=Device()).compile_model(square(), "BATCH:A(2)", {"AUTO_BATCH_TIMEOUT": PATIENCE * 1000})
    requests = [compiled.create_infer_request() for _ in range(2)]
    monkeypatch.setattr(batch_request.Gathering, "_wait", wait_in_batch)
    # Only there: threads of others wait for events too.
    monkeypatch.setattr(batch_request, "threading", SimpleNamespace(**{**vars(threading), "Event": Awaited}))
    other = started(lambda: joined.wait(PATIENCE) and requests[1].infer(second)[0])
    try:
        with pytest.raises(KeyboardInterrupt):
            requests[0].infer(first)
        assert ends == ["of the batch"]
    finally:
        waits += [None, None]
    np.testing.assert_allclose(other.result(PATIENCE), second**2, rtol=1e-6)


def test_a_late_cancellation_does_not_reach_another_request(monkeypatch):
    """It found the device's request, which is then used for the inference of another request."""
    gates = [Gate(), Gate()]
    cancelling, device = Gate(), Backend()

    def begin(inputs):
        gates[int(inputs[0].array[0, 0])].wait()

    device.begin = begin
    compiled = core_with(A=device).compile_model(square(), "AUTO:A")
    first, second = (compiled.create_infer_request() for _ in range(2))
    inputs = [np.full([1, 4], index, np.float32) for index in range(2)]
    one = started(lambda: first.infer(inputs[0]))
    gates[0].wait_until_reached()
    used = first._request.request._running
    cancel = used.cancel
    monkeypatch.setattr(used, "cancel", lambda: (cancelling.wait(), cancel()))
    cancellation = started(first.cancel)
    cancelling.wait_until_reached()
    gates[0].open()
    assert type(one.exception(PATIENCE)).__name__ == "CancelledError"
    other = started(lambda: second.infer(inputs[1])[0])
    gates[1].wait_until_reached()
    cancelling.open()
    cancellation.result(PATIENCE)
    gates[1].open()
    np.testing.assert_array_equal(other.result(PATIENCE), inputs[1])
