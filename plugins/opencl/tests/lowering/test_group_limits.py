"""Kernels run on devices with small work-groups and little local memory; what is too large is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hetero_opencl.device.device import present_devices

from hetero import Core, Model, Parameter, Type, ops
from hetero.system.errors import DeviceError
from tests.devices import GPU_LIMITS
from tests.ops.oracle import Data

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def processor():
    """Each test runs once, with the profile of ``limited``."""


@pytest.fixture
def limit(monkeypatch):
    """Return a function that gives devices the profiles of GPUs, with groups of at most ``work_items``."""

    def use(work_items: int, local_memory_bytes: int = 1024) -> None:
        limits = {**GPU_LIMITS, "max_work_group_size": work_items, "local_memory_bytes": local_memory_bytes}
        for one in present_devices().usable:
            monkeypatch.setattr(one, "profile", replace(one.profile, **limits))

    return use


def data(*shape: int, dtype=np.float32) -> Data:
    return Data((10 * RNG.standard_normal(shape)).astype(dtype))


CASES = {
    "a sum of long rows": ("ReduceSum", data(3, 5000), np.array([1])),
    "a mean of i64, in two parts": ("ReduceMean", data(2, 4000, dtype=np.int64), np.array([1])),
    "a norm of all elements": ("ReduceL2", data(40, 300), np.array([0, 1])),
    "a softmax of long rows": ("Softmax", data(4, 3000), -1),
    "a normalization of long rows": ("MVN", data(2, 3, 900), np.array([1, 2]), True, 1e-6, "INSIDE_SQRT"),
    "elements in rows": ("Add", data(5, 700), data(700)),
    "the largest elements": ("TopK", data(2, 700), 5, 1, "max", "value"),
    "a product": ("MatMul", data(70, 90), data(90, 110), False, False),
}


@pytest.mark.parametrize("limits", [(64, 1024), (128, 4096)], ids=str)
@pytest.mark.parametrize("case", CASES)
def test_groups_are_as_small_as_the_device_asks(reference_agrees, limit, case, limits):
    limit(*limits)
    reference_agrees(*CASES[case], tolerance=1e-4)


def test_an_error_names_the_operation_and_the_limit(device, limit):
    limit(16)
    x = Parameter(Type.f32, (100,))
    model = Model(ops.CumSum(ops.Relu(x, name="rectified"), 0), [x])
    with pytest.raises(DeviceError, match="'rectified' needs work-groups of 64 work-items on .*; the maximum is 16"):
        Core().compile_model(model, device)


def test_elements_are_counted_in_32_bits(device):
    """More than 2³¹ - 1 elements, as of a tensor of more than 8 GiB, are refused before memory is allocated."""
    rows, columns = Parameter(Type.f32, [70_000, 1]), Parameter(Type.f32, [1, 70_000])
    model = Model(ops.Add(rows, columns, name="table"), [rows, columns])
    with pytest.raises(DeviceError, match="'table' needs 4900000000 elements at once; the maximum is 2147483647"):
        Core().compile_model(model, device)


def test_the_largest_group_depends_on_both_limits():
    profile = replace(present_devices().usable[0].profile, max_work_group_size=192, local_memory_bytes=1000)
    assert [profile.largest_group(most) for most in (64, 192, 256)] == [64, 192, 128]
    assert [profile.largest_group(64, each) for each in (8, 16, 1000, 2000)] == [64, 32, 1, 1]
