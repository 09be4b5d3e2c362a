"""Launches of gemm fill a GPU: two work-groups for each of its units at least."""

import math

import pytest
from hetero_opencl.estimate.lower_for_profile import lower_for_profile
from hetero_opencl.profiles.hardware import hardware_of

from tests import zoo
from tests.gpu.estimates import FILLED
from tests.gpu.programs import zoo_models

# Shares of the launches of gemm in the zoo that do not: small products, whose depth is too short to be divided.
SHARES = {"rx_7900": 0.06, "arc_a770": 0.01, "rtx_4090": 0.08, "hd_530": 0.01}


@pytest.mark.parametrize("profile", SHARES)
def test_gemms_of_the_zoo_fill_a_gpu(profile):
    hardware = hardware_of(profile)
    groups = [
        math.prod(items // of_group for items, of_group in zip(launch.global_size, launch.local_size))
        for _, example in zip(zoo.ONNX, zoo_models())
        for launch in lower_for_profile(example.model, hardware.profile(), example.inputs).launches
        if launch.kernel in ("group_gemm", "gemm")
    ]
    assert len(groups) > 400
    assert sum(count < FILLED * hardware.units for count in groups) < SHARES[profile] * len(groups)
