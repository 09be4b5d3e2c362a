"""Convolutions with rarely used attributes, against ONNX Runtime."""

import pytest

from tests.frontend.onnx.test_operators import case, normal, test_operator

IMAGE, LINE, VOLUME = normal(2, 4, 7, 8), normal(2, 4, 9), normal(2, 4, 5, 6, 4)
# data, filters of a convolution and of a transposed one for two groups
SHAPES = [(LINE, (6, 2, 3), (4, 3, 3)), (IMAGE, (6, 2, 3, 2), (4, 3, 3, 2)), (VOLUME, (6, 2, 3, 2, 2), (4, 3, 3, 2, 2))]

DEFORMABLE = [
    (strides, dilations, pads, group, offset_group, rows, columns, mask, bias)
    for strides, dilations, pads, rows, columns in (
        ([1, 1], [1, 1], [0, 0, 0, 0], 5, 7),
        ([2, 1], [1, 2], [1, 0, 2, 1], 4, 7),
    )
    for group, offset_group in ((1, 1), (2, 1), (1, 2), (2, 4))
    for mask, bias in ((False, False), (True, True), (True, False))
]

CASES = [
    *[
        case("Conv", data, normal(*filters), group=2, strides=[2] * (data.ndim - 2), auto_pad=auto_pad)
        for data, filters, _ in SHAPES for auto_pad in ("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET")
    ],
    case("Conv", IMAGE, normal(6, 2, 3, 2), normal(6), group=2, dilations=[2, 3], pads=[1, 2, 3, 0], opset=1),
    case("Conv", VOLUME, normal(4, 1, 2, 3, 1), normal(4), group=4, dilations=[2, 1, 1], opset=22),
    case("Conv", IMAGE[:0], normal(6, 4, 3, 2), normal(6)),
    case("Conv", IMAGE, normal(6, 4, 1, 1), strides=[2, 3], pads=[1, 1, 0, 1]),
    *[
        case("ConvTranspose", data, normal(*filters), group=2, opset=opset, kernel_shape=filters[2:],
             dilations=[dilation] * (data.ndim - 2), strides=[stride] * (data.ndim - 2), auto_pad=auto_pad)
        for data, _, filters in SHAPES for auto_pad in ("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET")
        for stride, dilation, opset in ((1, 1, 1), (2, 1, 11), (3, 2, 22))
    ],
    *[
        case(
            "DeformConv", IMAGE, normal(6, 4 // group, 3, 2), 2 * normal(2, 12 * offset_group, rows, columns),
            normal(6) if bias else None, normal(2, 6 * offset_group, rows, columns) if mask else None, opset=opset,
            strides=strides, dilations=dilations, pads=pads, group=group, offset_group=offset_group,
        )
        for strides, dilations, pads, group, offset_group, rows, columns, mask, bias in DEFORMABLE
        for opset in (19, 22)
    ],
]  # fmt: skip


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_convolution(case, dynamic):
    test_operator(case, dynamic)
