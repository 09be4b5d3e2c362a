"""Requests, compiled models and queues, with the interface of OpenVINO's Python API."""

import threading

import numpy as np
import pytest
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.infer_request import TemplateInferRequest

import hetero
from hetero import AsyncInferQueue, Core, Model, Parameter, Tensor, Type, ops
from hetero.plugin import AsyncInferRequest, Executor
from hetero.system.errors import CancelledError, DeviceError, GraphError, HeteroError, RequestBusyError, TensorError
from tests.devices import PickyPlugin, core_with


def two_inputs() -> Model:
    """sum = a + b and product = a * b, of i32 vectors of a dynamic length."""
    a, b = (Parameter(Type.i32, [-1], name=name) for name in "ab")
    for parameter in (a, b):
        parameter.output(0).names = {parameter.friendly_name}
    total, product = ops.Add(a, b), ops.Multiply(a, b)
    total.output(0).names, product.output(0).names = {"sum"}, {"product"}
    return Model([total, product], [a, b], "two")


@pytest.fixture
def compiled():
    return core_with(A=PickyPlugin()).compile_model(two_inputs(), "A")


A, B = np.int32([1, 2, 3]), np.int32([4, 5, 6])


@pytest.mark.parametrize(
    "inputs",
    [
        {"a": A, "b": B},
        {0: A, 1: B},
        [A, B],
        (A.tolist(), B.tolist()),
        {"a": Tensor(A), 1: B},
        {"b": B.astype(np.int64), "a": A},
    ],
    ids=["names", "indices", "list", "numbers", "tensor", "wider"],
)
def test_forms_of_inputs(compiled, inputs):
    results = compiled(inputs)
    np.testing.assert_array_equal(results["sum"], A + B)
    np.testing.assert_array_equal(results[1], A * B)
    np.testing.assert_array_equal(results[compiled.output("sum")], A + B)
    assert list(results) == compiled.outputs
    assert results["sum"].dtype == np.int32


def test_ports_of_the_original_model_are_keys():
    model = two_inputs()
    compiled = core_with(A=PickyPlugin()).compile_model(model, "A")
    results = compiled({model.input("a"): A, model.input(1): B})
    np.testing.assert_array_equal(results[model.output("product")], A * B)


def test_results_are_copies(compiled):
    request = compiled.create_infer_request()
    first = request.infer([A, B])["sum"]
    request.infer([B, B])
    np.testing.assert_array_equal(first, A + B)
    np.testing.assert_array_equal(request.results["sum"], B + B)


def test_inputs_are_copied_unless_shared(compiled):
    request = compiled.create_infer_request()
    for share, expected in ((False, A + B), (True, B + 100)):
        mine = A.copy()
        request.start_async([mine, B], share_inputs=share)
        request.wait()
        mine[:] = 100
        np.testing.assert_array_equal(request.infer()["sum"], expected)


def test_output_is_not_a_view_of_an_input():
    x = Parameter(Type.f32, [2, 2], name="x")
    model = Model(ops.Reshape(x, np.int64([4]), False), [x])
    request = core_with(A=PickyPlugin()).compile_model(model, "A").create_infer_request()
    mine = np.ones([2, 2], np.float32)
    out = request.infer(mine, share_inputs=True, share_outputs=True)[0]
    out[:] = 5
    np.testing.assert_array_equal(mine, 1)


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        ({"c": A}, GraphError, "has no input c: it has a, b"),
        ({2: A}, GraphError, "has no input 2: it has a, b"),
        ([A, B, A], TensorError, "the model has 2 inputs, but 3 are given"),
        (A, GraphError, "has no input by default: it has 2"),
        ({"a": A.astype(np.complex64)}, TensorError, "input 'a' takes i32 elements, but the array has complex64"),
        ({"a": np.zeros([2, 2], np.int32)}, TensorError, r"'a' takes the shape \[\?\], but the tensor has \[2, 2\]"),
        ({"a": "text"}, TensorError, "input 'a' takes i32"),
        ({"a": Tensor(Type.f32, [1])}, TensorError, "'a' takes i32 elements, but the tensor has f32"),
    ],
)
def test_inputs_that_do_not_fit(compiled, inputs, error, message):
    request = compiled.create_infer_request()
    request.infer([A, B])
    with pytest.raises(error, match=message):
        request.infer(inputs)
    np.testing.assert_array_equal(request.infer()["sum"], A + B)  # the request is unchanged


@pytest.mark.parametrize(("shape", "problem"), [
    ((2, 9), r"length 9 in dimension 1 \('sequence'\), which the model limits to 1..8"),
    ((2, 0), r"length 0 in dimension 1 \('sequence'\), which the model limits to 1..8"),
    ((1, 4), r"length 1 in dimension 0, which the model limits to 2.."),
])  # fmt: skip
def test_lengths_out_of_range(shape, problem):
    x = Parameter(Type.i32, "[2..,sequence=1..8]", name="ids")
    request = Core().compile_model(Model([ops.Abs(x)], [x]), "TEMPLATE").create_infer_request()
    for length in (1, 8):
        assert request.infer([np.zeros((2, length), np.int32)])[0].shape == (2, length)
    with pytest.raises(TensorError, match=f"^'ids' has {problem}$"):
        request.infer([np.zeros(shape, np.int32)])


def test_incompatible_input_shapes_are_an_error_of_the_operation(compiled):
    with pytest.raises(DeviceError, match="Add 'Add_.*' cannot run on these inputs"):
        compiled([A, B[:2]])


class _Held(TemplateInferRequest):
    """Waits inside infer until the test says go."""

    go: threading.Event
    fail: bool

    def start(self) -> None:
        assert self.go.wait(30)
        if self.fail:
            raise ValueError("told to fail")
        super().start()


@pytest.fixture
def held(monkeypatch):
    """A compiled model whose requests wait for ``held.go``."""
    go = threading.Event()

    def create(self):
        request = _Held(self)
        request.go, request.fail = go, held_model.fail
        return request

    monkeypatch.setattr(TemplateCompiledModel, "create_sync_infer_request", create)
    held_model = core_with(A=PickyPlugin()).compile_model(two_inputs(), "A")
    held_model.go, held_model.fail = go, False
    return held_model


def test_busy_request_raises_and_stays_usable(held):
    request = held.create_infer_request()
    request.start_async([A, B])
    assert request.wait_for(1) is False
    for act in (request.infer, request.start_async, lambda: request.get_tensor("a"), request.get_profiling_info):
        with pytest.raises(RequestBusyError, match="'two' is busy"):
            act()
    held.go.set()
    assert request.wait_for(30_000) is True
    np.testing.assert_array_equal(request.results["sum"], A + B)


def test_callback_gets_its_userdata_and_may_start_again(held):
    held.go.set()
    request = held.create_infer_request()
    seen, both_done = [], threading.Event()

    def callback(userdata):
        seen.append(userdata)
        if len(seen) < 2:
            request.start_async()
        else:
            both_done.set()

    request.set_callback(callback, "mine")
    request.start_async([A, B])
    assert both_done.wait(30)
    request.wait()
    assert seen == ["mine", "mine"]


@pytest.mark.parametrize(
    ("by", "error", "message"),
    [
        ("device", DeviceError, "A failed in start of 'two': ValueError: told to fail"),
        ("callback", HeteroError, "the callback of a request of 'two' failed: ValueError: told to fail"),
    ],
)
def test_errors_reach_wait(held, by, error, message):
    held.fail = by == "device"
    held.go.set()
    request = held.create_infer_request()
    calls = []

    def callback(userdata):
        calls.append(userdata)
        if by == "callback":
            raise ValueError("told to fail")

    request.set_callback(callback)
    request.start_async([A, B])
    with pytest.raises(error, match=message):
        request.wait()
    assert len(calls) == 1


def test_cancel_of_a_request_that_waits_for_a_thread(held):
    """The device has one thread, so the second request has not started when it is cancelled."""
    first, second = held.create_infer_request(), held.create_infer_request()
    first.start_async([A, B])
    second.start_async([A, B])
    second.cancel()
    held.go.set()
    with pytest.raises(CancelledError):
        second.wait()
    first.wait()
    np.testing.assert_array_equal(first.results["sum"], A + B)
    np.testing.assert_array_equal(second.infer()["product"], A * B)


def test_stages_of_a_pipeline_run_in_order_and_stop_at_an_error(compiled):
    done = []

    def fail():
        done.append("two")
        raise ValueError("stage two")

    one, two = Executor("one"), Executor("two")
    stages = [(one, lambda: done.append("one")), (two, fail), (one, lambda: done.append("three"))]
    request = AsyncInferRequest(compiled._compiled.create_sync_infer_request(), stages)
    request.start_async()
    with pytest.raises(DeviceError, match="failed in an inference of '.*': ValueError: stage two"):
        request.wait()
    assert done == ["one", "two"]


def test_queue_runs_each_inference_once(compiled):
    queue = AsyncInferQueue(compiled, 3)
    seen = {}
    queue.set_callback(lambda request, index: seen.__setitem__(index, request.results["sum"].copy()))
    for index in range(50):
        queue.start_async([A * index, B], index)
    queue.wait_all()
    assert len(queue) == 3 and queue.is_ready()
    for index in range(50):
        np.testing.assert_array_equal(seen[index], A * index + B)


def test_one_request_per_thread(compiled):
    wrong = []

    def work(seed):
        request = compiled.create_infer_request()
        generator = np.random.default_rng(seed)
        for _ in range(100):
            a, b = (generator.integers(-100, 100, 5, np.int32) for _ in range(2))
            if not np.array_equal(request.infer([a, b])["product"], a * b):
                wrong.append((a, b))

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_errors_are_runtime_errors_like_openvinos():
    assert issubclass(HeteroError, RuntimeError)
    assert hetero.Core is Core
