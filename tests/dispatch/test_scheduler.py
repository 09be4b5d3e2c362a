"""The scheduler: what runs at once, in which order, and to whom errors go. Meetings of threads prove what overlaps."""

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np
import pytest
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.infer_request import TemplateInferRequest

from hetero import AsyncInferQueue, Model, Parameter, Type, ops
from hetero.dispatch.scheduler import Inference, Scheduler
from hetero.errors import CancelledError, DeviceError
from tests.devices import PickyPlugin, core_with

X = np.array([[-1, 0, 0.5, 2]], np.float32)


class _Request(TemplateInferRequest):
    def start(self):
        with self.compiled_model.plugin.watched():
            super().start()


class _CompiledModel(TemplateCompiledModel):
    def create_sync_infer_request(self):
        return _Request(self)


class Watched(PickyPlugin):
    """The reference; ``meet`` is called in every inference, and how many run at once is counted."""

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
    """exp(x) on one device beside tanh(x) on the other."""
    x = Parameter(Type.f32, [1, 4], name="x")
    return Model([ops.Exp(x, name="exp"), ops.Tanh(x, name="tanh")], [x], "branches")


def chain() -> Model:
    """exp(tanh(x)), each on another device."""
    x = Parameter(Type.f32, [1, 4], name="x")
    return Model(ops.Exp(ops.Tanh(x, name="tanh"), name="exp"), [x], "chain")


@pytest.mark.parametrize("asynchronous", [False, True], ids=["infer", "start_async"])
def test_branches_run_at_once_on_their_devices(asynchronous):
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


def test_requests_take_turns_on_the_devices():
    """While the first inference is on the second device, the second one must be on the first."""
    meeting = threading.Barrier(2)
    turns = {"A": 0, "B": 0}

    def meet(device, alone_at):
        turns[device] += 1
        if turns[device] != alone_at:
            meeting.wait(30)

    a, b = Watched({"Tanh"}, lambda: meet("A", 1)), Watched({"Exp"}, lambda: meet("B", 8))
    queue = AsyncInferQueue(core_with(A=a, B=b).compile_model(chain(), "HETERO:A,B"), 3)
    for _ in range(8):
        queue.start_async(X)
    queue.wait_all()
    assert turns == {"A": 8, "B": 8} and a.most == b.most == 1
    for request in queue:
        np.testing.assert_allclose(request.results[0], np.exp(np.tanh(X)), rtol=1e-6)


def test_a_device_runs_as_many_inferences_at_once_as_it_has_streams():
    meeting = threading.Barrier(2)
    core = core_with(A=Watched({"Tanh"}), B=Watched({"Exp"}, lambda: meeting.wait(30)))
    options = {"DEVICE_PROPERTIES": {"B": {"NUM_STREAMS": 2}}}
    compiled = core.compile_model(chain(), "HETERO:A,B", options)
    queue = AsyncInferQueue(compiled, 4)
    for _ in range(8):  # an even number, as they meet in twos
        queue.start_async(X)
    queue.wait_all()
    assert core.get_plugin("B").most == 2 and core.get_plugin("A").most == 1


def test_an_inference_that_waits_for_nobody_stays_on_one_thread():
    threads: list[str] = []
    note = lambda: threads.append(threading.current_thread().name)  # noqa: E731
    core = core_with(A=Watched({"Tanh"}, note), B=Watched({"Exp"}, note))
    request = core.compile_model(chain(), "HETERO:A,B").create_infer_request()
    request.infer(X)
    assert set(threads) == {threading.current_thread().name}
    threads.clear()
    request.start_async(X)
    request.wait()
    assert len(threads) == 2 and len(set(threads)) == 1


def test_errors_and_cancelling_reach_their_own_request_only():
    def fail():
        if next(failing_for) == 3:
            raise ValueError("told to fail")

    failing_for = iter(range(100))
    core = core_with(A=Watched({"Tanh"}, fail), B=Watched({"Exp"}))
    compiled = core.compile_model(chain(), "HETERO:A,B")
    requests = [compiled.create_infer_request() for _ in range(8)]
    for request in requests:
        request.start_async(X)
    requests[6].cancel()
    outcomes = []
    for request in requests:
        try:
            request.wait()
        except (DeviceError, CancelledError) as error:
            outcomes.append(type(error))
        else:
            outcomes.append(None)
            np.testing.assert_allclose(request.results[0], np.exp(np.tanh(X)), rtol=1e-6)
    assert outcomes.count(DeviceError) == 1 and outcomes.count(CancelledError) <= 1
    assert outcomes[6] in (CancelledError, None, DeviceError)
    for request in requests:
        np.testing.assert_allclose(request.infer(X)[0], np.exp(np.tanh(X)), rtol=1e-6)


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
    """Forty inferences of one plan at once: each step after those that it waits for, no device beyond its slots."""
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

        scheduler.begin(Inference(plan, run_step, ended.set_result))
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
    scheduler.begin(Inference(plan, run_step, ended.set_result))
    with pytest.raises(TimeoutError):
        ended.result(0.05)
    held.set()
    assert str(ended.result(30)) == "first" and sorted(ran) == [0, 1]
