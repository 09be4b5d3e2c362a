"""Pooling, compared with OpenVINO."""

import numpy as np
import pytest

import hetero
from hetero import Parameter, ops
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


@pytest.mark.parametrize("with_indices", [False, True])
def test_nan_is_the_largest_wherever_it_is_in_a_window(device, with_indices):
    data = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
    for row, column in ((0, 0), (1, 3), (4, 5), (7, 6)):  # each element of a window
        data[..., row, column] = np.nan
    parameter = Parameter(hetero.Type.f32, data.shape)
    node = ops.MaxPool(parameter, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2], auto_pad="explicit")
    outputs = node.outputs() if with_indices else node.outputs()[:1]
    expected = np.stack([data[..., i::2, j::2] for i in range(2) for j in range(2)]).max(0)
    for name in ("TEMPLATE", device):
        found = hetero.Core().compile_model(hetero.Model(outputs, [parameter], "m"), name)([data]).to_tuple()
        np.testing.assert_array_equal(found[0], expected)
        if with_indices:
            np.testing.assert_array_equal(data.reshape(-1)[found[1]], expected)
