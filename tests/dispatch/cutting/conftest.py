"""A device that fails, in each way."""

import pytest

from tests.dispatch.faulty import FAULTS, Faulty, no_exp


@pytest.fixture(params=FAULTS)
def faulty(request):
    """A device that works five times and then always fails."""
    plugin = Faulty(request.param, healthy=6, accepts=no_exp)
    yield plugin
    plugin.released.set()
