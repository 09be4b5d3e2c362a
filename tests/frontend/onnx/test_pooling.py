"""Poolings, against ONNX Runtime."""

import numpy as np
import pytest

from tests.frontend.onnx.test_operators import case, normal, test_operator

IMAGE, LINE, VOLUME = normal(2, 3, 9, 8), normal(2, 3, 9), normal(2, 3, 7, 6, 5)

# kernel, strides, pads: with windows that begin behind the data, and that end behind the padding
CEIL = [
    ([1, 1], [2, 2], [0, 0, 0, 0]),
    ([2, 2], [2, 2], [0, 0, 0, 0]),
    ([3, 3], [3, 3], [1, 1, 1, 1]),
    ([3, 2], [3, 2], [1, 0, 2, 1]),
    ([3, 4], [4, 4], [1, 0, 1, 2]),
    ([4, 3], [2, 3], [0, 1, 3, 1]),
]
CASES = [
    *[
        case("MaxPool", IMAGE, kernel_shape=kernel, strides=strides, pads=pads, ceil_mode=1, opset=opset)
        for kernel, strides, pads in CEIL
        for opset in (10, 22)
    ],
    *[
        case("AveragePool", IMAGE, kernel_shape=kernel, strides=strides, pads=pads, ceil_mode=1,
             count_include_pad=count, opset=opset)
        for kernel, strides, pads in CEIL for count in (0, 1) for opset in (10, 22)
    ],
    *[
        case("LpPool", IMAGE, kernel_shape=kernel, strides=strides, pads=pads, p=p, opset=11)
        for kernel, strides, pads in CEIL for p in (1, 2, 3)
    ],
    *[
        case("LpPool", IMAGE, kernel_shape=kernel, strides=strides, pads=pads, ceil_mode=1, opset=18)
        for kernel, strides, pads in CEIL
    ],
    case("LpPool", IMAGE, kernel_shape=[2, 3], dilations=[2, 1], opset=18),
    *[case("LpPool", IMAGE, kernel_shape=[2, 3], strides=[2, 2], auto_pad=p) for p in ("SAME_UPPER", "SAME_LOWER")],
    case("LpPool", LINE, kernel_shape=[3], strides=[2], opset=2),
    case("LpPool", VOLUME, kernel_shape=[2, 2, 2]),
    *[case("GlobalLpPool", data, p=p, opset=2) for data in (IMAGE, LINE, VOLUME) for p in (1, 2, 3)],
    *[
        case("MaxPool", data, kernel_shape=[2] * (data.ndim - 2), strides=[2] * (data.ndim - 2), storage_order=order,
             outputs=2)
        for data in (LINE, IMAGE, VOLUME) for order in (0, 1)
    ],
    case("MaxPool", IMAGE, kernel_shape=[3, 3], dilations=[2, 1], pads=[1, 1, 1, 0], storage_order=1, outputs=2),
    case("MaxPool", (IMAGE * 50).astype(np.uint8), kernel_shape=[3, 3], pads=[1, 1, 1, 1], opset=12),
    case("MaxPool", (IMAGE * 50).astype(np.int8), kernel_shape=[3, 3], pads=[1, 1, 1, 1], opset=12),
    *[
        case("AveragePool", IMAGE, kernel_shape=[3, 2], dilations=[2, 3], pads=[1, 1, 2, 1], strides=[2, 3],
             count_include_pad=count, ceil_mode=ceil, opset=opset)
        for count in (0, 1) for ceil in (0, 1) for opset in (19, 22)
    ],
]  # fmt: skip


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_pooling(case, dynamic):
    test_operator(case, dynamic)
