"""Device TEMPLATE through Core, as the installed package brings it."""

from datetime import timedelta

import numpy as np
import pytest

from hetero import Core, Model, Op, Parameter, Type, ops
from hetero.plugin import STAGES
from hetero.system.errors import UnsupportedOperationError

core = Core()


class Unheard(Op):
    """An operation that the reference does not know."""

    inputs = ("x",)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


def model() -> Model:
    x = Parameter(Type.f32, [-1, 2], name="x")
    return Model(ops.Exp(ops.Relu(x, name="relu"), name="exp"), [x], "small")


def test_it_is_found_by_its_entry_point():
    assert "TEMPLATE" in core.available_devices
    assert core.get_property("TEMPLATE", "FULL_DEVICE_NAME") == "numpy reference"


def test_results_of_every_shape():
    request = core.compile_model(model(), "TEMPLATE").create_infer_request()
    for rows in (1, 3, 0, 2):
        x = np.random.default_rng(rows).standard_normal([rows, 2]).astype(np.float32)
        np.testing.assert_allclose(request.infer(x)[0], np.exp(np.maximum(x, 0)), rtol=1e-6)


@pytest.mark.parametrize("profiled", [False, True])
def test_a_profile_names_the_operations_when_asked_for(profiled):
    request = core.compile_model(model(), "TEMPLATE", {"PERF_COUNT": profiled}).create_infer_request()
    request.infer(np.ones([1, 2], np.float32))
    infos = request.profiling_info
    stages = [(stage, "Stage") for stage in STAGES]
    expected = [*stages, ("relu", "Relu"), ("exp", "Exp")] if profiled else []
    assert [(i.node_name, i.node_type) for i in infos] == expected
    assert all(info.real_time >= info.cpu_time >= timedelta(0) for info in infos)


def test_what_the_reference_does_not_know_is_refused_by_name():
    x = Parameter(Type.f32, [1], name="x")
    unheard = Model(Unheard(ops.Relu(x, name="relu"), name="mine"), [x])
    found = core.query_model(unheard, "TEMPLATE")
    assert "relu" in found and found.refused == {
        "mine": "the reference does not evaluate extension::Unheard: its class has no evaluate"
    }
    with pytest.raises(UnsupportedOperationError, match=r"TEMPLATE cannot run Unheard 'mine' \(the reference does not"):
        core.compile_model(unheard, "TEMPLATE")


def test_values_that_are_no_longer_needed_are_let_go():
    """The steps free each value after its last reader, but not what is handed out."""
    compiled = core.compile_model(model(), "TEMPLATE")._compiled
    relu, exp = compiled.program.steps
    assert set(relu.writes) <= set(exp.frees) and not set(exp.writes) & set(exp.frees)
