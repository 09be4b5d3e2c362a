"""GridSample, against ONNX Runtime."""

import numpy as np
import pytest

from tests.frontend.onnx.test_operators import case, normal, test_operator

IMAGE, VOLUME = normal(2, 3, 5, 6), normal(2, 3, 4, 5, 3)
POINTS, POINTS_3D = 1.5 * normal(2, 4, 3, 2), 1.5 * normal(2, 2, 3, 2, 3)

CASES = [
    *[
        case("GridSample", IMAGE, POINTS, mode=mode, padding_mode=padding, align_corners=corners, opset=opset)
        for opset, modes in ((16, ("bilinear", "bicubic", "nearest")), (20, ("linear", "cubic", "nearest")))
        for mode in modes
        for padding in ("zeros", "border", "reflection")
        for corners in (0, 1)
    ],
    *[
        case("GridSample", VOLUME, POINTS_3D, mode=mode, padding_mode=padding, align_corners=corners, opset=20)
        for mode in ("linear", "nearest")
        for padding in ("zeros", "border", "reflection")
        for corners in (0, 1)
    ],
    case("GridSample", IMAGE, POINTS, opset=16),
    case("GridSample", IMAGE, POINTS, opset=22),
    case("GridSample", IMAGE.astype(np.float64), POINTS.astype(np.float64), opset=20),
]


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_sampling(case, dynamic):
    test_operator(case, dynamic)
