"""Pooling of regions, against ONNX Runtime."""

import numpy as np
import pytest

from tests.frontend.onnx.test_operators import case, normal, test_operator

IMAGE = normal(2, 3, 9, 11)
BOXES = np.float32([[1, 2, 7, 6], [0, 0, 10, 8], [0.3, 1.7, 4.4, 7.9], [-3, -2, 4, 5], [6, 5, 15, 14], [4, 4, 4, 4]])
IMAGES = np.int64([0, 1, 1, 0, 1, 0])
REGIONS = np.hstack([IMAGES[:, None], BOXES]).astype(np.float32)

CASES = [
    *[
        case("RoiAlign", IMAGE, BOXES, IMAGES, mode=mode, sampling_ratio=ratio, spatial_scale=scale, output_height=3,
             output_width=2, opset=opset, **choice)
        for mode in ("avg", "max") for ratio in (0, 2) for scale in (1.0, 0.5)
        for opset, choice in ((10, {}), (16, {}), (16, {"coordinate_transformation_mode": "output_half_pixel"}))
    ],
    case("RoiAlign", IMAGE, BOXES, IMAGES, opset=10),
    *[
        case("MaxRoiPool", IMAGE, REGIONS, pooled_shape=[3, 2], spatial_scale=scale, opset=opset)
        for scale in (1.0, 0.5) for opset in (1, 13)
    ],
]  # fmt: skip


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_regions(case, dynamic):
    test_operator(case, dynamic)
