"""Stages of an inference: order, times, batches, and cancellation."""

import threading

import numpy as np
import pytest

from hetero import AsyncInferQueue, Core, Model, Parameter, Tensor, Type, ops
from hetero.plugin import STAGES
from hetero.system.errors import CancelledError, DeviceError, TensorError
from tests.devices import PickyPlugin, core_with

DEVICES = ["TEMPLATE", "GPU", "HETERO:GPU,TEMPLATE"]
X = np.random.default_rng(0).standard_normal([2, 4]).astype(np.float32)


def chain(length: int = 1) -> Model:
    """x → softmax → softmax …, with a dynamic number of rows."""
    x = Parameter(Type.f32, [-1, 4], name="x")
    x.output(0).names = {"x"}
    value = x.output(0)
    for index in range(length):
        value = ops.Softmax(value, 1, name=f"softmax_{index}").output(0)
    return Model(value, [x], "chain")


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x.astype(np.float64))
    return powers / powers.sum(1, keepdims=True)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["infer", "start_async"])
def test_each_stage_is_timed(device, asynchronous):
    request = Core().compile_model(chain(), device, {"PERF_COUNT": True}).create_infer_request()
    if asynchronous:
        request.start_async(X)
        request.wait()
    else:
        request.infer(X)
    assert list(request._request.request.stage_times) == list(STAGES)
    infos = [info for info in request.profiling_info if info.node_type == "Stage"]
    assert [info.node_name for info in infos[:4]] == list(STAGES) and infos[0].exec_type == device.split(":")[0]
    assert request.latency > 0


@pytest.mark.parametrize("device", DEVICES)
def test_batch_of_tensors_is_concatenated(device):
    request = Core().compile_model(chain(), device).create_infer_request()
    tensors = [Tensor(X + index) for index in range(3)]
    for set_batch in (
        lambda: request.set_tensors("x", tensors),
        lambda: request.set_input_tensors(tensors),
        lambda: request.set_input_tensors(0, tensors),
    ):
        request.set_tensor("x", Tensor(np.zeros([1, 4], np.float32)))
        set_batch()
        np.testing.assert_allclose(request.infer()[0], softmax(np.concatenate([X, X + 1, X + 2])), rtol=1e-5)
        tensors[1].data[:] = 0  # tensors are read when the inference starts
        np.testing.assert_allclose(request.infer()[0][2:4], 0.25, rtol=1e-5)
        tensors[1].data[:] = X + 1
    request.set_tensor("x", Tensor(X))  # replaces the batch by one tensor
    np.testing.assert_allclose(request.infer()[0], softmax(X), rtol=1e-5)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ([], "'x' takes one tensor or more, each with a batch dimension"),
        ([Tensor(np.float32(1))], "'x' takes one tensor or more, each with a batch dimension"),
        ([Tensor(X), Tensor(X[:, :3])], r"the tensors for 'x' differ in more than .*f32\[2, 4\], f32\[2, 3\]"),
        ([Tensor(X), Tensor(X.astype(np.float64))], "the tensors for 'x' differ .*f64"),
        ([Tensor(X[:, :3])], r"'x' takes the shape \[\?,4\], but the tensor has \[2, 3\]"),
    ],
)
def test_invalid_batches(tensors, message):
    request = Core().compile_model(chain(), "TEMPLATE").create_infer_request()
    request.infer(X)
    with pytest.raises(TensorError, match=message):
        request.set_input_tensors(tensors)
    np.testing.assert_allclose(request.infer()[0], softmax(X), rtol=1e-5)
    with pytest.raises(TensorError, match="is an output: only inputs take a batch"):
        request._request.request.set_tensors(request.model_outputs[0], [Tensor(X)])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["infer", "start_async"])
def test_cancel_ends_an_inference_within_a_stage(device, asynchronous, monkeypatch):
    """Another thread cancels the inference when the third of a hundred operations starts.

    With PERF_COUNT each is a launch of its own.
    """
    request = Core().compile_model(chain(100), device, {"PERF_COUNT": True}).create_infer_request()
    request.infer(X)
    sync = request._request.request
    inner = sync.bound.steps[0].request if device.startswith("HETERO") else sync
    checks = []

    def check(original=inner.check_cancelled):
        if threading.current_thread().name != "canceller":
            checks.append(None)
            if len(checks) == 6:  # at most four checks are for stages
                canceller = threading.Thread(target=request.cancel, name="canceller")
                canceller.start()
                canceller.join()
        original()

    monkeypatch.setattr(inner, "check_cancelled", check)
    with pytest.raises(CancelledError, match="the inference of 'chain.*' was cancelled"):
        if asynchronous:
            request.start_async(X)
            request.wait()
        else:
            request.infer(X)
    assert len(checks) < 20
    monkeypatch.undo()
    np.testing.assert_allclose(request.infer(X)[0], 0.25, atol=1e-6)


def test_cancel_of_an_idle_request_does_nothing():
    request = Core().compile_model(chain(), "TEMPLATE").create_infer_request()
    request.cancel()
    np.testing.assert_allclose(request.infer(X)[0], softmax(X), rtol=1e-5)
    request.cancel()
    request.start_async(X)
    request.wait()


def test_stages_of_different_requests_overlap(monkeypatch):
    """The second request uploads and starts while the first waits for its kernels. Otherwise the first times out."""
    from hetero_opencl.execute.infer_request import OpenCLInferRequest

    request_at_wait = threading.Semaphore(0)
    started = []
    wait, start = OpenCLInferRequest.wait, OpenCLInferRequest.start

    def start_and_tell(self):
        start(self)
        started.append(self)
        if len(started) > 1:
            request_at_wait.release()

    def wait_for_the_next(self):
        if self is started[0]:
            assert request_at_wait.acquire(timeout=30)
        wait(self)

    monkeypatch.setattr(OpenCLInferRequest, "start", start_and_tell)
    monkeypatch.setattr(OpenCLInferRequest, "wait", wait_for_the_next)
    compiled = Core().compile_model(chain(), "GPU")
    first, second = compiled.create_infer_request(), compiled.create_infer_request()
    for request in (first, second):
        request.start_async(X)
    for request in (first, second):
        request.wait()
        np.testing.assert_allclose(request.results[0], softmax(X), rtol=1e-5)
    assert started == [first._request.request, second._request.request]


def test_queue_raises_an_error_once_and_continues():
    plugin = PickyPlugin()
    compiled = core_with(A=plugin).compile_model(chain(), "A")
    queue = AsyncInferQueue(compiled, 2)
    seen = []
    queue.set_callback(lambda request, number: seen.append(number) if number != 13 else 1 / 0)
    for number in range(13):
        queue.start_async(X, number)
    queue.start_async(X, 13)
    with pytest.raises(ZeroDivisionError):
        queue.wait_all()
    queue.wait_all()
    queue.start_async(X, 14)
    queue.wait_all()
    assert sorted(seen) == [*range(13), 14]


def test_queue_raises_errors_of_its_device(monkeypatch):
    from hetero_template.infer_request import TemplateInferRequest

    compiled = Core().compile_model(chain(), "TEMPLATE")
    queue = AsyncInferQueue(compiled, 2)
    with monkeypatch.context() as patch:
        patch.setattr(TemplateInferRequest, "start", lambda self: {}["lost"])
        queue.start_async(X)
        with pytest.raises(DeviceError, match="TEMPLATE failed in start of 'chain': KeyError: 'lost'"):
            queue.wait_all()
    for _ in range(4):
        queue.start_async(X)
    queue.wait_all()
    np.testing.assert_allclose(queue[0].results[0], softmax(X), rtol=1e-5)
