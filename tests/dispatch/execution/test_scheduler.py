"""The scheduler: overlap of steps, their order, and errors. Steps that meet at a barrier prove that they overlap."""

import functools
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np
import pytest
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.infer_request import TemplateInferRequest

from hetero import AsyncInferQueue, Model, Parameter, Type, ops
from hetero.dispatch.execution.scheduler import Inference, Scheduler
from hetero.system.errors import CancelledError, DeviceError
from tests.devices import PickyPlugin, core_with

X = np.array([[-1, 0, 0.5, 2]], np.float32)


class _Request(TemplateInferRequest):
    def start(self):
        with self.compiled_model.plugin.watched():
            super().start()


class _CompiledModel(TemplateCompiledModel):
    def create_sync_infer_request(self):
        return _Request(self)


class _FailingRequest(TemplateInferRequest):
    def start(self):
        if any(np.isnan(tensor.data).any() for tensor in self.input_tensors()):
            raise ValueError("an input is NaN")
        super().start()


class _FailingModel(TemplateCompiledModel):
    def create_sync_infer_request(self):
        return _FailingRequest(self)


class FailsOnNaN(PickyPlugin):
    """The reference device, which fails on inputs that are not numbers."""

    def __init__(self, kinds):
        super().__init__(lambda node: node.type_info.name in kinds)

    def compile(self, prepared):
        return _FailingModel(prepared)


class Watched(PickyPlugin):
    """The reference device, which calls ``meet`` in every inference and counts how many run at once."""

    def __init__(self, kinds, meet=lambda: None):
        super().__init__(lambda node: node.type_info.name in kinds)
        self.meet, self.running, self.most, self.lock = meet, 0, 0, threading.Lock()

    def watched(self):
        plugin = self

        class Watch:
            def __enter__(self):
                with plugin.lock:
                    plugin.running += 1
                    plugin.most = max(plugin.most, plugin.running)
                plugin.meet()

            def __exit__(self, *error):
                with plugin.lock:
                    plugin.running -= 1

        return Watch()

    def compile(self, prepared):
        return _CompiledModel(prepared)


def branches() -> Model:
    """exp(x) on one device and tanh(x) on the other, independent of each other."""
    x = Parameter(Type.f32, [1, 4], name="x")
    return Model([ops.Exp(x, name="exp"), ops.Tanh(x, name="tanh")], [x], "branches")


def chain() -> Model:
    """exp(tanh(x)), on two devices."""
    x = Parameter(Type.f32, [1, 4], name="x")
    return Model(ops.Exp(ops.Tanh(x, name="tanh"), name="exp"), [x], "chain")


@pytest.mark.parametrize("asynchronous", [False, True], ids=["infer", "start_async"])
def test_branches_overlap_on_their_devices(asynchronous):
    meeting = threading.Barrier(2)
    core = core_with(A=Watched({"Tanh"}, lambda: meeting.wait(30)), B=Watched({"Exp"}, lambda: meeting.wait(30)))
    request = core.compile_model(branches(), "HETERO:A,B").create_infer_request()
    for _ in range(3):
        if asynchronous:
            request.start_async(X)
            request.wait()
        else:
            request.infer(X)
        np.testing.assert_allclose(request.results[0], np.exp(X), rtol=1e-6)
        np.testing.assert_allclose(request.results[1], np.tanh(X), rtol=1e-6)


def test_requests_overlap_on_the_devices():
    """While one inference is on the second device, the next one must be on the first."""
    meeting = threading.Barrier(2)
    counts = {"A": 0, "B": 0}

    def meet(device, alone_at):
        counts[device] += 1
        if counts[device] != alone_at:
            meeting.wait(30)

    a, b = Watched({"Tanh"}, lambda: meet("A", 1)), Watched({"Exp"}, lambda: meet("B", 8))
    queue = AsyncInferQueue(core_with(A=a, B=b).compile_model(chain(), "HETERO:A,B"), 3)
    for _ in range(8):
        queue.start_async(X)
    queue.wait_all()
    assert counts == {"A": 8, "B": 8} and a.most == b.most == 1
    for request in queue:
        np.testing.assert_allclose(request.results[0], np.exp(np.tanh(X)), rtol=1e-6)


def test_a_device_runs_as_many_inferences_at_once_as_it_has_streams():
    meeting = threading.Barrier(2)
    core = core_with(A=Watched({"Tanh"}), B=Watched({"Exp"}, lambda: meeting.wait(30)))
    options = {"DEVICE_PROPERTIES": {"B": {"NUM_STREAMS": 2}}}
    compiled = core.compile_model(chain(), "HETERO:A,B", options)
    queue = AsyncInferQueue(compiled, 4)
    for _ in range(8):  # an even number, as pairs meet
        queue.start_async(X)
    queue.wait_all()
    assert core.get_plugin("B").most == 2 and core.get_plugin("A").most == 1


def test_an_inference_that_need_not_wait_stays_on_one_thread():
    threads: list[str] = []
    record = lambda: threads.append(threading.current_thread().name)  # noqa: E731
    core = core_with(A=Watched({"Tanh"}, record), B=Watched({"Exp"}, record))
    request = core.compile_model(chain(), "HETERO:A,B").create_infer_request()
    request.infer(X)
    assert set(threads) == {threading.current_thread().name}
    threads.clear()
    request.start_async(X)
    request.wait()
    assert len(threads) == 2 and len(set(threads)) == 1


def start_all(compiled, inputs) -> list:
    requests = [compiled.create_infer_request() for _ in inputs]
    for request, x in zip(requests, inputs):
        request.start_async(x)
    return requests


def check(request, x):
    np.testing.assert_allclose(request.results[0], np.exp(np.tanh(x)), rtol=1e-6)


def test_an_error_reaches_its_own_request_only():
    """The inference of the fourth request fails on its input, wherever the scheduler runs it; the others succeed."""
    core = core_with(A=FailsOnNaN({"Tanh"}), B=Watched({"Exp"}))
    inputs = [X * number for number in range(8)]
    inputs[3] = np.full_like(X, np.nan)
    requests = start_all(core.compile_model(chain(), "HETERO:A,B"), inputs)
    with pytest.raises(DeviceError, match="an input is NaN"):
        requests[3].wait()
    for request, x in zip(requests, inputs):
        if request is not requests[3]:
            request.wait()
            check(request, x)
    requests[3].infer(X)
    check(requests[3], X)


def test_cancelling_reaches_its_own_request_only():
    """The first request is held on the first device, so the one that is cancelled has run no step yet."""
    held = threading.Event()
    core = core_with(A=Watched({"Tanh"}, lambda: held.wait(30)), B=Watched({"Exp"}))
    inputs = [X * number for number in range(8)]
    requests = start_all(core.compile_model(chain(), "HETERO:A,B"), inputs)
    requests[6].cancel()
    held.set()
    with pytest.raises(CancelledError):
        requests[6].wait()
    for request, x in zip(requests, inputs):
        if request is not requests[6]:
            request.wait()
            check(request, x)
    requests[6].infer(X)
    check(requests[6], X)


@dataclass
class _Step:
    device: str
    waits_for: set[int] = field(default_factory=set)
    readers: set[int] = field(default_factory=set)


class _Plan:
    def __init__(self, devices, edges):
        self.steps = [_Step(device) for device in devices]
        for writer, reader in edges:
            self.steps[writer].readers.add(reader)
            self.steps[reader].waits_for.add(writer)


@pytest.mark.parametrize("seed", range(5))
def test_random_plans_run_every_step_once_and_in_order(seed):
    """Forty inferences at once: each step runs once, after the steps that it waits for, within the device's slots."""
    generator = np.random.default_rng(seed)
    count = int(generator.integers(1, 30))
    devices = [str(generator.choice(["A", "B", "C"])) for _ in range(count)]
    edges = [(i, j) for j in range(count) for i in range(j) if generator.random() < 0.15]
    plan = _Plan(devices, edges)
    slots = {"A": 1, "B": 2, "C": 3}
    running, most, lock = dict.fromkeys("ABC", 0), dict.fromkeys("ABC", 0), threading.Lock()
    scheduler = Scheduler("test", slots)
    ends, orders = [], []
    for _ in range(40):
        order: list[int] = []
        ended: Future = Future()

        def run_step(index, order=order):
            device = devices[index]
            with lock:
                running[device] += 1
                most[device] = max(most[device], running[device])
            assert plan.steps[index].waits_for <= set(order)
            with lock:
                order.append(index)
                running[device] -= 1

        scheduler.submit(functools.partial(scheduler.run, Inference(plan, run_step, ended.set_result)))
        ends.append(ended)
        orders.append(order)
    assert [end.result(30) for end in ends] == [None] * 40
    assert all(sorted(order) == list(range(count)) for order in orders)
    assert all(most[device] <= slots[device] for device in slots)


def test_after_an_error_no_step_begins_and_the_end_comes_once_all_have_ended():
    plan = _Plan("AABC", [(0, 2), (1, 3)])
    begun, held, ran, ended = threading.Event(), threading.Event(), [], Future()

    def run_step(index):
        ran.append(index)
        if index == 0:
            begun.wait(30)
            raise ValueError("first")
        begun.set()
        held.wait(30)

    scheduler = Scheduler("test", {"A": 2, "B": 1, "C": 1})
    scheduler.submit(functools.partial(scheduler.run, Inference(plan, run_step, ended.set_result)))
    with pytest.raises(TimeoutError):
        ended.result(0.05)
    held.set()
    assert str(ended.result(30)) == "first" and sorted(ran) == [0, 1]
