"""Image patches, Col2Im, deformable and binary convolution."""

import ml_dtypes
import numpy as np
import pytest

from tests.ops.convolution.test_deformable import WINDOWS
from tests.ops.movement.test_patches import RESULTS, ints
from tests.ops.oracle import Data, in_hetero, run

GENERATOR = np.random.default_rng(0)
HALVES = {np.float16: 2e-3, ml_dtypes.bfloat16: 2e-2}


def numbers(*shape, dtype=np.float32):
    if np.dtype(dtype).kind in "iu":
        return Data(GENERATOR.integers(0, 100, shape, dtype))
    return Data(GENERATOR.standard_normal(shape).astype(dtype))


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: case[0])
def test_patches(openvino_agrees, case):
    name, opset, *arguments = case
    openvino_agrees(name, *arguments, opset=opset)


@pytest.mark.parametrize("dtype", [*HALVES, np.float64, np.int8, np.uint16, np.int32, np.int64])
def test_types_of_patches(reference_agrees, dtype):
    tolerance = HALVES.get(dtype, 1e-6)
    columns, image = numbers(2, 12, 9, dtype=dtype), numbers(1, 2, 7, 8, dtype=dtype)
    reference_agrees("col2im", columns, ints(4, 4), ints(2, 2), opset=15, tolerance=tolerance)
    reference_agrees("extract_image_patches", image, [2, 3], [1, 2], [3, 2], "same_lower", tolerance=0)


def test_images_of_other_dimensions(reference_agrees):
    reference_agrees("col2im", numbers(2, 6, 4), ints(5), ints(2), opset=15)
    reference_agrees("col2im", numbers(2, 24, 12), ints(3, 4, 3), ints(2, 2, 2), opset=15)


def deformable(window, group, deformable_group, dtype=np.float32):
    (*values, auto_pad), positions = window
    data, filters = numbers(2, 4, 7, 8, dtype=dtype), numbers(4, 4 // group, 3, 2, dtype=dtype)
    offsets, mask = (
        Data((2 * numbers(2, each * deformable_group * 6, *positions).array).astype(dtype)) for each in (2, 1)
    )
    stride, dilation, begin, end = ([value] * 2 for value in values)
    return (data, offsets, filters, stride, begin, end, dilation), mask, (auto_pad, group, deformable_group)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("group", "deformable_group"), [(1, 1), (2, 4)])
def test_deformable_convolution(openvino_agrees, group, deformable_group, window):
    arguments, mask, groups = deformable(window, group, deformable_group)
    openvino_agrees("deformable_convolution", *arguments, *groups, opset=1)
    for weights in (None, mask):
        for border in (False, True):
            openvino_agrees("deformable_convolution", *arguments, weights, *groups, border)


@pytest.mark.parametrize("dtype", [*HALVES, np.float64])
def test_types_of_deformable_convolution(reference_agrees, dtype):
    arguments, mask, groups = deformable(WINDOWS[1], 2, 2, dtype)
    reference_agrees("deformable_convolution", *arguments, mask, *groups, True, tolerance=HALVES.get(dtype, 1e-6))


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.uint8, np.int32])
def test_types_of_binary_convolution(reference_agrees, dtype):
    data, filters = (
        GENERATOR.integers(0, 2, (1, 3, 6, 7)).astype(dtype),
        GENERATOR.integers(0, 2, (4, 3, 3, 2), np.uint8),
    )
    window = ([1, 1], [1, 1], [1, 1], [1, 1])
    reference_agrees("binary_convolution", Data(data), filters, *window, "xnor-popcount", 1.0, tolerance=0)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, ml_dtypes.uint1])
@pytest.mark.parametrize("pad_value", [0.0, 1.0, -1.0])
@pytest.mark.parametrize(("stride", "dilation", "pad"), [(1, 1, 0), (2, 1, 1), (1, 2, 2)])
def test_binary_convolution(compute, stride, dilation, pad, pad_value, dtype):
    data, filters = (GENERATOR.integers(0, 2, shape) for shape in ((2, 3, 6, 7), (4, 3, 3, 2)))
    window = [[value] * 2 for value in (stride, pad, pad, dilation)]
    arguments = (Data(data.astype(np.float32)), filters.astype(dtype), *window, "xnor-popcount", pad_value)
    (found,) = compute("binary_convolution", arguments, {})
    node, parameters = in_hetero("binary_convolution", 13, arguments, {})
    np.testing.assert_array_equal(found, run(node, parameters, [arguments[0].array])[0])
