"""The device under HETERO."""

import pytest

from hetero import Core
from hetero.conformance.samples import SampleModel
from hetero.system.errors import UnsupportedOperationError

pytestmark = pytest.mark.needs("placement by HETERO")


def test_a_model_alone_on_the_device(core: Core, device: str, sample: SampleModel) -> None:
    compiled = core.compile_model(sample.model(length=3), f"HETERO:{device}")
    sample.check(compiled, length=3)
    report = compiled.get_property("PLACEMENT_REPORT")
    assert {operation.device for operation in report.operations} == {device}


def test_error_gives_the_reason_for_an_unsupported_operation(core: Core, device: str, sample: SampleModel) -> None:
    model = sample.with_unknown_operation()
    reason = core.query_model(model, device).refused["unheard"]
    with pytest.raises(UnsupportedOperationError) as caught:
        core.compile_model(model, f"HETERO:{device}")
    assert "unheard" in str(caught.value) and reason in str(caught.value)
