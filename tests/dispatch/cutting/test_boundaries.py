"""Values between subgraphs: their memory, the number of copies, and reuse of memory."""

import itertools
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pyopencl as cl
import pytest
from hetero_opencl.device.device import OpenCLDevice
from hetero_template.remote import TemplateContext
from hypothesis import given, settings
from hypothesis import strategies as st

from hetero import Core, Model, Parameter, PartialShape, RemoteTensor, Tensor, Type, ops
from hetero.dispatch.cutting.plan import HOST, ExecutionStep, Plan, StepPort, build_plan
from hetero.graph.rt_info import AFFINITY
from hetero.plugin import SharedTensor
from tests.devices import PickyPlugin, core_with

ROWS, COLUMNS = 64, 128
X = np.random.default_rng(3).standard_normal([ROWS, COLUMNS]).astype(np.float32)


@pytest.fixture(params=[True, False], ids=["integrated", "discrete"])
def is_integrated(request, monkeypatch) -> bool:
    monkeypatch.setattr(OpenCLDevice, "shares_host_memory", request.param)
    return request.param


@pytest.fixture
def copies(monkeypatch) -> list:
    """The targets of the copies that OpenCL enqueues."""
    targets = []
    enqueue = cl.enqueue_copy

    def record(queue, dest, src, **options):
        targets.append(dest)
        return enqueue(queue, dest, src, **options)

    monkeypatch.setattr(cl, "enqueue_copy", record)
    return targets


def on(device, node):
    node.rt_info[AFFINITY] = device
    return node


def compiled_for(outputs, parameters, **options):
    return Core().compile_model(Model(outputs, parameters), "HETERO:GPU,TEMPLATE", options)


def memories(compiled) -> dict[str, str]:
    """Return the memory of each boundary in the report."""
    return {b.value: b.memory for b in compiled.get_property("PLACEMENT_REPORT").boundaries}


def tensors_between(request) -> list:
    bound = request._request.request.bound
    return [bound._tensor_of[value] for value in bound.plan.boundaries.by_value]


def around_a_host_device(rows=ROWS):
    """Two values go from GPU to GPU, and TEMPLATE reads the second one too."""
    x = Parameter(Type.f32, PartialShape([rows, COLUMNS]))
    exp, sine = on("GPU", ops.Exp(x, name="exp")), on("GPU", ops.Sin(x, name="sin"))
    absolute = on("TEMPLATE", ops.Abs(sine, name="abs"))
    total = on("GPU", ops.Add(on("GPU", ops.Multiply(exp, absolute)), sine))
    return [total], [x], lambda x: np.exp(x) * np.abs(np.sin(x)) + np.sin(x)


def test_memory_is_shared_if_possible(is_integrated, copies):
    outputs, parameters, formula = around_a_host_device()
    compiled = compiled_for(outputs, parameters)
    told = memories(compiled)
    assert told["exp"] == "in shared device memory"
    assert {told["sin"], told["abs"]} == ({"in shared host memory"} if is_integrated else {"copied"})
    request = compiled.create_infer_request()
    kinds = sorted(type(tensor).__name__ for tensor in tensors_between(request))
    assert kinds == (
        ["RemoteTensor", "SharedTensor", "SharedTensor"]
        if is_integrated
        else ["BoundaryTensor", "RemoteTensor", "RemoteTensor"]
    )
    for x in (X, -X):
        copies.clear()
        np.testing.assert_allclose(request.infer([x])[0], formula(x), rtol=1e-5, atol=1e-6)
        # One copy of the input, one of the output, and those of the boundaries; OpenCL does none in shared memory.
        assert len(copies) == (0 if is_integrated else 4)


def test_readers_cannot_write_except_in_memory_of_their_own_device(is_integrated):
    outputs, parameters, _ = around_a_host_device()
    request = compiled_for(outputs, parameters).create_infer_request()
    bound = request._request.request.bound
    bound_to = {step.device: [] for step in bound.plan.steps}
    for step in bound.steps:
        bound_to[step.step.device] += step.request.input_tensors()
    assert all(not tensor.data.flags.writeable for tensor in bound_to["TEMPLATE"])
    of_gpu = SharedTensor if is_integrated else RemoteTensor
    assert sum(isinstance(tensor, of_gpu) for tensor in bound_to["GPU"]) >= 2  # no copies


def test_dynamic_sizes(is_integrated):
    outputs, parameters, formula = around_a_host_device(rows=-1)
    request = compiled_for(outputs, parameters).create_infer_request()
    for rows in (2, 64, 1, 30):
        np.testing.assert_allclose(request.infer([X[:rows]])[0], formula(X[:rows]), rtol=1e-5, atol=1e-6)


def test_one_copy_for_all_readers_on_a_device(copies, monkeypatch):
    """Two subgraphs on GPU read a value that TEMPLATE computes."""
    monkeypatch.setattr(OpenCLDevice, "shares_host_memory", False)
    x = Parameter(Type.f32, X.shape)
    shared = on("TEMPLATE", ops.Sin(x, name="sin"))
    first = on("TEMPLATE", ops.Abs(on("GPU", ops.Exp(shared))))
    compiled = compiled_for([on("GPU", ops.Add(first, shared))], [x], PERF_COUNT=True)
    assert memories(compiled)["sin"] == "copied"
    request = compiled.create_infer_request()
    for x in (X, -X):
        copies.clear()
        np.testing.assert_allclose(request.infer([x])[0], np.exp(np.sin(x)) + np.sin(x), rtol=1e-5, atol=1e-6)
        uploads = [target for target in copies if isinstance(target, cl.Buffer)]
        assert len(uploads) == 2  # of the sine and of the absolute value
    told = [info for info in request.profiling_info if info.node_type == "Copy"]
    assert [info.node_name for info in told] == ["copy of 'sin'"]
    assert told[0].real_time.total_seconds() > 0


@pytest.mark.parametrize("devices", [("A", "B"), ("GPU", "TEMPLATE")], ids=",".join)
@pytest.mark.parametrize("length", [20, 40])
def test_memory_is_reused(devices, length):
    """A chain of any length holds only a few of its values at once."""
    core = core_with(A=PickyPlugin(), B=PickyPlugin())
    x = Parameter(Type.f32, [256, 1024])
    value = x
    for index in range(length):
        value = on(devices[index % 2], ops.Sin(value))
    compiled = core.compile_model(Model([value], [x]), f"HETERO:{','.join(devices)}")
    byte_size = 256 * 1024 * 4
    given = np.ones([256, 1024], np.float32)
    tracemalloc.start()
    try:
        request = compiled.create_infer_request()
        result = request.infer([given], share_inputs=True, share_outputs=True)[0]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    slots = sum(size for memory, size in compiled._compiled.plan.boundaries.slots if memory is not HOST)
    assert slots + peak < 6 * byte_size
    expected = given
    for _ in range(length):
        expected = np.sin(expected)
    np.testing.assert_allclose(result, expected, rtol=1e-4)


class Apart(TemplateContext):
    """Memory that only one device computes in."""

    def holds(self, tensor):
        return isinstance(tensor, RemoteTensor) and tensor.context is self


class ApartPlugin(PickyPlugin):
    """The reference device with memory of its own."""

    def get_default_context(self, params):
        self.context = getattr(self, "context", None) or Apart(self.name, params)
        return self.context


@st.composite
def graphs(draw) -> Model:
    """Return a model of unary and binary operations on random devices; values without readers are outputs."""
    parameters = [Parameter(Type.f32, X.shape), Parameter(Type.f32, X.shape)]
    values = list(parameters)
    for index in range(draw(st.integers(2, 14))):
        kind = draw(st.sampled_from([ops.Sin, ops.Abs, ops.Add, ops.Maximum]))
        count = 1 if kind in (ops.Sin, ops.Abs) else 2
        # Prefer recent values, so that memory of older ones becomes free.
        sources = [values[-draw(st.integers(1, min(5, len(values))))] for _ in range(count)]
        values.append(on(draw(st.sampled_from(["APART", "OTHER", "HOST"])), kind(*sources, name=f"node_{index}")))
    outputs = [v for v in values[2:] if not v.output(0).get_target_inputs() or draw(st.integers(0, 9)) == 0]
    return Model(outputs, parameters, "random")


CORE = core_with(APART=ApartPlugin(), OTHER=ApartPlugin(), HOST=PickyPlugin())


@settings(max_examples=60)
@given(graphs())
def test_any_cut_between_memories_gives_the_result_of_one_device(model):
    whole = CORE.compile_model(model.clone(), "TEMPLATE").create_infer_request()
    compiled = CORE.compile_model(model, "HETERO:APART,OTHER,HOST")
    requests = [compiled.create_infer_request() for _ in range(2)]
    for turn in range(3):
        feeds = [[X + turn, X * (turn - request)] for request in range(2)]
        for request, arrays in zip(requests, feeds):
            request.start_async(arrays)
        for request, arrays in zip(requests, feeds):
            request.wait()
            expected = whole.infer(arrays).to_tuple()
            for found, wanted in zip(request.results.to_tuple(), expected, strict=True):
                np.testing.assert_array_equal(found, wanted)
    requests[0].infer(feeds[0])  # on this thread
    for found, wanted in zip(requests[0].results.to_tuple(), whole.infer(feeds[0]).to_tuple(), strict=True):
        np.testing.assert_array_equal(found, wanted)


@st.composite
def plans(draw) -> Plan:
    """Return a plan of steps on one device that read values of random earlier steps."""
    context = Apart("APART", {})
    count = draw(st.integers(2, 12))
    steps = [ExecutionStep(f"subgraph {index}", "APART", SimpleNamespace(context=context)) for index in range(count)]
    ports = {}
    for index in range(count - 1):
        readers = draw(st.sets(st.integers(index + 1, min(count - 1, index + 4)), max_size=3))
        if not readers:
            continue
        value = Parameter(Type.u8, [1 << 20]).output(0)
        ports[value] = [StepPort(step, value) for step in (index, *sorted(readers))]
    return build_plan(steps, [], [], ports, {}, {})


@settings(max_examples=150)
@given(plans())
def test_memory_is_reused_only_if_every_schedule_allows_it(plan):
    """Two values share memory only if all users of one end before the other is written."""
    ended_before: list[set[int]] = []
    for step in plan.steps:
        ended_before.append(set().union(step.waits_for, *(ended_before[i] for i in step.waits_for)))
    boundaries = plan.boundaries
    users = {value: [port.step for port in ports] for value, ports in plan.ports.items()}
    assert boundaries.slot_of.keys() == users.keys()
    for one, other in itertools.permutations(boundaries.slot_of, 2):
        if boundaries.slot_of[one] == boundaries.slot_of[other] and users[one][0] < users[other][0]:
            assert set(users[one]) <= ended_before[users[other][0]]
    for value, last in boundaries.released.items():
        assert set(users[value]) <= ended_before[last] | {last}


@pytest.mark.parametrize("length", [2, 3, 9, 50])
def test_a_chain_needs_two_slots(length):
    context = Apart("APART", {})
    steps = [ExecutionStep(f"subgraph {index}", "APART", SimpleNamespace(context=context)) for index in range(length)]
    values = [Parameter(Type.f32, [100]).output(0) for _ in range(length - 1)]
    ports = {value: [StepPort(index, value), StepPort(index + 1, value)] for index, value in enumerate(values)}
    plan = build_plan(steps, [], [], ports, {}, {})
    assert [size for _, size in plan.boundaries.slots] == [400] * min(2, length - 1)


def over_one_memory(kind: str, array: np.ndarray) -> tuple:
    """Return an input and an output tensor over the same memory, which holds ``array``."""
    if kind == "one tensor":
        tensor = Tensor(array)
        return tensor, tensor
    if kind == "one array":
        array = array.copy()
        return Tensor(array, shared_memory=True), Tensor(array, shared_memory=True)
    if kind == "regions":
        whole = Tensor(np.concatenate([array, array[:1]]))
        return Tensor(whole, [0, 0], list(array.shape)), Tensor(whole, [1, 0], [len(array) + 1, array.shape[1]])
    context = Core().get_default_context(kind.split()[0])
    tensor = context.create_tensor(Type.f32, array.shape)
    tensor.copy_from(array)
    return tensor, RemoteTensor(tensor, [0, 0], list(array.shape))


def host(tensor) -> np.ndarray:
    array = np.empty(tensor.shape, np.float32)
    tensor.copy_to(array)
    return array


@pytest.mark.parametrize("kind", ["one tensor", "one array", "regions", "GPU memory", "TEMPLATE memory"])
@pytest.mark.parametrize("devices", [("GPU", "TEMPLATE"), ("TEMPLATE", "GPU"), ("GPU", "GPU")], ids=" then ".join)
def test_an_output_in_the_memory_of_an_input(kind, devices):
    """The first step writes the output, the second reads the input again; the input is an output of the model too."""
    x = Parameter(Type.f32, X.shape)
    exp = on(devices[0], ops.Exp(x))
    product = on(devices[1], ops.Multiply(exp, x))
    request = compiled_for([exp, product, x], [x]).create_infer_request()
    for array in (X, -X):
        given, taken = over_one_memory(kind, array)
        request.set_input_tensor(given)
        request.set_output_tensor(0, taken)
        request.infer()
        np.testing.assert_allclose(host(taken), np.exp(array), rtol=1e-5)
        np.testing.assert_allclose(request.get_output_tensor(1).data, np.exp(array) * array, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(request.get_output_tensor(2).data, array)
        assert request.get_output_tensor(0) is taken
    request.set_input_tensor(Tensor(X))  # in memory of its own, so that the output is written at once
    request.infer()
    np.testing.assert_allclose(host(taken), np.exp(X), rtol=1e-5)
    assert not request._request.request.bound._in_place
