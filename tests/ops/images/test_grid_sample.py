"""GridSample, compared with OpenVINO."""

import numpy as np
import pytest

from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

RANDOM = np.random.default_rng(3)
DATA = RANDOM.standard_normal((2, 3, 5, 7), dtype=np.float32)
# Points inside the data and far outside.
GRID = RANDOM.uniform(-2.5, 2.5, (2, 6, 4, 2)).astype(np.float32)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest"])
@pytest.mark.parametrize("shape", [(5, 7), (1, 3)])
def test_modes(shape, mode, padding_mode, align_corners):
    data = Data(DATA[..., : shape[0], : shape[1]])
    attributes = {"align_corners": align_corners, "mode": mode, "padding_mode": padding_mode}
    same_results("grid_sample", data, Data(GRID), attributes, tolerance=1e-4)


def test_defaults():
    same_results("grid_sample", Data(DATA), GRID, {}, tolerance=1e-4)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest"])
def test_no_points(mode):
    same_results("grid_sample", Data(DATA), Data(GRID[:, :0]), {"mode": mode})


@pytest.mark.parametrize(
    "shapes",
    [
        ([-1, 3, (2, 4), -1], [2, (3, 5), -1, 2]),
        ("[...]", [2, 3, 4, 2]),
        ([2, 3, 4, 5], "[...]"),
        ([(1, 4), 3, 4, 5], [(2, 6), 3, 4, -1]),
    ],
    ids=str,
)
def test_dynamic_shapes(shapes):
    same_shapes("grid_sample", *map(Unknown, shapes), {})


@pytest.mark.parametrize(
    "shapes", [([2, 3, 4, 5], [3, 3, 4, 2]), ([2, 3, 4, 5], [2, 3, 4, 3]), ([2, 3, 4, 5], [2, 3, 2]), ([2, 3], "[...]")]
)
def test_what_cannot_be(shapes):
    both_refuse("grid_sample", *map(Unknown, shapes), {})


def test_points_are_not_whole_numbers():
    both_refuse("grid_sample", Unknown([2, 3, 4, 5]), Unknown([2, 3, 4, 2], np.int32), {})


def test_attributes_that_cannot_be():
    both_refuse("grid_sample", Unknown([2, 3, 4, 5]), Unknown([2, 3, 4, 2]), {"mode": "cubic"})
