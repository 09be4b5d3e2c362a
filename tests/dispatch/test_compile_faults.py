"""Devices that fail to answer a query or to compile: others run what they do not, and the user sees one warning."""

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.errors import DeviceError, PropertyError, UnsupportedOperationError
from tests.devices import PickyPlugin, core_with
from tests.dispatch.faulty import X, Y, chain, devices_of, warnings_in


class FailsToCompile(PickyPlugin):
    """The reference without Exp; it fails to compile what it claimed while ``fails`` says so of one of the nodes."""

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


def test_what_a_device_fails_to_compile_goes_to_the_next(caplog):
    a, b = FailsToCompile(lambda node: node.type_info.name == "Relu"), PickyPlugin()
    compiled = core_with(A=a, B=b).compile_model(chain(), "HETERO:A,B")
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    assert devices_of(compiled) == {"relu": "B", "exp": "B", "tanh": "A"}
    assert a.attempts == [["relu"], ["tanh"]]  # what was compiled once is not compiled again
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
    assert compiled.get_property("EXECUTION_DEVICES") == ("C",)
    assert {failure.device for failure in compiled.get_property("PLACEMENT_REPORT").failures} == {"A", "B"}
    assert len(warnings_in(caplog)) == 1


def test_a_device_that_fails_to_tell_what_it_can_run_is_not_used(caplog):
    core = core_with(A=FailsToAnswer(), B=PickyPlugin())
    compiled = core.compile_model(chain(), "HETERO:A,B")
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    assert compiled.get_property("EXECUTION_DEVICES") == ("B",)
    (warning,) = warnings_in(caplog)
    assert "A failed to tell what it can run of 'chain': IndexError: out of lists" in warning
    assert set(core.query_model(chain(), "HETERO:A,B").values()) == {"B"}


def test_with_nobody_left_the_first_error_is_raised_with_device_and_operations():
    core = core_with(A=FailsToCompile(), B=FailsToCompile(), C=PickyPlugin(lambda node: node.type_info.name == "Exp"))
    message = "A failed to compile 'chain/0': .* by nothing; no other device can run Relu 'relu'"
    with pytest.raises(DeviceError, match=message) as caught:
        core.compile_model(chain(), "HETERO:A,B,C")
    assert "\n" not in str(caught.value) and isinstance(caught.value.__cause__, DeviceError)
    with pytest.raises(DeviceError, match="A failed to tell what it can run .*; no other device can run Relu 'relu'"):
        core_with(A=FailsToAnswer()).compile_model(chain(), "HETERO:A")
    picky = PickyPlugin(lambda node: node.type_info.name != "Exp")
    with pytest.raises(UnsupportedOperationError, match="HETERO:A cannot run Exp 'exp'"):
        core_with(A=picky).compile_model(chain(), "HETERO:A")


def test_pinned_operations_stay_pinned_and_lose_only_their_company():
    """A fails at a subgraph that has a pinned operation and others: it keeps the pinned one."""
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


def test_wrong_options_are_no_fault_of_a_device():
    with pytest.raises(PropertyError, match="NUM_STREAMS"):
        options = {"DEVICE_PROPERTIES": {"A": {"NUM_STREAMS": "many"}}}
        core_with(A=PickyPlugin(), B=PickyPlugin()).compile_model(chain(), "HETERO:A,B", options)
