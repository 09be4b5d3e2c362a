"""Hard values: the conformance kit's table on each device, of which `make test` runs a sample."""

import numpy as np
import pytest

from hetero import Core, Type
from hetero.conformance.hard_values import CellRunner, assert_right, cells
from tests.devices import ENGINES, GPUS
from tests.tiers import in_sample

CORE = Core()
CELLS = list(cells())
# The cells for one that runs on a device; kernels and primitives take longer to make than TEMPLATE takes.
ONE_IN = {"TEMPLATE": 12, **dict.fromkeys(ENGINES, 60), GPUS[0]: 60, **dict.fromkeys(GPUS[1:], 240)}


def sampled(device):
    for cell in CELLS:
        for dynamic in (False, True):
            name = f"{cell.name}-{'dynamic' if dynamic else 'static'}"
            if cell.arrays and in_sample(f"{device} {name}", ONE_IN[device]):
                yield pytest.param(device, cell, dynamic, id=f"{device}-{name}")


@pytest.mark.own_sample
@pytest.mark.parametrize(("device", "cell", "dynamic"), [case for device in ONE_IN for case in sampled(device)])
def test_device_is_right_or_refuses(device, cell, dynamic):
    CellRunner(CORE, device, dynamic).run(cell)


def test_each_cell_has_inputs_or_a_reason():
    assert all(bool(cell.arrays) != bool(cell.reason) for cell in CELLS)
    assert len({cell.name for cell in CELLS}) == len(CELLS)


def cell_named(name):
    return next(cell for cell in CELLS if cell.name == name)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("Relu-f32-NaN", lambda results: np.nan_to_num(results, nan=0.0)),
        ("Abs-i64-beyond_i32", lambda results: results.astype(np.int32).astype(np.int64)),
        ("Exp-f32-near_one", lambda results: results * np.float32(1 + 1e-6)),
        ("ReduceSum-i32-beyond_f32", lambda results: results.astype(np.float32).astype(np.int32)),
        ("Transpose-f16-moved_axis_of_length_1", lambda results: results.swapaxes(1, 2)),
    ],
)
def test_wrong_results_are_noticed(name, wrong):
    cell = cell_named(name)
    expected = cell.operation.expected(cell.arrays)
    assert_right(cell, expected)
    with pytest.raises(AssertionError, match=r"output 0"):
        assert_right(cell, [wrong(expected[0]), *expected[1:]])


def test_denormals_may_count_as_zeros():
    cell = cell_named("Log-f32-denormals")
    denormal = np.abs(cell.arrays[0]) < np.finfo(np.float32).tiny
    results = np.where(denormal, np.float32(-np.inf), cell.operation.expected(cell.arrays)[0])
    assert_right(cell, [results])


def test_kinds_of_hard_values():
    of_sum = {cell.hard_value for cell in CELLS if cell.operation.name == "Add" and cell.kind is Type.i64}
    assert of_sum >= {"extremes", "beyond f64", "scalar", "rank 6", "empty", "large", "strided"}
