"""Devices that do not write their outputs: old memory is never passed on as a result."""

from dataclasses import replace

import numpy as np
import pytest

from hetero import Constant, Model, Parameter, Tensor, Type, ops
from hetero.dispatch.execution.boundary_tensor import PATTERNS
from hetero.graph.rt_info import AFFINITY
from tests.devices import PickyPlugin, core_with
from tests.dispatch.faulty import Faulty, chain, no_exp, warnings_in


def cut(shape) -> Model:
    """x → relu → exp → tanh; exp runs on another device than relu and tanh."""
    x = Parameter(Type.f32, shape)
    return Model(ops.Tanh(ops.Exp(ops.Relu(x))), [x], "cut")


@pytest.mark.parametrize("accepts", [no_exp, lambda node: True], ids=["cut", "whole"])
@pytest.mark.parametrize("shape", [[-1, 4], [2, 4], [2, 8192]], ids=str)
@pytest.mark.parametrize("healthy", [1, 2, 6])
@pytest.mark.parametrize("fault", ["unwritten", "unwritten but touched"])
def test_the_device_is_dropped(fault, healthy, shape, accepts, caplog):
    a = Faulty(fault, healthy, accepts)
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(cut(shape), "HETERO:A,B")
    request = compiled.create_infer_request()
    for seed in range(6):
        x = np.random.default_rng(seed).standard_normal((2, shape[1]), np.float32)
        np.testing.assert_allclose(request.infer(x)[0], np.tanh(np.exp(np.maximum(x, 0))), rtol=1e-6)
    (warning,) = warnings_in(caplog)
    assert "no longer on A: A did not write the output '" in warning


def doubled(x):
    return ops.Add(x, x)


@pytest.mark.parametrize("is_boundary", [False, True], ids=["output", "boundary"])
@pytest.mark.parametrize("healthy", [1, 2])
@pytest.mark.parametrize(
    ("kind", "inner", "outer", "inputs", "expected"),
    [
        (Type.string, lambda x: ops.StringConcat(x, Constant(np.array(["!"]))), lambda x: ops.StringConcat(x, x),
         [["a", "bb"], ["c", "dd"]], lambda x, n: [f"{text}!" * n for text in x]),
        (Type.f32, lambda x: ops.SequenceConstruct([x, x]), lambda x: ops.SequenceAt(x, np.int64(0)),
         [np.float32([1, 2]), np.float32([3, 4])], lambda x, n: x.tolist() if n > 1 else [x.tolist()] * 2),
        (Type.dynamic, doubled, doubled, [np.float32([1, 2]), np.int64([3, 4])], lambda x, n: (2**n * x).tolist()),
    ],
    ids=["strings", "sequence", "dynamic type"],
)  # fmt: skip
def test_strings_sequences_and_dynamic_types(kind, inner, outer, inputs, expected, healthy, is_boundary, caplog):
    a = Faulty("unwritten", healthy)
    parameter = Parameter(kind, [-1])
    value = inner(parameter)
    value.rt_info[AFFINITY] = "A"
    if is_boundary:
        value = outer(value)
        value.rt_info[AFFINITY] = "B"
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(Model(value, [parameter], "m"), "HETERO:A,B")
    request = compiled.create_infer_request()
    for given in inputs:
        found = request.infer([np.array(given)])[0]
        found = [item.tolist() for item in found] if isinstance(found, list) else found.tolist()
        assert found == expected(given, 1 + is_boundary)
    (warning,) = warnings_in(caplog)
    assert "no longer on A: A did not write the output '" in warning


@pytest.mark.parametrize("shape", [[-1, 4], [2, 4], [2, 8192]], ids=str)
def test_outputs_may_be_written_in_place_and_be_empty(shape, caplog):
    a, b = Faulty("in place", accepts=no_exp), Faulty("in place")
    compiled = core_with(A=a, B=b).compile_model(cut(shape), "HETERO:A,B")
    request = compiled.create_infer_request()
    for rows in (0, 2, 0, 3) if shape[0] < 0 else (2, 2):
        x = np.random.default_rng(rows).standard_normal((rows, shape[1]), np.float32)
        np.testing.assert_allclose(request.infer(x)[0], np.tanh(np.exp(np.maximum(x, 0))), rtol=1e-6)
    assert compiled.get_property("EXECUTION_DEVICES") == ["A", "B"] and not warnings_in(caplog)


@pytest.mark.parametrize("count", [1, 15, 16, 20])
@pytest.mark.parametrize("is_stateful", [False, True], ids=["stateless", "stateful"])
def test_no_device_is_dropped_for_results_that_equal_the_pattern(is_stateful, count, caplog):
    """The device runs again with another pattern, with its variable restored: ten inferences count to ten."""
    compiled, a, b = counting(is_stateful, count, {"VARIABLE_SNAPSHOTS": True})
    check_results_that_equal_the_pattern(compiled, count, is_stateful)
    assert a.count == 15 and not b.count  # in five of ten inferences it ran twice
    assert not warnings_in(caplog)


def test_short_results_of_a_step_that_cannot_run_again_may_equal_the_pattern(caplog):
    compiled, a, b = counting(True, 1, {})
    check_results_that_equal_the_pattern(compiled, 1, True)
    assert a.count == 10 and not b.count and not warnings_in(caplog)


def counting(is_stateful, count, options):
    """A model that returns its ``count`` bytes, and if it is stateful the number of inferences."""
    x = Parameter(Type.u8, [count])
    outputs, sinks = [ops.Maximum(x, np.uint8(1), name="y")], []
    if is_stateful:
        total = ops.Add(ops.ReadValue(np.uint8([0]), "total"), np.uint8([1]))
        outputs, sinks = [*outputs, total], [ops.Assign(total, "total")]
    a, b = Faulty(), Faulty()
    compiled = core_with(A=a, B=b).compile_model(Model(outputs, [x], "m", sinks=sinks), "HETERO:A,B", options)
    return compiled, a, b


def check_results_that_equal_the_pattern(compiled, count, is_stateful):
    request = compiled.create_infer_request()
    for inference in range(10):
        pattern = PATTERNS[inference % 2]
        given = np.frombuffer(pattern * 2, np.uint8, count)
        results = request.infer(given).to_tuple()
        np.testing.assert_array_equal(results[0], given)
        assert not is_stateful or results[1] == inference + 1


def test_an_output_in_the_memory_of_an_input(caplog):
    a = Faulty()
    request = core_with(A=a, B=PickyPlugin()).compile_model(chain(), "HETERO:A,B").create_infer_request()
    x = np.float32([[-1, 0, 0.5, 2]])
    tensor = Tensor(x, shared_memory=True)
    request.set_input_tensor(tensor)
    request.set_output_tensor(tensor)
    for _ in range(2):
        expected = np.tanh(np.exp(np.maximum(x, 0)))
        request.infer()
        np.testing.assert_allclose(x, expected, rtol=1e-6)
    assert a.count == 2 and not warnings_in(caplog)


class Promising(Faulty):
    """A device that promises to write its outputs."""

    def devices(self):
        return [replace(device, writes_outputs=True) for device in super().devices()]


@pytest.mark.parametrize(("shape", "checked"), [([2, 4], {0, 1}), ([-1, 4], {1})], ids=["static", "dynamic"])
def test_outputs_of_a_device_that_promises_to_write_them_are_not_marked(shape, checked):
    """Of dynamic ones the type and shape are checked, and of outputs of the user."""
    a, b = Promising(accepts=no_exp), Faulty()
    request = core_with(A=a, B=b).compile_model(cut(shape), "HETERO:A,B").create_infer_request()
    steps = request._request.request.bound.steps
    outputs = [list(step.outputs.values()) for step in steps if step.step.device == "A"]
    assert {len(of_step) for of_step in outputs} == checked
    assert not any(output.marked_bytes for of_step in outputs for output in of_step)
    for seed in range(3):
        x = np.random.default_rng(seed).standard_normal((2, 4), np.float32)
        np.testing.assert_allclose(request.infer(x)[0], np.tanh(np.exp(np.maximum(x, 0))), rtol=1e-6)


@pytest.mark.parametrize("accepts", [no_exp, lambda node: True], ids=["cut", "whole"])
@pytest.mark.parametrize("shape", [[2, 4], [-1, 4], [2, 8192]], ids=str)
@pytest.mark.parametrize("fault", ["wrong shape", "wrong type"])
def test_a_type_or_shape_that_does_not_fit_is_found_in_spite_of_the_promise(fault, shape, accepts, caplog):
    a = Promising(fault, 2, accepts)
    compiled = core_with(A=a, B=PickyPlugin()).compile_model(cut(shape), "HETERO:A,B")
    request = compiled.create_infer_request()
    for seed in range(3):
        x = np.random.default_rng(seed).standard_normal((2, shape[1]), np.float32)
        np.testing.assert_allclose(request.infer(x)[0], np.tanh(np.exp(np.maximum(x, 0))), rtol=1e-6)
    (warning,) = warnings_in(caplog)
    assert "no longer on A: A gave a wrong output" in warning or "cannot become" in warning
