"""Optional features: a device either has a feature or refuses it by the right error."""

import pytest

from hetero import Core
from hetero.conformance import report
from hetero.conformance.features import FEATURES
from hetero.conformance.samples import SampleModel


@pytest.mark.parametrize("feature", FEATURES)
def test_feature_works_or_is_reported_as_unsupported(
    core: Core, device: str, sample: SampleModel, feature: str, record_property: report.Record
) -> None:
    has = FEATURES[feature](core, device, sample)
    assert has in (True, False)
    record_property(report.FEATURE, [feature, has])
