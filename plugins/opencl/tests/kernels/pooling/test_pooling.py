"""Pooling, compared with OpenVINO."""

import numpy as np
import pytest

from tests.ops.oracle import Data

# Spatial shape, kernel, stride, dilation, pads in front and behind, rounding_type, auto_pad.
WINDOWS = [
    ((9,), 3, 2, 1, 1, 1, "floor", None),
    ((40,), 2, 1, 2, 0, 1, "ceil", None),
    ((9, 8), 2, 2, 1, 0, 0, "floor", None),
    ((9, 40), 3, 2, 1, 1, 1, "ceil", None),
    ((20, 41), 3, 1, 2, 2, 2, "floor", None),
    ((20, 41), 3, 1, 1, 0, 0, "floor", "same_upper"),
    ((12, 70), 3, 2, 1, 0, 0, "floor", "same_lower"),
    ((12, 70), 5, 3, 1, 2, 2, "floor", None),
    ((33, 17), 5, 1, 1, 2, 2, "floor", None),
    ((12, 70), 3, 2, 1, 0, 0, "ceil", "valid"),
    ((7, 7), 7, 1, 1, 0, 0, "floor", None),
    ((5, 6, 20), 3, 2, 1, 1, 0, "ceil", None),
    ((5, 6, 20), 2, 1, 1, 0, 1, "floor", None),
    # Windows far outside the data.
    ((3, 3), 40, 1, 1, 39, 39, "floor", None),
    ((2, 50), 1, 2, 1, 0, 0, "floor", None),
]
CASES = [("max_pool", None), ("avg_pool", True), ("avg_pool", False)]


@pytest.mark.parametrize("name, exclude_pad", CASES)
@pytest.mark.parametrize("window", WINDOWS)
def test_windows(openvino_agrees, name, exclude_pad, window):
    shape, *numbers, rounding, auto_pad = window
    kernel, stride, dilation, begin, end = ([number] * len(shape) for number in numbers)
    data = np.random.default_rng(0).standard_normal((2, 3, *shape), np.float32) - 3
    if name == "max_pool":
        arguments = (Data(data), stride, dilation, begin, end, kernel, rounding, auto_pad)
    else:
        arguments = (Data(data), stride, begin, end, kernel, exclude_pad, rounding, auto_pad)
    openvino_agrees(name, *arguments)


# MaxPool of opset1; rounding as in PyTorch; AvgPool with dilations.
VERSIONS = [
    (1, "max_pool", ([2], [1], [1], [3], "ceil")),
    (14, "max_pool", ([3], [1], [1], [1], [3], "ceil_torch")),
    (14, "avg_pool", ([3], [1], [1], [3], True, "ceil_torch")),
    (14, "avg_pool", ([3], [1], [1], [3], False, "ceil_torch")),
    (16, "avg_pool", ([3], [1], [1], [3], True, "floor", None, [2])),
    (16, "avg_pool", ([3], [1], [1], [3], False, "ceil_torch", None, [2])),
]


@pytest.mark.parametrize("opset, name, window", VERSIONS, ids=str)
@pytest.mark.parametrize("length", [8, 40])
def test_versions(openvino_agrees, length, opset, name, window):
    data = np.random.default_rng(0).standard_normal((2, 3, length), np.float32)
    openvino_agrees(name, Data(data), *window, opset=opset)
