"""What a trial finds out: faults by which drivers are refused, and speeds whatever those of the device are."""

from functools import partial

import numpy as np
import pyopencl as cl
import pytest
from hetero_opencl import trial_process
from hetero_opencl.device import transfers
from hetero_opencl.device.device import present_devices
from hetero_opencl.device.platforms import identity
from hetero_opencl.device.trial import Verdict, run_steps
from hetero_opencl.profiles.profile import Measurements

from hetero import Core, Model, Parameter, Type, ops

DEVICE = present_devices().usable[0]
CASES = trial_process.CASES


@pytest.fixture(autouse=True)
def processor():
    """Each test runs once: kernels for GPUs make no difference here."""


@pytest.fixture
def try_device(monkeypatch):
    """Return a function that tries the first device with only these cases, and returns the verdict."""

    def run(*names: str) -> Verdict:
        monkeypatch.setattr(trial_process, "CASES", {name: CASES[name] for name in names})
        return run_steps([trial_process.try_device] * 2, identity(DEVICE.handle))

    return run


@pytest.fixture
def own_measurements(monkeypatch):
    """Leave the measurements out, which take seconds."""
    monkeypatch.setattr(trial_process, "_measure", lambda *arguments: Measurements())


def test_a_compiler_that_takes_widened_numbers_for_positive_is_refused(monkeypatch, own_measurements, try_device):
    """As Mesa's rusticl 22.3 compiles ``index < 0`` if index was an i32."""

    class Program(cl.Program):
        def __init__(self, context, source, *binaries) -> None:
            faulty = source.replace("index < 0", "false") if isinstance(source, str) else source
            super().__init__(context, faulty, *binaries)

    monkeypatch.setattr(cl, "Program", Program)
    assert try_device("a softmax").reason == ""
    assert try_device("a gather with negative indices").reason == "it computes a gather with negative indices wrongly"


@pytest.fixture
def blind_queues(monkeypatch):
    """Let queues read nothing of what kernels on others have written."""
    enqueue, copy = cl.enqueue_nd_range_kernel, cl.enqueue_copy
    last: list[cl.CommandQueue] = []

    def launch(queue, *arguments, **options):
        last[:] = [queue]
        return enqueue(queue, *arguments, **options)

    def read(queue, target, *arguments, **options):
        is_blind = isinstance(target, np.ndarray) and last and last != [queue]
        return cl.enqueue_marker(queue) if is_blind else copy(queue, target, *arguments, **options)

    monkeypatch.setattr(cl, "enqueue_nd_range_kernel", launch)
    monkeypatch.setattr(cl, "enqueue_copy", read)


def test_queues_that_do_not_see_results_of_others_are_refused(blind_queues, own_measurements, try_device):
    assert try_device("a softmax").reason == "one of its queues does not read what another one has written"


def test_a_driver_without_a_clock_for_events_is_measured_with_the_clock_of_the_system(monkeypatch):
    monkeypatch.setattr(cl.Event, "profile", property(lambda event: type("Profile", (), {"start": 1, "end": 2})))
    monkeypatch.setattr(trial_process, "SIZES", (96,))
    monkeypatch.setattr(trial_process, "COPIED_BYTES", (1 << 18,))
    monkeypatch.setattr(trial_process, "REPEATED_SECONDS", 0)
    monkeypatch.setattr(trial_process, "CASES", {})
    measured = run_steps([trial_process.try_device], identity(DEVICE.handle)).measurements
    assert 1e6 < measured.flops_per_second < 1e13


class SimulatedDevice:
    """A device whose gemms take the time of ``flops_per_second``, on a clock of its own."""

    def __init__(self, monkeypatch, flops_per_second: float, launch_seconds: float) -> None:
        self._flops_per_second, self._launch_seconds = flops_per_second, launch_seconds
        self.now, self.sizes = 0.0, []
        monkeypatch.setattr(trial_process.time, "perf_counter", lambda: self.now)

    def prepare(self, size: int):
        self.sizes.append(size)
        return partial(self._run, size)

    def _run(self, size: int) -> float:
        seconds = self._launch_seconds + 2 * size**3 / self._flops_per_second
        self.now += seconds
        return seconds


@pytest.mark.parametrize(
    ("flops_per_second", "sizes"),
    [
        (6.6e6, [96]),  # Oclgrind
        (5e8, [96]),  # rusticl on two cores
        (5e10, [96, 768]),
        (4e11, [96, 768]),  # two cores with AVX-512
        (5e12, [96, 768, 1536, 3072]),
        (6e13, [96, 768, 1536, 3072]),  # a large GPU
    ],
)
def test_the_timed_size_suits_the_device(monkeypatch, flops_per_second, sizes):
    device = SimulatedDevice(monkeypatch, flops_per_second, 5e-6)
    rate = trial_process._rate(trial_process.SIZES, lambda size: 2 * size**3, device.prepare)
    assert device.sizes == sizes
    assert rate == pytest.approx(flops_per_second, rel=0.02)
    assert device.now < 5


def test_results_are_awaited_if_the_finish_of_queues_returns_at_once(monkeypatch):
    """As that of Mesa's rusticl 22.3 does."""
    monkeypatch.setattr(cl.CommandQueue, "finish", lambda queue: None)
    x = Parameter(Type.f32, [1 << 20])
    y = x
    for _ in range(20):
        y = ops.Tanh(ops.Multiply(ops.Sin(y), x))
    array = np.linspace(-2, 2, 1 << 20, dtype=np.float32)
    expected = array
    for _ in range(20):
        expected = np.tanh(np.sin(expected) * array)
    compiled = Core().compile_model(Model(y, [x]), f"GPU.{DEVICE.id}")
    np.testing.assert_allclose(compiled(array)[0], expected, rtol=1e-4, atol=1e-6)


def test_finish_waits_for_all_commands():
    """The last one is a kernel of some milliseconds."""
    source = "kernel void f(global float *x) { for (int i = 0; i < 1000000; i++) x[0] = sin(x[0]) + i; }"
    queue = DEVICE.make_queue(profiled=False)
    buffer = DEVICE.allocate(4, np.zeros(65, np.float32))
    kernel = cl.Kernel(cl.Program(DEVICE.context, source).build(cache_dir=False), "f")
    kernel.set_args(buffer)
    event = cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,))
    transfers.finish(queue)
    assert event.command_execution_status == cl.command_execution_status.COMPLETE
