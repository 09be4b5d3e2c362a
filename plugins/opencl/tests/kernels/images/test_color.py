"""Color conversions of video frames, compared with OpenVINO, or with the reference for other types."""

import numpy as np
import pytest

from tests.ops.oracle import Data

NV12, I420 = ("nv12_to_bgr", "nv12_to_rgb"), ("i420_to_bgr", "i420_to_rgb")


def image(*shape, dtype=np.uint8):
    return Data(np.random.default_rng(sum(shape)).integers(0, 256, shape).astype(dtype))


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("name", NV12 + I420)
def test_planes(openvino_agrees, reference_agrees, name, dtype):
    # OpenVINO's kernels add in another order, so integers differ where a color is close to .5.
    check = openvino_agrees if dtype == np.float32 else reference_agrees
    check(name, image(2, 12, 6, 1, dtype=dtype))
    colors = [(2, 4, 3, 2)] if name in NV12 else [(2, 4, 3, 1)] * 2
    check(name, image(2, 8, 6, 1, dtype=dtype), *(image(*shape, dtype=dtype) for shape in colors))


@pytest.mark.parametrize("name", ["nv12_to_rgb", "i420_to_bgr"])
@pytest.mark.parametrize("dtype, tolerance", [("f2", 1e-3), ("f8", 1e-6)])
def test_element_types(reference_agrees, name, dtype, tolerance):
    reference_agrees(name, image(2, 12, 6, 1, dtype=dtype), tolerance=tolerance)


@pytest.mark.parametrize("name", ["nv12_to_rgb", "i420_to_bgr"])
def test_nan_stays(reference_agrees, name):
    frame = image(2, 12, 6, 1, dtype=np.float32)
    frame.array[0, 1, 2] = frame.array[1, 9, 1] = np.nan
    reference_agrees(name, frame)
