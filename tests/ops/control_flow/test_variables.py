"""ReadValue and Assign: variables of a request, compared with OpenVINO, on every device and through HETERO."""

from importlib import import_module

import numpy as np
import openvino
import pytest

import hetero
from hetero.graph import Variable, VariableInfo
from hetero.opset_modules import make_modules
from hetero.system.errors import GraphError, TensorError
from tests.devices import core_with
from tests.dispatch.faulty import Faulty

DEVICES = ["TEMPLATE", "GPU", "HETERO:TEMPLATE", "HETERO:GPU,TEMPLATE"]
ONES = np.ones([2, 3], np.float32)
LIBRARIES = {
    "hetero": (make_modules(), hetero),
    "openvino": ({f"opset{n}": import_module(f"openvino.opset{n}") for n in (3, 6)}, openvino),
}


def counter(library="hetero", opset=6, initial=5.0):
    """Return a model of the sum of ``initial`` (None for zeros) and all inputs so far, in the variable "sum"."""
    opsets, package = LIBRARIES[library]
    op = opsets[f"opset{opset}"]
    x = op.parameter(package.PartialShape([2, 3]), np.float32)
    if initial is None:
        before = op.read_value("sum", np.float32, [2, 3])
    else:
        before = op.read_value(op.constant(np.full([2, 3], initial, np.float32)), "sum")
    total = op.add(before, x)
    total.output(0).set_names({"total"})
    return package.Model([op.result(total)], [op.assign(total, "sum")], [x], "counter")


def totals(requests, order):
    """Run requests on ones in the given order and return the first element of each result."""
    return [float(np.asarray(requests[index].infer([ONES])[0])[0, 0]) for index in order]


@pytest.mark.parametrize("opset", [3, 6])
def test_each_request_remembers_by_itself_as_in_openvino(opset):
    found = {}
    for library, core, device in (
        *(("hetero", hetero.Core(), device) for device in DEVICES),
        ("openvino", openvino.Core(), "CPU"),
    ):
        compiled = core.compile_model(counter(library, opset), device)
        requests = [compiled.create_infer_request() for _ in range(2)]
        seen = totals(requests, [0, 0, 1, 0, 1])
        requests[0].query_state()[0].reset()
        found[library, device] = seen + totals(requests, [0, 1])
    assert all(values == [6, 7, 6, 8, 7, 6, 8] for values in found.values()), found


@pytest.mark.parametrize("device", DEVICES)
def test_without_an_initial_value_it_begins_with_zeros(device):
    request = hetero.Core().compile_model(counter(initial=None), device).create_infer_request()
    assert totals([request], [0, 0]) == [1, 2]


@pytest.mark.parametrize("device", DEVICES)
def test_states_can_be_read_set_and_reset(device):
    request = hetero.Core().compile_model(counter(), device).create_infer_request()
    (state,) = request.query_state()
    assert state.name == "sum"
    assert state.state.shape == (2, 3) and not state.state.data.any()
    state.state = hetero.Tensor(10 * ONES)
    assert totals([request], [0]) == [11]
    np.testing.assert_array_equal(state.state.data, 11 * ONES)
    request.reset_state()
    assert totals([request], [0]) == [6]


@pytest.mark.parametrize("device", DEVICES)
def test_calls_of_a_compiled_model_remember_too(device):
    compiled = hetero.Core().compile_model(counter(), device)
    assert [float(compiled([ONES])[0][0, 0]) for _ in range(2)] == [6, 7]
    (state,) = compiled.query_state()
    np.testing.assert_array_equal(state.state.data, 7 * ONES)
    compiled.reset_state()
    assert float(compiled([ONES])[0][0, 0]) == 6


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "tensor", [hetero.Tensor(np.ones([2, 3])), hetero.Tensor(np.ones([4], np.float32))], ids=["type", "shape"]
)
def test_a_state_that_does_not_fit_is_refused(tensor, device):
    (state,) = hetero.Core().compile_model(counter(), device).create_infer_request().query_state()
    with pytest.raises(TensorError, match="variable 'sum'"):
        state.state = tensor


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_remembered_is_nobodys_memory(device):
    """Overwriting an assigned input or a returned result does not change the variable."""
    op = make_modules()["opset6"]
    x = op.parameter([2], np.float32)
    read = op.read_value(op.constant(np.zeros(2, np.float32)), "last")
    model = hetero.Model([op.result(read)], [op.assign(x, "last")], [x])
    request = hetero.Core().compile_model(model, device).create_infer_request()
    given = np.float32([1, 2])
    request.infer([given], share_inputs=True)
    given[:] = 9
    results = request.infer([given], share_outputs=True)
    np.testing.assert_array_equal(results[0], [1, 2])
    results[0][:] = 7
    np.testing.assert_array_equal(request.query_state()[0].state.data, [9, 9])


@pytest.mark.parametrize("device", DEVICES)
def test_a_variable_is_read_before_it_is_set(device):
    """Variables are read before they are assigned, even if the order of the results suggests otherwise."""
    op = make_modules()["opset6"]
    x = op.parameter([1], np.float32)
    set_one = op.assign(x, "v")
    read = op.read_value(op.constant(np.zeros(1, np.float32)), "v")
    model = hetero.Model([op.result(set_one), op.result(read)], [x])
    request = hetero.Core().compile_model(model, device).create_infer_request()
    assert [float(request.infer([np.float32([n])])[1][0]) for n in (1, 2, 3)] == [0, 1, 2]


def test_the_model_knows_its_variables_and_sinks():
    model = counter()
    for each in (model, model.clone()):
        (sink,) = each.get_sinks()
        assert sink.get_type_name() == "Assign" and sink in each.get_ordered_ops()
        (variable,) = each.get_variables()
        assert variable.info == VariableInfo("sum", hetero.Type.f32, hetero.PartialShape([2, 3]))
        assert each.get_variable_by_id("sum") == variable
    assert model.get_variable_by_id("other") is None


@pytest.mark.parametrize("device", DEVICES)
def test_constant_folding_leaves_what_is_remembered(device):
    from hetero.passes import fold_constants

    op = make_modules()["opset6"]
    read = op.read_value(op.constant(np.zeros(1, np.float32)), "v")
    model = hetero.Model(read, [], sinks=[op.assign(op.add(read, np.ones(1, np.float32)), "v")])
    fold_constants(model)
    request = hetero.Core().compile_model(model, device).create_infer_request()
    assert [float(request.infer()[0][0]) for _ in range(3)] == [0, 1, 2]


def test_a_variable_object_gives_type_and_shape():
    op = make_modules()["opset6"]
    variable = Variable(VariableInfo("v", hetero.Type.i64, hetero.PartialShape([-1, 2])))
    read = op.read_value(variable)
    assert (read.get_variable_id(), str(read.output(0).partial_shape)) == ("v", "[?,2]")
    assert read.get_output_element_type(0) is hetero.Type.i64
    assert op.assign(read, variable).get_variable_id() == "v"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda op, x: op.read_value(x, "v", np.int64), "variable 'v' is i64, but init_value is f32"),
        (lambda op, x: op.read_value(x, "v", np.float32, [5, 3]), r"has the shape \[5,3\], but init_value \[2,3\]"),
        (
            lambda op, x: hetero.Model(op.read_value(x, "v"), [x], sinks=[op.assign(np.zeros([4]), "v")]),
            r"Assign .*variable 'v' is f32\[2,3\] elsewhere, but f64\[4\] here",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    op = make_modules()["opset6"]
    with pytest.raises(GraphError, match=message):
        make(op, op.parameter([2, 3], np.float32))


def branch_that_assigns(taken: bool, condition: str) -> hetero.Model:
    """Return a model with an If whose first branch returns a variable and adds the input to it; the second negates it.

    The condition is a constant, a value computed from constants, or an input.
    """
    op = hetero.opset13
    x, flag = op.parameter([1, 2], np.float32, name="x"), op.parameter([], np.bool_, name="flag")
    total = op.reduce_sum(op.constant(np.float32([1, 2])), np.int64([0]), False)
    conditions = {
        "constant": op.constant(taken),
        "computed": op.greater(total, op.constant(np.float32(0 if taken else 9))),
        "input": flag,
    }
    node = op.if_op(conditions[condition])
    added, other = op.parameter([1, 2], np.float32), op.parameter([1, 2], np.float32)
    before = op.read_value(op.constant(np.zeros([1, 2], np.float32)), "sum")
    assign = op.assign(op.add(before, added), "sum")
    then = hetero.Model([op.abs(before)], [assign], [added], "then")
    otherwise = hetero.Model([op.negative(other)], [other], "else")
    node.set_then_body(then)
    node.set_else_body(otherwise)
    node.set_input(x.output(0), added, other)
    result = node.set_output(then.results[0], otherwise.results[0])
    return hetero.Model([result], [x, flag], "branch")


@pytest.mark.parametrize("condition", ["constant", "computed", "input"])
@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("device", ["TEMPLATE", "HETERO:TEMPLATE", "HETERO:GPU,TEMPLATE", "OPENVINO.CPU", "CPU"])
def test_a_branch_that_assigns_may_be_known_when_the_model_is_compiled(device, taken, condition):
    compiled = hetero.Core().compile_model(branch_that_assigns(taken, condition), device)
    request = compiled.create_infer_request()
    inputs = [{"x": np.full([1, 2], number, np.float32), "flag": np.bool_(taken)} for number in (1, 2, 3)]
    assert [float(request.infer(values)[0][0, 0]) for values in inputs] == ([0, 1, 3] if taken else [-1, -2, -3])


def test_a_device_that_fails_has_the_variable_of_a_branch_that_the_next_one_leaves_out():
    branch = branch_that_assigns(False, "constant")
    model = hetero.Model([hetero.opset13.relu(branch.outputs[0].get_node().input_value(0))], branch.parameters, "model")
    compiled = core_with(A=Faulty("raise", healthy=1)).compile_model(
        model, "HETERO:A,ONEDNN", {"VARIABLE_SNAPSHOTS": True}
    )
    request = compiled.create_infer_request()
    inputs = [{"x": np.full([1, 2], number, np.float32), "flag": np.bool_(False)} for number in (-1, -2, -3)]
    assert [float(request.infer(values)[0][0, 0]) for values in inputs] == [1, 2, 3]
    assert compiled.get_property("EXECUTION_DEVICES") == ["ONEDNN"]
    assert [state.state.data.tolist() for state in request.query_state()] == [[[0, 0]]]
