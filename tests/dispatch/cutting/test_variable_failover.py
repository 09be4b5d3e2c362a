"""Variables of models whose devices fail: what they contain after a failed or cancelled inference."""

import numpy as np
import pytest
from hetero_template.variable_state import TemplateVariableState

from hetero import Model, Parameter, Tensor, Type, ops
from hetero.system.errors import CancelledError, DeviceError
from tests.devices import PickyPlugin, core_with
from tests.dispatch.faulty import TIMEOUT, Faulty, X, check_dropped, devices_of, inputs, no_exp, warnings_in

SNAPSHOTS = {"VARIABLE_SNAPSHOTS": True}


def summing() -> Model:
    """exp(total), where every inference adds x to total; the first one begins with 2 x."""
    x = Parameter(Type.f32, [1, 4], name="x")
    total = ops.Add(ops.ReadValue(x, "total", name="read"), x, name="add")
    return Model(ops.Exp(total, name="exp"), [x], "summing", sinks=[ops.Assign(total, "total", name="set")])


@pytest.mark.parametrize("asynchronous", [False, True], ids=["infer", "start_async"])
def test_variables_are_restored_after_a_failed_inference(faulty, asynchronous, caplog):
    """Three requests with their own variables: one fails after it assigned its variable, the others are idle."""
    options = TIMEOUT | SNAPSHOTS
    compiled = core_with(A=faulty, B=PickyPlugin()).compile_model(summing(), "HETERO:A,B", options)
    assert devices_of(compiled) == {"read": "A", "add": "A", "set": "A", "exp": "B"}
    requests = [compiled.create_infer_request() for _ in range(3)]
    totals, states = {}, [request.query_state()[0] for request in requests]
    for inference, x in enumerate(inputs(12)):
        number = inference % 3
        request = requests[number]
        if inference == 9:  # the first request is reset
            request.reset_state()
            del totals[number]
        totals[number] = totals.get(number, x) + x
        if asynchronous:
            request.start_async(x)
            request.wait()
        else:
            request.infer(x)
        np.testing.assert_allclose(request.results[0], np.exp(totals[number]), rtol=1e-6)
        np.testing.assert_allclose(states[number].state.data, totals[number], rtol=1e-6)
    check_dropped(compiled, caplog)


def test_variables_are_restored_if_all_devices_fail():
    a, b = Faulty("raise", healthy=3), Faulty("raise", healthy=3, accepts=lambda node: node.type_info.name != "Exp")
    core = core_with(A=a, B=b, C=PickyPlugin(lambda node: node.type_info.name == "Exp"))
    request = core.compile_model(summing(), "HETERO:A,B,C", SNAPSHOTS).create_infer_request()
    a.healthy, b.healthy = 3, 0
    x = np.ones((1, 4), np.float32)
    for total in (2, 3):
        np.testing.assert_allclose(request.infer(x)[0], np.exp(total * x), rtol=1e-6)
    with pytest.raises(DeviceError, match="A failed"):
        request.infer(x)
    np.testing.assert_array_equal(request.query_state()[0].state.data, 3 * x)
    request.query_state()[0].state = Tensor(10 * x)
    a.fault = ""
    np.testing.assert_allclose(request.infer(x)[0], np.exp(11 * x), rtol=1e-6)


def test_variables_are_restored_after_a_cancelled_inference():
    a = Faulty("cancel", healthy=2, accepts=no_exp)
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(summing(), "HETERO:A,B", SNAPSHOTS)
    request = compiled.create_infer_request()
    a.cancel = request.cancel
    request.infer(X)
    with pytest.raises(CancelledError):
        request.infer(X)
    a.fault = ""
    np.testing.assert_array_equal(request.query_state()[0].state.data, 2 * X)
    np.testing.assert_allclose(request.infer(X)[0], np.exp(3 * X), rtol=1e-6)


def test_without_snapshots_variables_are_not_copied_and_the_error_is_raised(caplog, monkeypatch):
    """By default no variable is read after an inference, and no device that has variables is dropped."""
    reads = []
    get_state = TemplateVariableState.get_state
    monkeypatch.setattr(TemplateVariableState, "get_state", lambda self: reads.append(self) or get_state(self))
    a = Faulty("raise", healthy=3, accepts=no_exp)
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(summing(), "HETERO:A,B")
    request = compiled.create_infer_request()
    for total in (2, 3):
        np.testing.assert_allclose(request.infer(X)[0], np.exp(total * X), rtol=1e-6)
    assert not reads
    with pytest.raises(DeviceError, match="KeyError: 'lost'"):
        request.infer(X)
    assert compiled.get_property("EXECUTION_DEVICES") == ["A", "B"] and not warnings_in(caplog)
    a.fault = ""
    request.reset_state()
    np.testing.assert_allclose(request.infer(X)[0], np.exp(2 * X), rtol=1e-6)


def test_variables_survive_a_tensor_that_a_device_does_not_take(caplog):
    a = Faulty(accepts=no_exp)
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(summing(), "HETERO:A,B")
    request = compiled.create_infer_request()
    request.infer(X)
    a.fault = "set tensor"
    request.set_input_tensor(Tensor(X))
    with pytest.raises(DeviceError, match="A failed to take a tensor"):
        request.infer()
    a.fault = ""
    np.testing.assert_allclose(request.infer()[0], np.exp(3 * X), rtol=1e-6)


def test_a_model_that_only_reads_a_variable_fails_over_with_it(caplog):
    x = Parameter(Type.f32, [1, 4], name="x")
    total = ops.Add(ops.ReadValue(np.zeros([1, 4], np.float32), "total", name="read"), x, name="add")
    a = Faulty("raise", healthy=2, accepts=no_exp)
    core = core_with(A=a, B=PickyPlugin())
    compiled = core.compile_model(Model(ops.Exp(total, name="exp"), [x], "reading"), "HETERO:A,B")
    request = compiled.create_infer_request()
    request.query_state()[0].state = Tensor(10 * X)
    for _ in range(2):
        np.testing.assert_allclose(request.infer(X)[0], np.exp(11 * X), rtol=1e-6)
    check_dropped(compiled, caplog)
