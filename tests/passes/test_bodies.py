"""Passes on models with bodies: passes run inside of them, and an If of a known condition is folded."""

import numpy as np
import pytest

import hetero
from hetero import Constant, Model, Parameter, Type, ops
from hetero.passes import PassManager, fold_constant_if, fold_constants
from hetero.system.errors import DeviceError
from tests.devices import PickyPlugin, core_with
from tests.frontend.onnx.test_control_flow import X, parse, run, scalars

# The condition is known if the number of rows of x is.
BY_SHAPE = """(float[{rows}, 3] x) => (float[A, B] y) {{
    shape = Shape (x)
    first = Constant <value_int = 0> ()
    rows = Gather (shape, first)
    two = Constant <value_int = 2> ()
    c = Equal (rows, two)
    z = If (c) <
        then_branch = then () => (float[A, B] p) {{
            d = If (c) <
                then_branch = inner () => (float[A, B] q) {{ q = Exp (x) }},
                else_branch = never () => (float[A, B] r) {{ r = Neg (x) }}
            >
            p = Relu (d)
        }},
        else_branch = otherwise () => (float[A, B] p) {{ p = Tanh (x) }}
    >
    y = Neg (z)
}}"""


def kinds(model: Model) -> set[str]:
    return {node.type_info.name for node in model.get_ops()}


@pytest.mark.parametrize("rows", [2, 5])
def test_the_taken_branch_replaces_an_if_of_a_known_condition(rows):
    model = hetero.Core().read_model(parse(BY_SHAPE.format(rows=rows)))
    x = np.ones([rows, 3], np.float32)
    assert "If" in kinds(model)
    expected = run(model, {"x": x})["y"]
    assert fold_constant_if(model)
    assert kinds(model) & {"If", "Exp", "Tanh", "Relu"} == ({"Exp", "Relu"} if rows == 2 else {"Tanh"})
    assert not fold_constant_if(model)
    np.testing.assert_array_equal(run(model, {"x": x})["y"], expected)
    np.testing.assert_allclose(expected, -np.exp(x) if rows == 2 else -np.tanh(x), rtol=1e-6)


def test_an_if_of_an_unknown_condition_stays():
    model = hetero.Core().read_model(parse(BY_SHAPE.format(rows="N")))
    assert not fold_constant_if(model)
    model.reshape([2, 3])
    assert fold_constant_if(model)


def test_a_device_that_supports_the_taken_branch_supports_the_if():
    """It need not support the operations of the other branch."""
    core = core_with(A=PickyPlugin(lambda node: node.type_info.name in ("Exp", "Relu")), B=PickyPlugin())
    model = core.read_model(parse(BY_SHAPE.format(rows=2)))
    compiled = core.compile_model(model, "HETERO:A,B")
    devices = {o.type_name: o.device for o in compiled.get_property("PLACEMENT_REPORT").operations}
    assert devices["If"] == "A"
    np.testing.assert_allclose(compiled(X)[0], -np.exp(X), rtol=1e-6)


def branches(condition):
    """x + 1, or the absolute value of x - 1."""
    x, first, second = (Parameter(Type.f32, [-1, 3], name=name) for name in ("x", "first", "second"))
    node = ops.If(condition)
    node.friendly_name = "if"
    results = [ops.Result(ops.Add(first, np.float32(1))), ops.Result(ops.Abs(second))]
    node.set_then_body(Model([results[0]], [first]))
    node.set_else_body(Model([results[1]], [second]))
    node.set_input(x.output(0), first, None)
    node.set_input(ops.Subtract(x, np.float32(1), name="subtract").output(0), None, second)
    return Model([ops.Tanh(node.set_output(*results), name="tanh")], [x], "branches")


def test_a_query_knows_conditions_that_a_cut_makes_known():
    """B supports Abs, not Add: whether it supports the If depends on a condition that A computes from Constants."""
    total = ops.ReduceSum(np.float32([1, -2, 3]), [0], name="sum")
    model = branches(ops.Greater(total, np.float32(1), name="condition"))
    core = core_with(A=PickyPlugin(), B=PickyPlugin(lambda node: node.type_info.name != "Add"))
    assert "if" not in core.query_model(model, "B")
    pins = {"sum": "A", "condition": "A", "tanh": "A"}
    compiled = core.compile_model(model, "HETERO:B,A", {"AFFINITIES": pins})
    assert {o.name: o.device for o in compiled.get_property("PLACEMENT_REPORT").operations}["if"] == "A"
    np.testing.assert_allclose(compiled(X)[0], np.tanh(X + 1), rtol=1e-6)


def test_an_input_of_a_branch_never_taken_runs_where_its_if_does():
    """A leaves out the Subtract, which it does not support, and the branch that reads it: it needs both for B."""
    core = core_with(A=PickyPlugin(lambda node: node.type_info.name != "Subtract"), B=PickyPlugin())
    model = branches(np.bool_(True))
    assert "subtract" not in core.query_model(model, "A")
    for pins in ({}, {"if": "B"}, {"if": "A"}):
        queried = core.query_model(model, "HETERO:A,B", {"AFFINITIES": pins})
        compiled = core.compile_model(model, "HETERO:A,B", {"AFFINITIES": pins})
        report = compiled.get_property("PLACEMENT_REPORT")
        devices = {o.name: o.device for o in report.operations}
        assert devices == {name: queried[name] for name in devices}
        assert devices["subtract"] == devices["if"] == pins.get("if", "A")
        assert not report.failures
        np.testing.assert_allclose(compiled(X)[0], np.tanh(X + 1), rtol=1e-6)
    with pytest.raises(DeviceError, match="'subtract' is pinned to a device that cannot run it"):
        core.compile_model(model, "HETERO:A,B", {"AFFINITIES": {"subtract": "A", "if": "B"}})


def test_a_query_counts_the_readers_in_the_model_alone():
    """A node that is made of a value and read by no Result is not in the model."""
    model = branches(np.bool_(True))
    subtract = next(node for node in model.get_ops() if node.friendly_name == "subtract")
    ops.Exp(subtract.output(0))
    core = core_with(A=PickyPlugin(lambda node: node.type_info.name != "Subtract"))
    assert "subtract" not in core.query_model(model, "A")


def test_a_variable_that_a_branch_never_taken_reads_runs_where_its_if_does():
    """A leaves out the ReadValue, which it does not support, and its other readers, which B's If would read."""
    x, taken, other = (Parameter(Type.f32, [1, 3], name=name) for name in ("x", "taken", "other"))
    results = [ops.Result(ops.Add(taken, np.float32(1))), ops.Result(ops.Abs(other))]
    node = ops.If(np.bool_(True), name="if")
    node.set_then_body(Model([results[0]], [taken]))
    node.set_else_body(Model([results[1]], [other]))
    state = ops.ReadValue(np.zeros([1, 3], np.float32), "v", name="read")
    node.set_input(x.output(0), taken, None)
    node.set_input(ops.Relu(state, name="relu").output(0), None, other)
    sums = ops.Tanh(node.set_output(*results), name="tanh")
    model = Model([sums], [x], "state", sinks=[ops.Assign(sums, "v", name="assign")])
    core = core_with(A=PickyPlugin(lambda node: node.type_info.name != "ReadValue"), B=PickyPlugin())
    assert "read" not in core.query_model(model, "A")
    for pins in ({}, {"if": "B"}, {"relu": "A", "if": "B"}, {"if": "A"}):
        queried = core.query_model(model, "HETERO:A,B", {"AFFINITIES": pins})
        compiled = core.compile_model(model, "HETERO:A,B", {"AFFINITIES": pins})
        report = compiled.get_property("PLACEMENT_REPORT")
        devices = {o.name: o.device for o in report.operations}
        assert devices == {name: queried[name] for name in devices}
        assert devices["read"] == devices["assign"] == ("B" if pins.get("if") == "B" else "A")
        assert not report.failures
        row = np.float32([[1, -2, 3]])
        np.testing.assert_allclose(compiled(row)[0], np.tanh(row + 1), rtol=1e-6)


def test_a_value_that_a_decided_branch_makes_known_is_computed_behind_a_cut():
    """A folds the sum with the branch, as long as the If runs there too; alone it supports no Add."""
    inner, other = Parameter(Type.f32, [1, 3], name="inner"), Parameter(Type.f32, [-1, 3], name="other")
    results = [ops.Result(ops.Negative(inner)), ops.Result(ops.Abs(other))]
    x = Parameter(Type.f32, [-1, 3], name="x")
    node = ops.If(np.bool_(True), name="if")
    node.set_then_body(Model([results[0]], [inner]))
    node.set_else_body(Model([results[1]], [other]))
    node.set_input(Constant(np.float32([[1, 2, 3]])).output(0), inner, None)
    node.set_input(x.output(0), None, other)
    total = ops.Add(node.set_output(*results), np.float32(1), name="add")
    model = Model([total], [x], "folded")
    core = core_with(A=PickyPlugin(lambda node: node.type_info.name != "Add"), B=PickyPlugin())
    assert "add" not in core.query_model(model, "A")
    for pins in ({}, {"if": "B"}):
        compiled = core.compile_model(model, "HETERO:A,B", {"AFFINITIES": pins})
        assert not compiled.get_property("PLACEMENT_REPORT").failures
        np.testing.assert_array_equal(compiled(X)[0], np.float32([[0, -1, -2]]))


def test_a_branch_that_returns_its_input():
    text = (
        "(float[2] x) => (float[2] y) { n = Size (x) two = Constant <value_int = 2> () c = Equal (n, two) y = If (c) <"
    )
    text += (
        "then_branch = a () => (float[2] p) { p = Identity (x) }, else_branch = b () => (float[2] q) { q = Exp (x) }> }"
    )
    found = run(parse(text), {"x": np.float32([1, 2])})["y"]
    np.testing.assert_array_equal(found, [1, 2])


def test_types_in_the_other_branch_need_not_fit():
    text = """(float[2, 3] x, float[4, 3] w) => (float[A, B] y) {
        r = Shape (x)
        n = Size (r)
        two = Constant <value_int = 2> ()
        c = Equal (n, two)
        y = If (c) <
            then_branch = a () => (float[A, B] p) { p = Exp (x) },
            else_branch = b () => (float[A, B] q) { q = MatMul (x, w) }
        >
    }"""
    np.testing.assert_allclose(run(parse(text), {"x": X, "w": np.ones([4, 3], np.float32)})["y"], np.exp(X), rtol=1e-6)


def test_passes_run_in_nested_bodies():
    text = """(float[2] x, int64 n) => (float[2] y) {
        y = Loop (n, , x) <body = b (int64 i, bool going, float[2] s) => (bool g, float[2] t) {
            g = Identity (going)
            t = Loop (n, , s) <body = c (int64 j, bool go, float[2] u) => (bool h, float[2] v) {
                h = Identity (go)
                one = Constant <value_float = 1.0> ()
                minus = Neg (one)
                v = Add (u, minus)
            }>
        }>
    }"""
    model = hetero.Core().read_model(parse(text))
    bodies = [model]
    for _ in range(2):
        (loop,) = (node for node in bodies[-1].get_ops() if isinstance(node, ops.Loop))
        bodies.append(loop.get_function())
    assert "Negative" in kinds(bodies[2])
    assert PassManager([fold_constants]).run(model) == ["fold_constants"]
    assert "Negative" not in kinds(bodies[2])
    np.testing.assert_array_equal(run(model, {"x": np.float32([10, 20]), **scalars(n=3)})["y"], [1, 11])


def test_a_variable_of_a_loop_body():
    """Only the body reads and sets the variable: each iteration reads the value that the one before set."""
    number, x = Parameter(Type.i64, []), Parameter(Type.f32, [2])
    read = ops.ReadValue(np.zeros(2, np.float32), "v")
    total = ops.Add(read, x)
    body = Model([ops.LogicalNot(np.bool_(False)), total], [number, x], sinks=[ops.Assign(total, "v")])
    outer = Parameter(Type.f32, [2])
    loop = ops.Loop(np.int64(3), np.bool_(True))
    loop.set_function(body)
    loop.set_special_body_ports([0, 0])
    loop.set_invariant_input(x, outer)
    model = Model(loop.get_iter_value(body.results[1].output(0)), [outer])
    assert [variable.info.variable_id for variable in model.variables] == ["v"]
    request = hetero.Core().compile_model(model, "TEMPLATE").create_infer_request()
    assert [float(request.infer([np.ones(2, np.float32)])[0][0]) for _ in range(2)] == [3, 6]
    assert [state.name for state in request.query_state()] == ["v"]
