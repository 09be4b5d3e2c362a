"""Variables under cuts: one object per request, with the same meaning on every device."""

import numpy as np
import pytest

import hetero
from hetero import opset6, opset13
from hetero.dispatch.execution.bound_plan import BoundPlan
from hetero.graph import Parameter
from hetero.system.errors import CancelledError, DeviceError, TensorError, UnsupportedOperationError
from tests.devices import ALL_KINDS, core_with
from tests.dispatch.faulty import Faulty

F = np.float32
SNAPSHOTS = {"VARIABLE_SNAPSHOTS": True}
# Devices for models that begin and end on one device, with an operation "middle" on another one in between.
CUTS = [
    ("HETERO:TEMPLATE,GPU", "GPU"),
    ("HETERO:GPU,TEMPLATE", "TEMPLATE"),
    ("HETERO:OPENVINO.CPU,TEMPLATE", "TEMPLATE"),
    ("HETERO:OPENVINO.CPU,GPU", "GPU"),
    ("HETERO:TEMPLATE,OPENVINO.CPU", "OPENVINO.CPU"),
]
DEVICES = [*((device, None) for device in ALL_KINDS if device != "ONEDNN"), *CUTS]


def request_of(model, device, middle=None, config=None, core=None):
    config = (config or {}) | ({"AFFINITIES": {"middle": middle}} if middle else {})
    return (core or hetero.Core()).compile_model(model, device, config).create_infer_request()


def firsts(request, inputs):
    """Return the first element of the result of each inference."""
    return [float(np.ravel(request.infer(values)[0])[0]) for values in inputs]


def middle_of(value):
    node = opset13.relu(value)
    node.friendly_name = "middle"
    return node


def branch(condition, value, name, added):
    """Return the output of an If that sets a variable to ``value + added`` if a condition is true."""
    node = opset13.if_op(condition)
    inner = [Parameter(hetero.Type.f32, [1, 2]) for _ in range(2)]
    assign = opset6.assign(opset13.add(inner[0], opset13.constant(np.full([1, 2], added, F))), name)
    node.set_then_body(hetero.Model([assign], [assign], inner[:1], "then"))
    node.set_else_body(hetero.Model([opset13.abs(inner[1])], inner[1:], "else"))
    node.set_input(value, *inner)
    return node.set_output(node.get_function(0).results[0], node.get_function(1).results[0])


def repetition(count, value, name, added):
    """Return the output of a Loop that adds a number in each iteration, and sets a variable to the sum."""
    node, inner = opset13.loop(count, opset13.constant(True)), Parameter(hetero.Type.f32, [1, 2])
    assign = opset6.assign(opset13.add(inner, opset13.constant(np.full([1, 2], added, F))), name)
    results = [opset13.result(opset13.constant(True)), opset13.result(assign)]
    node.set_function(hetero.Model(results, [assign], [inner], "body"))
    node.set_special_body_ports([-1, 0])
    node.set_merged_input(inner, value, results[1].output(0))
    return node.get_iter_value(results[1].output(0), -1)


def conditional(kind):
    """A variable of ones, read before ``middle`` and assigned after it, if the input k is not 0."""
    x, k = opset13.parameter([1, 2], F, name="x"), opset13.parameter([], np.int64, name="k")
    middle = middle_of(opset6.read_value(np.ones([1, 2], F), "v", "f32", [1, 2]))
    start = opset13.add(middle, x).output(0)
    if kind == "Loop":
        return hetero.Model([repetition(k, start, "v", 1)], [x, k], "conditional")
    return hetero.Model([branch(opset13.greater(k, np.int64(0)), start, "v", 1)], [x, k], "conditional")


@pytest.mark.parametrize("config", [{}, SNAPSHOTS], ids=["", "snapshots"])
@pytest.mark.parametrize(("device", "middle"), DEVICES)
@pytest.mark.parametrize("kind", ["If", "Loop"])
def test_a_variable_that_an_inference_does_not_assign_stays_as_it_is(kind, device, middle, config):
    if device.startswith("GPU"):  # it refuses variables in bodies
        with pytest.raises(UnsupportedOperationError, match=kind):
            request_of(conditional(kind), device, middle, {})
        return
    config = config if device.startswith("HETERO") else {}
    request = request_of(conditional(kind), device, middle, config)
    assert firsts(request, [[np.ones([1, 2], F), np.int64(k)] for k in (0, 0, 1, 0, 1)]) == [2, 2, 3, 4, 5]
    request.reset_state()
    assert firsts(request, [[np.ones([1, 2], F), np.int64(0)]] * 2) == [2, 2]
    (state,) = request.query_state()
    assert not state.state.data.any(), "it has no contents"


def test_a_cancelled_inference_leaves_a_variable_without_contents(monkeypatch):
    request = request_of(conditional("If"), "HETERO:TEMPLATE,GPU", "GPU", SNAPSHOTS)
    finish = type(request._request.request).finish
    monkeypatch.setattr(
        type(request._request.request), "finish", lambda self, error: (request.cancel(), finish(self, error))[1]
    )
    with pytest.raises(CancelledError):
        request.infer([np.ones([1, 2], F), np.int64(1)])
    monkeypatch.undo()
    assert firsts(request, [[np.ones([1, 2], F), np.int64(0)]]) == [2]


@pytest.mark.parametrize("is_asynchronous", [False, True])
def test_a_cancellation_after_a_variable_was_assigned_comes_too_late(is_asynchronous, monkeypatch):
    request = request_of(conditional("If"), "HETERO:TEMPLATE,GPU", "GPU", SNAPSHOTS)
    write_outputs = BoundPlan.write_outputs
    monkeypatch.setattr(BoundPlan, "write_outputs", lambda self: (write_outputs(self), request.cancel()))
    if is_asynchronous:
        request.start_async([np.ones([1, 2], F), np.int64(1)])
        request.wait()
    else:
        request.infer([np.ones([1, 2], F), np.int64(1)])
    assert request.query_state()[0].state.data.tolist() == [[3, 3]]


@pytest.mark.parametrize(("device", "middle"), CUTS)
def test_two_operations_with_bodies_that_a_cut_separates_assign_one_variable(device, middle):
    """The last one that assigns counts."""
    x = opset13.parameter([1, 2], F, name="x")
    flags = [opset13.parameter([], np.bool_, name=name) for name in "ab"]
    read = opset6.read_value(np.zeros([1, 2], F), "v", "f32", [1, 2])
    first = branch(flags[0], opset13.abs(x).output(0), "v", 10)
    second = branch(flags[1], opset13.add(middle_of(first), x).output(0), "v", 100)
    request = request_of(hetero.Model([read, second], [x, *flags], "two"), device, middle)
    given = [
        [np.full([1, 2], n, F), np.bool_(a), np.bool_(b)] for n, a, b in ((1, 1, 0), (2, 0, 1), (3, 1, 1), (4, 0, 0))
    ]
    assert firsts(request, given) == [0, 11, 104, 116]
    assert firsts(request, given[:1]) == [116]


@pytest.mark.parametrize(("device", "middle"), CUTS)
def test_operations_of_one_subgraph_assign_in_the_order_of_the_model(device, middle):
    """The first one has a reader on another device, so the subgraph has its output last."""
    x, flag = opset13.parameter([1, 2], F, name="x"), opset13.parameter([], np.bool_, name="flag")
    read = opset6.read_value(np.zeros([1, 2], F), "v", "f32", [1, 2])
    first = branch(opset13.logical_not(opset13.logical_not(flag)), opset13.abs(x).output(0), "v", 10)
    second = branch(flag, opset13.negative(x).output(0), "v", 100)
    model = hetero.Model([read, middle_of(first), second], [x, flag], "order")
    request = request_of(model, device, middle)
    given = [[np.full([1, 2], n, F), np.bool_(n < 3)] for n in (1, 2, 3)]
    assert firsts(request, given) == [0, 99, 98]


@pytest.mark.parametrize(("device", "middle"), DEVICES)
def test_a_variable_that_is_read_after_it_is_assigned_has_its_old_contents(device, middle):
    x = opset13.parameter([1, 2], F, name="x")
    assign = opset6.assign(opset13.add(x, opset13.constant(np.full([1, 2], 10, F))), "v")
    read = opset6.read_value(middle_of(assign), "v", "f32", [1, 2])
    request = request_of(hetero.Model([opset13.negative(read)], [assign], [x], "late"), device, middle)
    assert firsts(request, [[np.full([1, 2], n, F)] for n in (1, 2, 3)]) == [-11, -11, -12]


def test_an_iteration_reads_what_earlier_ones_assigned_but_other_operations_do_not():
    x, k = opset13.parameter([1, 2], F, name="x"), opset13.parameter([], np.int64, name="k")
    node, inner = opset13.loop(k, opset13.constant(True)), Parameter(hetero.Type.f32, [1, 2])
    assign = opset6.assign(opset13.add(opset6.read_value(np.zeros([1, 2], F), "v", "f32", [1, 2]), inner), "v")
    results = [opset13.result(opset13.constant(True)), opset13.result(assign)]
    node.set_function(hetero.Model(results, [assign], [inner], "body"))
    node.set_special_body_ports([-1, 0])
    node.set_invariant_input(inner, x.output(0))
    total = node.get_iter_value(results[1].output(0), -1)
    read = opset6.read_value(opset13.negative(total), "v", "f32", [1, 2])
    for device in ("TEMPLATE", "OPENVINO.CPU"):
        request = request_of(hetero.Model([total, read], [x, k], "sum"), device)
        found = [request.infer([np.full([1, 2], n, F), np.int64(k)]) for n, k in ((1, 3), (2, 2), (1, 1))]
        assert [[float(array[0, 0]) for array in result.to_tuple()] for result in found] == [[3, -3], [7, 3], [8, 7]]


@pytest.mark.parametrize(("device", "middle"), [*CUTS, ("TEMPLATE", None), ("OPENVINO.CPU", None)])
def test_a_state_takes_every_length_that_its_ReadValue_allows(device, middle):
    """Its Assign and its initial value have one row."""
    x = opset13.parameter([1, 2], F, name="x")
    read = opset6.read_value(np.zeros([1, 2], F), "v", "f32", [-1, 2])
    total = opset13.reduce_sum(read, np.int64([0]), True)
    assign = opset6.assign(opset13.add(middle_of(total), x), "v")
    request = request_of(hetero.Model([total], [assign], [x], "lengths"), device, middle)
    (state,) = request.query_state()
    inputs = [[np.ones([1, 2], F)]] * 2
    assert firsts(request, inputs) == [0, 1]
    state.state = hetero.Tensor(np.full([5, 2], 2, F))
    assert state.state.data.shape == (5, 2)
    assert firsts(request, inputs) == [10, 11]
    with pytest.raises(TensorError, match="variable 'v' has the shape"):
        state.state = hetero.Tensor(np.zeros([5, 3], F))


@pytest.mark.parametrize("device", ["TEMPLATE", "GPU", "OPENVINO.CPU", "HETERO:GPU,TEMPLATE", "HETERO:OPENVINO.CPU"])
def test_a_variable_of_a_branch_that_all_devices_leave_out_is_listed(device):
    x = opset13.parameter([1, 2], F, name="x")
    y = branch(opset13.constant(False), opset13.negative(x).output(0), "v", 1)
    request = request_of(hetero.Model([opset13.relu(y.get_node().output(0))], [x], "left out"), device)
    (state,) = request.query_state()
    assert state.name == "v" and state.state.data.tolist() == [[0, 0]]
    state.state = hetero.Tensor(np.full([1, 2], 4, F))
    assert firsts(request, [[np.full([1, 2], 3, F)]]) == [3]
    assert state.state.data.tolist() == [[4, 4]]
    state.reset()
    assert state.state.data.tolist() == [[0, 0]]


@pytest.mark.parametrize(("device", "middle"), DEVICES)
def test_the_last_of_several_assigns_counts(device, middle):
    x = opset13.parameter([1, 2], F, name="x")
    read = opset6.read_value(np.zeros([1, 2], F), "v", "f32", [1, 2])
    first = opset6.assign(opset13.abs(x), "v")
    last = opset6.assign(opset13.add(middle_of(first), opset13.constant(np.full([1, 2], 5, F))), "v")
    request = request_of(hetero.Model([read], [first, last], [x], "several"), device, middle)
    assert firsts(request, [[np.full([1, 2], n, F)] for n in (-1, -2, -3)]) == [0, 6, 7]


def test_an_inference_that_fails_leaves_a_variable_of_several_steps_as_it_was():
    """Also without snapshots, as one of the steps has not assigned it yet."""
    x = opset13.parameter([1, 2], F, name="x")
    read = opset6.read_value(np.zeros([1, 2], F), "v", "f32", [1, 2])
    total = opset13.add(middle_of(read), x)
    last = opset13.tanh(opset13.abs(total))
    last.friendly_name = "last"
    model = hetero.Model([total, last], [opset6.assign(total, "v")], [x], "failing")
    faulty = Faulty("raise", healthy=3)
    core = core_with(B=faulty)
    config = {"AFFINITIES": {"middle": "GPU", "last": "B"}, "RUNTIME_FALLBACK": False}
    request = core.compile_model(model, "HETERO:TEMPLATE,GPU,B", config).create_infer_request()
    ones = [np.ones([1, 2], F)]
    assert firsts(request, [ones, ones]) == [1, 2]
    with pytest.raises(DeviceError, match="B failed"):
        request.infer(ones)
    (state,) = request.query_state()
    assert state.state.data.tolist() == [[2, 2]]
    faulty.healthy = 99
    assert firsts(request, [ones]) == [3]
