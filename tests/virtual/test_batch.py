"""BATCH: requests of one sample run together as a batch, or one by one if they cannot."""

import re
import threading
import time

import numpy as np
import pytest

from hetero import AsyncInferQueue, Core, Model, Parameter, Tensor, Type, ops
from hetero.conformance.features import delay
from hetero.conformance.samples import find_sample
from hetero.system.errors import CancelledError, DeviceError, NotSupportedError, PropertyError, TensorError
from tests.devices import core_with
from tests.dispatch.faulty import warnings_in
from tests.virtual.devices import TIMEOUT, Backend, arrays, square

# Milliseconds; for tests in which the batch must become full.
LONG = {"AUTO_BATCH_TIMEOUT": TIMEOUT * 1000}


class Recording(Backend):
    """A device that records the number of rows of each inference, and fails if it has ``bad_rows``."""

    def __init__(self, bad_rows: int = 0, **options) -> None:
        super().__init__(**options)
        self.rows: list[int] = []
        self.bad_rows = bad_rows

    def begin(self, inputs) -> None:
        rows = inputs[0].shape[0]
        with self.lock:
            self.rows.append(rows)
        if rows == self.bad_rows:
            raise ValueError("too many rows")


def compile_on(device: Recording, model: Model | None = None, name: str = "BATCH:A(4)", **options):
    return core_with(A=device).compile_model(model or square(), name, LONG | options)


def run_together(requests, inputs) -> list[np.ndarray]:
    """Start all requests, wait for them and return the results."""
    for request, x in zip(requests, inputs):
        request.start_async(x)
    for request in requests:
        assert request.wait_for(TIMEOUT * 1000)
    return [request.results[0] for request in requests]


def test_full_batches_run_as_one_inference():
    device = Recording()
    compiled = compile_on(device)
    assert device.shapes == ["[1,4]", "[4,4]"]
    requests = [compiled.create_infer_request() for _ in range(8)]
    for round_number in range(3):
        inputs = [x + round_number for x in arrays(8)]
        for x, found in zip(inputs, run_together(requests, inputs)):
            np.testing.assert_allclose(found, x * x, rtol=1e-6)
    assert device.rows == [4] * 6
    assert compiled.get_property("OPTIMAL_BATCH_SIZE") == 4
    assert compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS") == 4
    assert compiled.get_property("EXECUTION_DEVICES") == ["A"]


def test_after_the_timeout_requests_run_one_by_one():
    device = Recording()
    compiled = compile_on(device, AUTO_BATCH_TIMEOUT=100)
    requests = [compiled.create_infer_request() for _ in range(4)]
    started = time.perf_counter()
    for x, found in zip(arrays(2), run_together(requests[:2], arrays(2))):
        np.testing.assert_allclose(found, x * x, rtol=1e-6)
    assert time.perf_counter() - started >= 0.1
    assert device.rows == [1, 1]
    compiled.set_property({"AUTO_BATCH_TIMEOUT": 0})
    assert compiled.get_property("AUTO_BATCH_TIMEOUT") == 0
    requests[0].infer(arrays(1)[0])
    assert device.rows == [1, 1, 1]


def test_requests_do_not_wait_for_others_that_do_not_exist():
    device = Recording()
    request = compile_on(device).create_infer_request()
    for x in arrays(3):
        np.testing.assert_allclose(request.infer(x)[0], x * x, rtol=1e-6)
    assert device.rows == [1, 1, 1]


def test_a_failing_batch_runs_again_one_by_one():
    device = Recording(bad_rows=4)
    compiled = compile_on(device)
    requests = [compiled.create_infer_request() for _ in range(4)]
    for x, found in zip(arrays(4), run_together(requests, arrays(4))):
        np.testing.assert_allclose(found, x * x, rtol=1e-6)
    assert device.rows == [4, 1, 1, 1, 1]


def test_an_error_of_one_request_does_not_hit_the_others():
    device = Recording()
    compiled = compile_on(device)
    requests = [compiled.create_infer_request() for _ in range(4)]
    memory = np.zeros([1, 4], np.float32)
    memory.flags.writeable = False
    requests[0].set_output_tensor(Tensor(memory, shared_memory=True))  # cannot be written
    for request, x in zip(requests, arrays(4)):
        request.start_async(x)
    with pytest.raises(DeviceError, match="read-only"):
        requests[0].wait_for(TIMEOUT * 1000)
    for request, x in zip(requests[1:], arrays(4)[1:]):
        assert request.wait_for(TIMEOUT * 1000)
        np.testing.assert_allclose(request.results[0], x * x, rtol=1e-6)
    with pytest.raises(TensorError, match="shape"):
        requests[1].infer(np.zeros([2, 4], np.float32))


def test_if_the_batch_does_not_compile_requests_run_one_by_one(caplog):
    class Small(Recording):
        def compile(self, prepared):
            if prepared.ports.inputs[0].get_shape()[0] > 1:
                raise DeviceError("out of memory")
            return super().compile(prepared)

    device = Small()
    compiled = compile_on(device)
    requests = [compiled.create_infer_request() for _ in range(4)]
    run_together(requests, arrays(4))
    assert device.rows == [1] * 4 and compiled.get_property("OPTIMAL_BATCH_SIZE") == 1
    (warning,) = warnings_in(caplog)
    assert "run one by one: A failed to compile model 'square': out of memory" in warning


def mean_of_batch() -> Model:
    x = Parameter(Type.f32, [1, 4], name="x")
    return Model(ops.Subtract(x, ops.ReduceMean(x, [0], True, name="mean")), [x], "centered")


@pytest.mark.parametrize(
    ("model", "shape", "reason"),
    [
        (mean_of_batch(), (1, 4), "ReduceMean 'mean' may mix the samples"),
        (square(rows=2), (2, 4), "input 'x' has the shape \\[2, 4\\]"),
        (square(rows=-1), (3, 4), "its shapes are dynamic"),
    ],
)
def test_models_that_cannot_be_batched_run_as_they_are(model, shape, reason, caplog):
    device = Recording()
    compiled = compile_on(device, model)
    requests = [compiled.create_infer_request() for _ in range(4)]
    inputs = [np.random.default_rng(seed).standard_normal(shape, np.float32) for seed in range(4)]
    alone = Core().compile_model(model, "TEMPLATE")
    for x, found in zip(inputs, run_together(requests, inputs)):
        np.testing.assert_allclose(found, alone(x)[0], rtol=1e-6)
    assert set(device.rows) == {shape[0]}
    (warning,) = warnings_in(caplog)
    assert re.search(f"its inferences run one by one: {reason}", warning)


def test_variables_are_those_of_each_request():
    core = core_with(A=Recording())
    sample = find_sample(core, "A")
    compiled = core.compile_model(delay(sample), "BATCH:A(2)", LONG)
    one, other = compiled.create_infer_request(), compiled.create_infer_request()
    for given, remembered in ((1, 9), (2, 1)):
        for request in (one, other):
            found = request.infer(sample.array(given))[0]
            np.testing.assert_allclose(found, sample.expected(sample.array(remembered)), rtol=1e-4)
    assert len(one.query_state()) == 1


def test_a_request_is_cancelled_while_it_waits_for_others():
    device = Recording()
    compiled = compile_on(device)
    requests = [compiled.create_infer_request() for _ in range(5)]
    requests[0].start_async(arrays(1)[0])
    assert not requests[0].wait_for(50)
    requests[0].cancel()
    with pytest.raises(CancelledError):
        requests[0].wait_for(TIMEOUT * 1000)
    run_together(requests[1:], arrays(4))
    assert device.rows == [4]


def test_a_queue_with_more_requests_than_a_batch():
    device = Recording(max_streams=2)
    compiled = compile_on(device, AUTO_BATCH_TIMEOUT=50, PERFORMANCE_HINT="THROUGHPUT")
    queue, results = AsyncInferQueue(compiled, 16), []
    queue.set_callback(lambda request, x: results.append((x, request.results[0].copy())))
    for x in arrays(203):
        queue.start_async(x, x)
    queue.wait_all()
    assert len(results) == 203 and device.rows.count(4) > 20
    for x, found in results:
        np.testing.assert_allclose(found, x * x, rtol=1e-6)


def test_synchronous_requests_on_many_threads_form_batches():
    device = Recording()
    compiled = compile_on(device)
    requests = [compiled.create_infer_request() for _ in range(4)]
    found = [None] * 4

    def work(index: int) -> None:
        for x in arrays(10):
            found[index] = requests[index].infer(x + index)[0]

    threads = [threading.Thread(target=work, args=[index]) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    for index, result in enumerate(found):
        np.testing.assert_allclose(result, (arrays(10)[-1] + index) ** 2, rtol=1e-6)
    assert device.rows == [4] * 10


def test_remote_tensors_are_copied_to_and_from_the_batch():
    device = Recording()
    core = core_with(A=device)
    compiled = core.compile_model(square(), "BATCH:A(2)", LONG)
    context = compiled.get_context()
    requests = [compiled.create_infer_request() for _ in range(2)]
    outputs = []
    for request, x in zip(requests, arrays(2)):
        tensor = context.create_tensor(Type.f32, x.shape)
        tensor.copy_from(x)
        request.set_tensor("x", tensor)
        outputs.append(context.create_tensor(Type.f32, x.shape))
        request.set_output_tensor(outputs[-1])
        request.start_async()
    for request in requests:
        request.wait()
    for x, output in zip(arrays(2), outputs):
        host = np.empty([1, 4], np.float32)
        output.copy_to(host)
        np.testing.assert_allclose(host, x * x, rtol=1e-6)
    assert device.rows == [2]


def test_the_batch_size():
    core = core_with(A=Backend())
    for device, options, size in (
        ("BATCH:A", {}, 8),
        ("BATCH:A(5)", {}, 5),
        ("BATCH:A(5)", {"PERFORMANCE_HINT_NUM_REQUESTS": 3}, 3),
        ("BATCH:A(5)", {"ALLOW_AUTO_BATCHING": False}, 1),
    ):
        assert core.compile_model(square(), device, options).get_property("OPTIMAL_BATCH_SIZE") == size
    assert core.get_property("BATCH:A(5)", "OPTIMAL_BATCH_SIZE") == 5


def test_bad_input():
    core = Core()
    with pytest.raises(DeviceError, match="BATCH:.* names 2 devices: it takes one"):
        core_with(A=Backend()).compile_model(square(), "BATCH:A,TEMPLATE")
    with pytest.raises(DeviceError, match="BATCH is given no devices"):
        core.compile_model(square(), "BATCH")
    with pytest.raises(PropertyError, match="AUTO_BATCH_TIMEOUT of BATCH cannot be 'soon'"):
        core.compile_model(square(), "BATCH:TEMPLATE", {"AUTO_BATCH_TIMEOUT": "soon"})
    compiled = core.compile_model(square(), "BATCH:TEMPLATE")
    with pytest.raises(NotSupportedError, match="BATCH cannot export models: compile for TEMPLATE"):
        compiled.export_model()
    with pytest.raises(PropertyError, match="ALLOW_AUTO_BATCHING"):
        compiled.set_property({"ALLOW_AUTO_BATCHING": False})
