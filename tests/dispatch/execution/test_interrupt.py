"""Ctrl-C while infer() waits for steps on the scheduler's threads."""

import threading
import time
from typing import ClassVar

import numpy as np
import pytest
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.infer_request import TemplateInferRequest

from hetero.dispatch.execution import infer_request
from hetero.system.errors import CancelledError, DeviceError
from tests.devices import PickyPlugin, core_with
from tests.dispatch.execution.test_scheduler import X, branches
from tests.threads import PATIENCE, Gate, press_control_c


class _Request(TemplateInferRequest):
    def start(self):
        plugin = self.compiled_model.plugin
        with plugin.running:
            plugin.meanwhile(self)
            super().start()

    def cancel(self):
        super().cancel()
        self.compiled_model.plugin.told.set()


class _CompiledModel(TemplateCompiledModel):
    def create_sync_infer_request(self):
        return _Request(self)


class Interrupted(PickyPlugin):
    """The reference device, which calls ``meanwhile(request)`` in each inference; ``told`` is set by a cancellation."""

    def __init__(self, kinds, meanwhile=lambda request: None):
        super().__init__(lambda node: node.type_info.name in kinds)
        self.meanwhile, self.told, self.running = meanwhile, threading.Event(), threading.Lock()

    def compile(self, prepared):
        return _CompiledModel(prepared)


class _Awaited(infer_request.End):
    """An End that counts the waits for it, without a lock that Ctrl-C could leave locked."""

    waits: ClassVar[list[None]] = []

    def wait(self, timeout=float("inf")):
        self.waits.append(None)
        return super().wait(timeout)


@pytest.fixture
def wait_for_waits(monkeypatch):
    """Wait until the caller of infer() has begun to wait for the steps that many times."""
    monkeypatch.setattr(infer_request, "End", _Awaited)
    _Awaited.waits.clear()

    def wait(count):
        end = time.monotonic() + PATIENCE
        while len(_Awaited.waits) < count:
            assert time.monotonic() < end
            time.sleep(0.001)

    return wait


def check(request) -> None:
    results = request.infer(X)
    np.testing.assert_allclose(results[0], np.exp(X), rtol=1e-6)
    np.testing.assert_allclose(results[1], np.tanh(X), rtol=1e-6)


@pytest.mark.parametrize("options", [{}, {"DEVICE_TIMEOUT": 60_000}], ids=["", "with a timeout"])
def test_the_inference_is_cancelled_and_has_ended(wait_for_waits, options):
    def interrupt(step):
        wait_for_waits(1)
        press_control_c()
        assert step.compiled_model.plugin.told.wait(PATIENCE)
        step.check_cancelled()

    a, b = Interrupted({"Tanh"}, interrupt), Interrupted({"Exp"})
    request = core_with(A=a, B=b).compile_model(branches(), "HETERO:A,B", options).create_infer_request()
    with pytest.raises(KeyboardInterrupt):
        request.infer(X)
    try:
        assert a.told.is_set() and not a.running.locked() and not b.running.locked()
    finally:
        a.told.set()
    a.meanwhile = lambda step: None
    for _ in range(2):
        check(request)


def test_a_device_that_ignores_it_is_left_behind_at_the_second_time(wait_for_waits):
    with Gate() as gate:

        def interrupt(step):
            wait_for_waits(1)
            press_control_c()
            assert step.compiled_model.plugin.told.wait(PATIENCE)
            wait_for_waits(2)
            press_control_c()
            gate.wait()

        a, b = Interrupted({"Tanh"}, interrupt), Interrupted({"Exp"})
        options = {"DEVICE_PROPERTIES": {"A": {"NUM_STREAMS": 2}}}
        request = core_with(A=a, B=b).compile_model(branches(), "HETERO:A,B", options).create_infer_request()
        with pytest.raises(KeyboardInterrupt):
            request.infer(X)
        gate.wait_until_reached()
        a.meanwhile, a.running = lambda step: None, threading.Lock()
        check(request)  # in other requests of the devices
    check(request)


class _Background(TemplateInferRequest):
    """A request that computes in ``wait``."""

    def start(self):
        self.compiled_model.plugin.running.acquire()
        self.compiled_model.plugin.meanwhile(self)

    def wait(self):
        self.compiled_model.plugin.running.release()
        super().start()


class _BackgroundModel(TemplateCompiledModel):
    def create_sync_infer_request(self):
        return _Background(self)


class InBackground(Interrupted):
    def compile(self, prepared):
        return _BackgroundModel(prepared)


@pytest.mark.parametrize("options", [{}, {"PERF_COUNT": True}], ids=["", "profiled"])
def test_a_device_that_computes_in_the_background_is_waited_for_when_another_one_is_cancelled(options):
    started = threading.Event()

    def note_start(step):
        started.set()
        assert not options or b.told.wait(PATIENCE)  # profiled steps run on several threads

    def cancel(step):
        assert started.wait(PATIENCE)
        request.cancel()
        step.check_cancelled()

    a, b = InBackground({"Tanh"}, note_start), Interrupted({"Exp"}, cancel)
    request = core_with(A=a, B=b).compile_model(branches(), "HETERO:A,B", options).create_infer_request()
    with pytest.raises(CancelledError):
        request.infer(X)
    assert not a.running.locked()
    b.meanwhile = lambda step: None
    check(request)


class _NotCancelled(_Request):
    def cancel(self):
        raise OSError("the driver is gone")


class CannotCancel(Interrupted):
    def compile(self, prepared):
        class CompiledModel(TemplateCompiledModel):
            def create_sync_infer_request(self):
                return _NotCancelled(self)

        return CompiledModel(prepared)


def test_a_device_that_fails_to_cancel_does_not_keep_the_others_from_it(caplog):
    def cancel(step):
        request.cancel()
        assert step.compiled_model.plugin.told.is_set()
        step.check_cancelled()

    a, b = CannotCancel({"Tanh"}), Interrupted({"Exp"}, cancel)
    request = core_with(A=a, B=b).compile_model(branches(), "HETERO:A,B").create_infer_request()
    with pytest.raises(CancelledError):
        request.infer(X)
    assert "A failed to cancel an inference of 'branches/1': OSError: the driver is gone" in caplog.text
    b.meanwhile = lambda step: None
    check(request)


def test_a_step_that_hangs_on_a_device_that_fails_to_cancel_ends_its_inference():
    with Gate() as gate:
        a, b = CannotCancel({"Tanh"}, lambda step: gate.wait()), Interrupted({"Exp"})
        options = {"DEVICE_TIMEOUT": 100, "RUNTIME_FALLBACK": False}
        request = core_with(A=a, B=b).compile_model(branches(), "HETERO:A,B", options).create_infer_request()
        request.start_async(X)
        with pytest.raises(DeviceError, match="A did not end an inference"):
            assert request.wait_for(PATIENCE * 1000)
