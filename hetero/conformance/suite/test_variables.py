"""Variables (ReadValue and Assign): persistence between inferences, and reading, setting and resetting states."""

import numpy as np
import pytest

from hetero import CompiledModel, Core, InferRequest, Model, Tensor, Type, ops
from hetero.conformance.features import delay
from hetero.conformance.samples import SampleModel, assert_close
from hetero.graph import Constant
from hetero.system.errors import TensorError

pytestmark = pytest.mark.needs("variables")


@pytest.fixture
def compiled(core: Core, device: str, sample: SampleModel) -> CompiledModel:
    return core.compile_model(delay(sample), device)


@pytest.fixture
def delay_request(compiled: CompiledModel) -> InferRequest:
    return compiled.create_infer_request()


def check(request: InferRequest, sample: SampleModel, given: int, remembered: int) -> None:
    """Check that an inference with the array of seed ``given`` returns the result for that of seed ``remembered``."""
    assert_close(request.infer(sample.array(given))[0], sample.expected(sample.array(remembered)))


def test_variables_persist_between_inferences(delay_request: InferRequest, sample: SampleModel) -> None:
    for given, remembered in ((1, 9), (2, 1), (3, 2)):
        check(delay_request, sample, given, remembered)


def test_variables_of_requests_are_independent(compiled: CompiledModel, sample: SampleModel) -> None:
    one, two = compiled.create_infer_request(), compiled.create_infer_request()
    check(one, sample, 1, 9)
    check(two, sample, 2, 9)
    check(one, sample, 3, 1)
    check(two, sample, 3, 2)


def test_states_are_read_set_and_reset(delay_request: InferRequest, sample: SampleModel) -> None:
    (state,) = delay_request.query_state()
    assert state.name == "last"
    assert state.state.shape == sample.array().shape and not state.state.data.any(), "zeros while it is unset"
    check(delay_request, sample, 1, 9)
    np.testing.assert_array_equal(state.state.data, sample.array(1))
    array = sample.array(2)
    state.state = Tensor(array, shared_memory=True)
    array[...] = 0
    check(delay_request, sample, 3, 2)
    np.testing.assert_array_equal(state.state.data, sample.array(3))
    state.reset()
    check(delay_request, sample, 1, 9)
    delay_request.reset_state()
    check(delay_request, sample, 1, 9)


def test_variables_do_not_share_memory(delay_request: InferRequest, sample: SampleModel) -> None:
    given = sample.array(1)
    delay_request.infer(given, share_inputs=True)
    (state,) = delay_request.query_state()
    state.state.data[...] = 0
    given[...] = 0
    check(delay_request, sample, 2, 1)


def test_a_state_of_another_type_or_shape_is_refused(delay_request: InferRequest, sample: SampleModel) -> None:
    check(delay_request, sample, 1, 9)
    (state,) = delay_request.query_state()
    other = np.float64 if sample.element_type is not Type.f64 else np.float32
    for array in (sample.array().astype(other), sample.array(0, 3)):
        with pytest.raises(TensorError, match="variable 'last'"):
            state.state = Tensor(array)
    check(delay_request, sample, 2, 1)


def test_a_variable_that_is_read_after_it_is_assigned_has_its_old_contents(
    core: Core, device: str, sample: SampleModel
) -> None:
    """The first inference has the initial value, which is computed from what is assigned."""
    x = sample.parameter("x")
    assign = ops.Assign(x, "last", name="assign")
    read = ops.ReadValue(sample.node(assign, "start"), "last", name="read")
    model = Model(sample.node(read, "y"), [x], "late", sinks=[assign])
    request = core.compile_model(model, device).create_infer_request()
    assert_close(request.infer(sample.array(1))[0], sample.expected(sample.expected(sample.array(1))))
    for given, remembered in ((2, 1), (3, 2)):
        check(request, sample, given, remembered)


def test_the_last_of_several_assigns_counts(core: Core, device: str, sample: SampleModel) -> None:
    x, other = sample.parameter("x"), sample.parameter("other")
    read = ops.ReadValue(Constant(sample.array(9)), "last", name="read")
    sinks = [ops.Assign(value, "last", name=f"assign {name}") for value, name in ((other, "first"), (x, "second"))]
    model = Model(sample.node(read, "y"), [x, other], "twice", sinks=sinks)
    request = core.compile_model(model, device).create_infer_request()
    for given, remembered in ((1, 9), (2, 1), (3, 2)):
        found = request.infer([sample.array(given), sample.array(8)])[0]
        assert_close(found, sample.expected(sample.array(remembered)))
