"""Optional features: a device either has a feature or refuses it by the right error."""

import pytest

from hetero import Core
from hetero.conformance import report
from hetero.conformance.features import FEATURES
from hetero.conformance.samples import Sample


@pytest.mark.parametrize("feature", FEATURES)
def test_a_device_has_it_or_says_that_it_has_not(
    core: Core, device: str, sample: Sample, feature: str, record_property: report.Record
) -> None:
    has = FEATURES[feature](core, device, sample)
    assert has in (True, False)
    record_property(report.FEATURE, [feature, has])
