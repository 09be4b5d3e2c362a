"""GridSample, compared with OpenVINO, or with the reference for what OpenVINO lacks."""

import ml_dtypes
import numpy as np
import pytest

from tests.ops.oracle import Data

RANDOM = np.random.default_rng(3)
DATA = RANDOM.standard_normal((2, 11, 5, 7), dtype=np.float32)
# Points within the data and far outside.
GRID = RANDOM.uniform(-2.5, 2.5, (2, 6, 4, 2)).astype(np.float32)
MODES = ["bilinear", "bicubic", "nearest"]
PADDINGS = ["zeros", "border", "reflection"]


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding_mode", PADDINGS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(5, 7), (1, 3)])
def test_modes(openvino_agrees, shape, mode, padding_mode, align_corners):
    data = Data(DATA[..., : shape[0], : shape[1]])
    attributes = {"align_corners": align_corners, "mode": mode, "padding_mode": padding_mode}
    openvino_agrees("grid_sample", data, Data(GRID), attributes)


@pytest.mark.parametrize("padding_mode", PADDINGS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(6,), (3, 4, 5)])
def test_other_ranks(reference_agrees, shape, mode, padding_mode):
    data = RANDOM.standard_normal((2, 3, *shape), dtype=np.float32)
    grid = RANDOM.uniform(-1.5, 1.5, (2, *[4] * len(shape), len(shape))).astype(np.float32)
    reference_agrees("grid_sample", Data(data), Data(grid), {"mode": mode, "padding_mode": padding_mode})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "dtype, of_points, tolerance",
    [
        ("f2", "f2", 1e-3), (ml_dtypes.bfloat16, "f4", 1e-2), ("f8", "f8", 1e-6), ("f4", "f8", 1e-5),
        ("i4", "f4", 0), ("u1", "f4", 0), ("i8", "f4", 0), ("?", "f4", 0),
    ],
    ids=str,
)  # fmt: skip
def test_element_types(reference_agrees, mode, dtype, of_points, tolerance):
    data = (DATA > 0 if dtype == "?" else abs(DATA) * 50).astype(dtype)
    reference_agrees("grid_sample", Data(data), Data(GRID.astype(of_points)), {"mode": mode}, tolerance=tolerance)


@pytest.mark.parametrize("padding_mode", PADDINGS)
def test_points_that_are_nan_or_infinite(compute, padding_mode):
    """The results at these points are undefined, but those at other points must be right."""
    grid = GRID.copy()
    grid[0, 0] = [[np.nan, 0], [np.inf, -np.inf], [1e30, -1e30], [3e9, 0.1]]
    attributes = {"padding_mode": padding_mode}
    (found,) = compute("grid_sample", (Data(DATA), Data(grid), attributes), {})
    (expected,) = compute("grid_sample", (Data(DATA), Data(GRID), attributes), {})
    np.testing.assert_array_equal(found[:, :, 1:], expected[:, :, 1:])


def test_no_data_and_no_points(compute):
    (found,) = compute("grid_sample", (Data(DATA[:, :, :0]), Data(GRID), {}), {})
    np.testing.assert_array_equal(found, np.zeros((2, 11, 6, 4), np.float32), strict=True)
    (found,) = compute("grid_sample", (Data(DATA), Data(GRID[:, :0]), {}), {})
    assert found.shape == (2, 11, 0, 4)
