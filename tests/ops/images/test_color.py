"""Conversions from NV12 and I420, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import HeteroError, ops
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

RANDOM = np.random.default_rng(8)
NV12, I420 = ("nv12_to_bgr", "nv12_to_rgb"), ("i420_to_bgr", "i420_to_rgb")


def image(*shape, dtype=np.uint8):
    return Data(RANDOM.integers(0, 256, shape).astype(dtype))


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("name", NV12 + I420)
def test_planes_in_one_input(name, dtype):
    same_results(name, image(2, 12, 6, 1, dtype=dtype), tolerance=1e-4)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("name", NV12)
def test_planes_of_nv12(name, dtype):
    same_results(name, image(2, 8, 6, 1, dtype=dtype), image(2, 4, 3, 2, dtype=dtype), tolerance=1e-4)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("name", I420)
def test_planes_of_i420(name, dtype):
    colors = [image(2, 4, 3, 1, dtype=dtype) for _ in range(2)]
    same_results(name, image(2, 8, 6, 1, dtype=dtype), *colors, tolerance=1e-4)


def unknown(*shapes):
    return [Unknown(shape, np.uint8) for shape in shapes]


@pytest.mark.parametrize(
    "shape", ["[...]", [-1, -1, -1, -1], [1, (2, 7), 4, 1], [1, (3, 9), (2, 5), 1], [1, -1, 4, -1]], ids=str
)
@pytest.mark.parametrize("name", ["nv12_to_bgr", "i420_to_rgb"])
def test_dynamic_shapes_in_one_input(name, shape):
    same_shapes(name, *unknown(shape))


@pytest.mark.parametrize(
    "shapes",
    [
        ("[...]", [1, 2, 2, 2]),
        ([1, 4, 4, 1], "[...]"),
        ([-1, 4, -1, 1], [2, -1, 3, 2]),
        ("[...]", "[...]"),
        ([1, (2, 6), 4, 1], [1, (2, 4), 2, 2]),
        ([(1, 3), 4, 4, 1], [(2, 5), 2, 2, 2]),
    ],
    ids=str,
)
def test_dynamic_shapes_of_planes(shapes):
    same_shapes("nv12_to_rgb", *unknown(*shapes))


def test_dynamic_shapes_of_three_planes():
    same_shapes("i420_to_bgr", *unknown("[...]", [1, 2, 2, 1], "[...]"))


@pytest.mark.parametrize(
    "case",
    [
        ("nv12_to_rgb", [1, 7, 4, 1]),
        ("nv12_to_rgb", [1, 6, 5, 1]),
        ("nv12_to_rgb", [1, 6, 4, 2]),
        ("nv12_to_rgb", [1, 6, 4]),
        ("nv12_to_rgb", [1, 4, 4, 1], [1, 2, 2, 1]),
        ("nv12_to_rgb", [1, 4, 4, 1], [1, 3, 2, 2]),
        ("i420_to_rgb", [1, 4, 4, 1], [1, 2, 2, 1], [1, 2, 3, 1]),
        ("i420_to_rgb", [1, 4, 4, 1], [1, 2, 2, 2], [1, 2, 2, 1]),
    ],
    ids=str,
)
def test_what_cannot_be(case):
    both_refuse(case[0], *unknown(*case[1:]))


def test_types_that_cannot_be():
    both_refuse("nv12_to_rgb", Unknown([1, 6, 4, 1], np.int32))
    both_refuse("nv12_to_rgb", Unknown([1, 4, 4, 1], np.uint8), Unknown([1, 2, 2, 2]))


def test_one_plane_of_colors_of_i420():
    y, u = ops.Parameter("u8", [1, 4, 4, 1]), ops.Parameter("u8", [1, 2, 2, 1])
    with pytest.raises(HeteroError, match="takes one input or 3, but has 2"):
        ops.I420toRGB(y, u)
