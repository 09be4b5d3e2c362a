"""Convolutions of other element types, over one to three dimensions, and with filters from inputs."""

import ml_dtypes
import numpy as np
import pytest

from tests.ops.oracle import Data

GENERATOR = np.random.default_rng(0)
LENGTHS, KERNEL = (6, 8, 19), (3, 2, 3)
# stride, dilation, pads_begin, pads_end, auto_pad
WINDOWS = [
    (1, 1, 0, 0, "explicit"),
    (2, 1, 1, 1, "explicit"),
    (1, 2, 2, 1, "explicit"),
    (3, 2, 0, 0, "same_lower"),
]
# Factory, channels of the data, leading dimensions of the filters.
FORWARD = [
    ("convolution", 3, (4, 3)),
    ("group_convolution", 4, (2, 3, 2)),
    ("group_convolution", 4, (4, 2, 1)),
]
BACKWARD = [("convolution_backprop_data", 3, (3, 2)), ("group_convolution_backprop_data", 4, (2, 2, 3))]
HALVES = [np.float16, ml_dtypes.bfloat16]
TYPES = [*HALVES, np.float64, *(np.dtype(f"{sign}{size}") for sign in "iu" for size in (1, 2, 4, 8))]

each_window = pytest.mark.parametrize("window", WINDOWS)
each_type = pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)


def numbers(*shape, dtype=np.float32):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return GENERATOR.integers(info.min, info.max, shape, dtype, endpoint=True)
    return GENERATOR.standard_normal(shape).astype(dtype)


def each(dimensions, *values):
    return [[value] * dimensions for value in values]


@pytest.mark.parametrize("dimensions", [1, 3])
@each_window
@pytest.mark.parametrize(("name", "channels", "leading"), FORWARD)
def test_forward(openvino_agrees, name, channels, leading, window, dimensions):
    stride, dilation, begin, end, auto_pad = window
    filters = numbers(*leading, *KERNEL[:dimensions])
    data, attributes = numbers(2, channels, *LENGTHS[:dimensions]), each(dimensions, stride, begin, end, dilation)
    openvino_agrees(name, Data(data), filters, *attributes, auto_pad)


@pytest.mark.parametrize("dimensions", [1, 3])
@each_window
@pytest.mark.parametrize(("name", "channels", "leading"), BACKWARD)
def test_backward(openvino_agrees, name, channels, leading, window, dimensions):
    stride, dilation, begin, end, auto_pad = window
    data, filters = numbers(2, channels, *LENGTHS[:dimensions]), numbers(*leading, *KERNEL[:dimensions])
    strides, *attributes = each(dimensions, stride, begin, end, dilation)
    openvino_agrees(name, Data(data), filters, strides, None, *attributes, auto_pad, [1] * dimensions)


@pytest.mark.parametrize(("name", "channels", "leading"), FORWARD + BACKWARD)
def test_filters_that_are_computed(openvino_agrees, name, channels, leading):
    data, filters = numbers(2, channels, 9, 18), numbers(*leading, 3, 2)
    arguments = ([2, 1], [1, 0], [1, 2], [1, 1])
    if "backprop" in name:
        arguments = (arguments[0], None, *arguments[1:])
    openvino_agrees(name, Data(data), Data(filters), *arguments)


@each_type
@pytest.mark.parametrize(("name", "channels", "leading"), [*FORWARD[1:], BACKWARD[1]])
def test_types(reference_agrees, name, channels, leading, dtype):
    data, filters = numbers(2, channels, 5, 18, dtype=dtype), numbers(*leading, 3, 2, dtype=dtype)
    arguments = ([2, 1], [1, 0], [1, 2], [1, 1])
    if "backprop" in name:
        arguments = (arguments[0], None, *arguments[1:])
    tolerance = {np.float16: 1e-3, ml_dtypes.bfloat16: 8e-3}.get(dtype, 1e-5)
    reference_agrees(name, Data(data), filters, *arguments, tolerance=tolerance)


def test_padding_of_a_pointwise_convolution(openvino_agrees):
    openvino_agrees("convolution", Data(numbers(1, 2, 3, 4)), numbers(3, 2, 1, 1), [1, 1], [0, 0], [1, 2], [1, 1])


@pytest.mark.parametrize(("name", "leading"), [("convolution", (3, 2)), ("group_convolution", (2, 1, 1))])
def test_negative_padding(reference_agrees, name, leading):
    arguments = ([1, 2], [-1, 2], [2, -1], [1, 1])
    reference_agrees(name, Data(numbers(1, 2, 7, 20)), numbers(*leading, 3, 3), *arguments)


def test_no_images_or_channels(reference_agrees):
    arguments = ([1, 1], [1, 1], [1, 1], [1, 1])
    reference_agrees("convolution", Data(numbers(0, 2, 3, 4)), numbers(3, 2, 3, 3), *arguments)
    reference_agrees("convolution", Data(numbers(1, 0, 3, 4)), numbers(3, 0, 3, 3), *arguments)
