"""The device under HETERO."""

import pytest

from hetero import Model
from hetero.conformance.samples import UnknownOperation, assert_close
from hetero.errors import UnsupportedOperationError


def test_a_model_alone_on_the_device(core, device, sample):
    array = sample.array()
    compiled = core.compile_model(sample.model(length=3), f"HETERO:{device}")
    assert_close(compiled(array)[0], sample.expected(array, length=3), scale=3)
    report = compiled.get_property("PLACEMENT_REPORT")
    assert {operation.device for operation in report.operations} == {device}


def test_what_the_device_refuses_is_told_with_its_reason(core, device, sample):
    x = sample.parameter("x")
    model = Model(UnknownOperation(sample.node(x, "known"), name="unheard"), [x])
    reason = core.query_model(model, device).refused["unheard"]
    with pytest.raises(UnsupportedOperationError) as caught:
        core.compile_model(model, f"HETERO:{device}")
    assert "unheard" in str(caught.value) and reason in str(caught.value)
