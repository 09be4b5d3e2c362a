"""Devices that fail to answer a query or to compile: other devices take over, and the user sees one warning."""

import math
import re
import threading

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.dispatch.cost import benchmark
from hetero.dispatch.cost.benchmark import DeviceBenchmark
from hetero.system.errors import DeviceError, PropertyError, UnsupportedOperationError
from tests.devices import PickyPlugin, core_with
from tests.dispatch.faulty import Faulty, X, Y, chain, devices_of, no_exp, warnings_in


class FailsToCompile(PickyPlugin):
    """The reference device without Exp; it fails to compile a model with a node for which ``fails`` is true."""

    def __init__(self, fails=lambda node: True, accepts=lambda node: node.type_info.name != "Exp"):
        super().__init__(accepts)
        self._fails, self.attempts = fails, []

    def compile_model(self, model, options, context=None):
        self.attempts.append([n.friendly_name for n in model.get_ordered_ops() if n.type_info.name in _NAMES])
        if any(self._fails(node) for node in model.get_ordered_ops()):
            raise ZeroDivisionError("by nothing")
        return super().compile_model(model, options, context)


_NAMES = ("Relu", "Exp", "Tanh", "Assign", "ReadValue", "Add")


class FailsToAnswer(PickyPlugin):
    def query_model(self, model, options):
        raise IndexError("out of lists")


class Answers(PickyPlugin):
    """The reference device without Exp; ``answer`` changes the result of its query."""

    def __init__(self, answer):
        super().__init__(no_exp)
        self._answer = answer

    def query_model(self, model, options):
        return self._answer(super().query_model(model, options))


class CompilesTo(PickyPlugin):
    """The reference device without Exp; ``compile`` takes the place of its compile_model."""

    def __init__(self, compile):
        super().__init__(no_exp)
        self._compile = compile

    def compile_model(self, model, options, context=None):
        return self._compile(super().compile_model, options)


class Estimates(PickyPlugin):
    """The reference device; ``estimate`` returns the cost of a Relu, and everything else costs nothing."""

    def __init__(self, estimate):
        super().__init__()
        self._estimate = estimate

    def estimate_cost(self, node, options):
        return self._estimate() if node.type_info.name == "Relu" else 0.0


def model_of(element_type, shape, inputs=1):
    parameters = [Parameter(element_type, shape) for _ in range(inputs)]
    return Model([ops.Abs(parameters[0])], parameters)


def test_a_subgraph_that_fails_to_compile_goes_to_the_next_device(caplog):
    a, b = FailsToCompile(lambda node: node.type_info.name == "Relu"), PickyPlugin()
    compiled = core_with(A=a, B=b).compile_model(chain(), "HETERO:A,B")
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    assert devices_of(compiled) == {"relu": "B", "exp": "B", "tanh": "A"}
    assert sorted(a.attempts) == [["relu"], ["tanh"]]  # each subgraph is compiled once, in any order
    (warning,) = warnings_in(caplog)
    assert "A failed to compile 'chain/0': ZeroDivisionError: by nothing" in warning
    report = compiled.get_property("PLACEMENT_REPORT")
    (failure,) = report.failures
    assert (failure.device, failure.operations) == ("A", ("relu",)) and "by nothing" in failure.reason
    assert report.operations[0].reason == "A: A failed to compile 'chain/0': ZeroDivisionError: by nothing"
    assert "A is not used for 1 operation: A failed to compile 'chain/0': Zero" in str(report)


def test_a_device_that_fails_at_everything_is_not_used(caplog):
    core = core_with(A=FailsToCompile(), B=FailsToCompile(accepts=lambda node: True), C=PickyPlugin())
    compiled = core.compile_model(chain(), "HETERO:A,B,C")
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    assert compiled.get_property("EXECUTION_DEVICES") == ["C"]
    assert {failure.device for failure in compiled.get_property("PLACEMENT_REPORT").failures} == {"A", "B"}
    assert len(warnings_in(caplog)) == 1


def test_a_device_that_fails_in_query_model_is_not_used(caplog):
    core = core_with(A=FailsToAnswer(), B=PickyPlugin())
    compiled = core.compile_model(chain(), "HETERO:A,B")
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    assert compiled.get_property("EXECUTION_DEVICES") == ["B"]
    (warning,) = warnings_in(caplog)
    assert "A failed to query model 'chain': IndexError: out of lists" in warning
    assert set(core.query_model(chain(), "HETERO:A,B").values()) == {"B"}


ANSWERS = {
    "nothing": (lambda found: None, "query_model returned NoneType, not a mapping of operation names to 'A'"),
    "a list": (list, "query_model returned list, not"),
    "an unknown name": (lambda found: {"lost": "A"}, "query_model names 'lost', which is no operation of the model"),
    "no text as a name": (lambda found: {7: "A"}, "query_model names 7, which is no operation of the model"),
    "another device": (lambda found: {"relu": "OTHER"}, "query_model maps 'relu' to 'OTHER', not to 'A'"),
    "no text as a device": (lambda found: {"relu": None}, "query_model maps 'relu' to None, not to 'A'"),
    "no reasons": (lambda found: setattr(found, "refused", None) or found, "query_model returned NoneType as"),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_a_device_with_an_invalid_query_result_is_not_used(case, caplog):
    answer, reason = ANSWERS[case]
    core = core_with(A=Answers(answer), B=PickyPlugin())
    compiled = core.compile_model(chain(), "HETERO:A,B")
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    assert compiled.get_property("EXECUTION_DEVICES") == ["B"]
    (warning,) = warnings_in(caplog)
    (failure,) = compiled.get_property("PLACEMENT_REPORT").failures
    reason = f"A failed to query model 'chain': {reason}"
    assert reason in warning and failure.reason.startswith(reason)
    assert set(core.query_model(chain(), "HETERO:A,B").values()) == {"B"}
    with pytest.raises(DeviceError, match=f"^{re.escape(reason)}.*; no other device can run Relu 'relu'"):
        core.compile_model(chain(), "HETERO:A")


COMPILED = {
    "nothing": (lambda make, options: None, "it returned NoneType, not a CompiledModel"),
    "a model": (lambda make, options: model_of(Type.f32, [1]), "it returned Model, not a CompiledModel"),
    "more inputs": (
        lambda make, options: make(model_of(Type.f32, [-1, 4], 2), options),
        "its model has 2 inputs, the subgraph has 1",
    ),
    "another type": (
        lambda make, options: make(model_of(Type.i32, [-1, 4]), options),
        "'x' is i32[?,4] in its inputs, not f32[?,4]",
    ),
    "another shape": (
        lambda make, options: make(model_of(Type.f32, [-1, 5]), options),
        "'x' is f32[?,5] in its inputs, not f32[?,4]",
    ),
}


@pytest.mark.parametrize("case", COMPILED)
def test_a_device_that_compiles_something_else_is_not_used(case, caplog):
    compile, reason = COMPILED[case]
    core = core_with(A=CompilesTo(compile), B=PickyPlugin())
    compiled = core.compile_model(chain(), "HETERO:A,B")
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    assert compiled.get_property("EXECUTION_DEVICES") == ["B"]
    (warning,) = warnings_in(caplog)
    failure = compiled.get_property("PLACEMENT_REPORT").failures[0]
    reason = f"A failed to compile 'chain/0': {reason}"
    assert reason in warning and failure.reason == reason
    with pytest.raises(DeviceError, match=re.escape(reason)):
        core.compile_model(chain(relu="A"), "HETERO:B,A")


def test_a_device_whose_context_fails_is_not_used(caplog):
    a = PickyPlugin(no_exp)
    a.get_default_context = lambda params: 1 / 0
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(chain(), "HETERO:A,B")
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    assert "A failed to compile 'chain/0': ZeroDivisionError: division by zero" in warnings_in(caplog)[0]


ESTIMATES = {
    "raises": (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
    "nan": (lambda: math.nan, "it returned nan, not None or a finite number of seconds"),
    "inf": (lambda: math.inf, "it returned inf, not None or a finite number of seconds"),
    "too large for a float": (lambda: 10**400, "OverflowError: int too large to convert to float"),
    "negative": (lambda: -1e-9, "it returned -1e-09, not None or a finite number of seconds"),
    "text": (lambda: "1", "it returned '1', not None or a finite number of seconds"),
}


@pytest.mark.parametrize("placement", ["MIN_CUT", "PIPELINE"])
@pytest.mark.parametrize("case", ESTIMATES)
def test_a_device_that_fails_to_estimate_a_cost_does_not_get_the_operation(
    case, placement, tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(benchmark, "measure", lambda device: DeviceBenchmark())
    estimate, reason = ESTIMATES[case]
    options = {"PLACEMENT": placement, "COSTS_DIR": tmp_path}
    core = core_with(A=Estimates(estimate), B=Estimates(lambda: 0.0))
    compiled = core.compile_model(chain(tanh="A"), "HETERO:A,B", options)
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    placed = devices_of(compiled)
    assert (placed["relu"], placed["tanh"]) == ("B", "A")
    (warning,) = warnings_in(caplog)
    (failure,) = compiled.get_property("PLACEMENT_REPORT").failures
    reason = f"A failed to estimate the cost of Relu 'relu': {reason}"
    assert reason in warning and (failure.operations, failure.reason) == (("relu",), reason)
    assert core.query_model(chain(tanh="A"), "HETERO:A,B", options)["relu"] == "B"
    with pytest.raises(DeviceError, match=f"^{re.escape(reason)}; no other device can run Relu 'relu'"):
        core.compile_model(chain(), "HETERO:A", options)


def test_a_device_that_fails_in_the_benchmark_is_still_used(tmp_path, monkeypatch):
    """It is benchmarked because the costs of the operations are not known."""
    monkeypatch.setattr(benchmark, "MAX_SECONDS", 0)
    a = Faulty("raise", healthy=12)
    core = core_with(A=a, B=PickyPlugin())
    compiled = core.compile_model(chain(), "HETERO:A,B", {"PLACEMENT": "MIN_CUT", "COSTS_DIR": tmp_path})
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    assert a.count >= 12 and devices_of(compiled)["exp"] == "B"


def test_with_no_device_left_the_first_error_names_device_and_operations():
    core = core_with(A=FailsToCompile(), B=FailsToCompile(), C=PickyPlugin(lambda node: node.type_info.name == "Exp"))
    message = "A failed to compile 'chain/0': .* by nothing; no other device can run Relu 'relu'"
    with pytest.raises(DeviceError, match=message) as caught:
        core.compile_model(chain(), "HETERO:A,B,C")
    assert "\n" not in str(caught.value) and isinstance(caught.value.__cause__, DeviceError)
    with pytest.raises(DeviceError, match="A failed to query model .*; no other device can run Relu 'relu'"):
        core_with(A=FailsToAnswer()).compile_model(chain(), "HETERO:A")
    picky = PickyPlugin(lambda node: node.type_info.name != "Exp")
    with pytest.raises(UnsupportedOperationError, match="HETERO:A cannot run Exp 'exp'"):
        core_with(A=picky).compile_model(chain(), "HETERO:A")


def test_pinned_operations_stay_and_the_others_of_their_subgraph_move():
    """A fails at a subgraph with a pinned operation and others, and keeps the pinned one."""
    accepts = lambda node: True  # noqa: E731
    core = core_with(A=FailsToCompile(lambda node: node.type_info.name == "Exp", accepts), B=PickyPlugin())
    compiled = core.compile_model(chain(relu="A"), "HETERO:A,B")
    assert devices_of(compiled) == {"relu": "A", "exp": "B", "tanh": "B"}
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    with pytest.raises(DeviceError, match="A failed to compile .*; pinned to A: Exp 'exp'"):
        core.compile_model(chain(exp="A"), "HETERO:A,B")


def test_a_variable_goes_to_the_next_device_as_a_whole():
    x = Parameter(Type.f32, [1, 4], name="x")
    total = ops.Add(ops.ReadValue(np.zeros((1, 4), np.float32), "total", name="read"), x, name="add")
    model = Model([total], [x], "sum", sinks=[ops.Assign(total, "total", name="set")])
    a = FailsToCompile(lambda node: node.type_info.name == "Assign")
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(model, "HETERO:A,B")
    assert {devices_of(compiled)[name] for name in ("read", "set")} == {"B"}
    compiled(X)
    np.testing.assert_allclose(compiled(X)[0], 2 * X, rtol=1e-6)


class CompilesWith(PickyPlugin):
    """The reference device; ``meet`` is called with the name of each model that it compiles."""

    def __init__(self, accepts, meet):
        super().__init__(accepts)
        self._meet = meet

    def compile_model(self, model, options, context=None):
        self._meet(model.friendly_name)
        return super().compile_model(model, options, context)


def test_subgraphs_compile_in_parallel():
    meeting = threading.Barrier(2)
    meet = lambda name: meeting.wait(30)  # noqa: E731
    is_exp = lambda node: node.type_info.name == "Exp"  # noqa: E731
    core = core_with(A=CompilesWith(is_exp, meet), B=CompilesWith(no_exp, meet))
    x = Parameter(Type.f32, [1, 4], name="x")
    compiled = core.compile_model(Model(ops.Exp(ops.Relu(x)), [x], "pair"), "HETERO:A,B")
    np.testing.assert_allclose(compiled(X)[0], np.exp(np.maximum(X, 0)), rtol=1e-6)


def test_of_several_errors_that_of_the_first_subgraph_is_raised():
    """Subgraphs 0 and 2 both fail, with only pinned operations; subgraph 2 fails first."""
    second_failed = threading.Event()

    def fail(name):
        if name == "chain/0":
            second_failed.wait(30)
        elif name == "chain/2":
            second_failed.set()
        else:
            return
        raise ValueError(f"cannot compile {name}")

    core = core_with(A=CompilesWith(lambda node: True, fail), B=PickyPlugin())
    for _ in range(3):
        with pytest.raises(DeviceError, match="cannot compile chain/0; pinned to A: Relu 'relu'"):
            core.compile_model(chain(relu="A", exp="B", tanh="A"), "HETERO:A,B")


def test_wrong_options_are_no_fault_of_a_device():
    with pytest.raises(PropertyError, match="NUM_STREAMS"):
        options = {"DEVICE_PROPERTIES": {"A": {"NUM_STREAMS": "many"}}}
        core_with(A=PickyPlugin(), B=PickyPlugin()).compile_model(chain(), "HETERO:A,B", options)


def test_a_device_that_imports_something_else_is_named():
    core = core_with(A=PickyPlugin(), B=PickyPlugin())
    blob = core.compile_model(chain(), "HETERO:A,B").export_model()
    core.get_plugin("A").import_model = lambda sections, options, context=None: None
    with pytest.raises(
        DeviceError, match="A failed to import the exported model: it returned NoneType, not a CompiledModel"
    ):
        core.import_model(blob, "HETERO:A,B")
