"""Convolutions, compared with OpenVINO."""

import ml_dtypes
import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from hetero import ops
from tests.ops.oracle import Data, Unknown, both_refuse, run, same_results, same_shapes

LENGTHS = (9, 8, 7)
KERNEL = (3, 2, 3)
# stride, dilation, pads_begin, pads_end, auto_pad
WINDOWS = [
    (1, 1, 0, 0, "explicit"),
    (2, 1, 1, 1, "explicit"),
    (1, 2, 2, 1, "explicit"),
    (2, 1, 0, 0, "same_upper"),
    (2, 1, 0, 0, "same_lower"),
    (3, 2, 0, 0, "same_upper"),
    (2, 2, 0, 0, "valid"),
]
# factory, channels of the data, leading dimensions of the filters, kernel size or None for KERNEL
FORWARD = [
    ("convolution", 3, (4, 3), None),
    ("convolution", 3, (4, 3), 1),
    ("group_convolution", 4, (2, 3, 2), None),
    ("group_convolution", 4, (4, 1, 1), None),
    ("group_convolution", 4, (4, 2, 1), None),
    ("group_convolution", 4, (4, 1, 1), 1),
    ("group_convolution", 2, (1, 3, 2), None),
]
BACKWARD = [("convolution_backprop_data", 3, (3, 2)), ("group_convolution_backprop_data", 4, (2, 2, 3))]
DIMENSIONS = pytest.mark.parametrize("dimensions", [1, 2, 3])


def random(*shape):
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


@DIMENSIONS
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("name", "channels", "leading", "size"), FORWARD)
def test_convolution(name, channels, leading, size, window, dimensions):
    stride, dilation, begin, end, auto_pad = window
    data = random(2, channels, *LENGTHS[:dimensions])
    filters = random(*leading, *(KERNEL if size is None else (size,) * 3)[:dimensions])
    each = [[value] * dimensions for value in (stride, begin, end, dilation)]
    same_results(name, Data(data), filters, *each, auto_pad, tolerance=1e-4)


@DIMENSIONS
@pytest.mark.parametrize("output_padding", [0, 1])
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("name", "channels", "leading"), BACKWARD)
def test_backprop(name, channels, leading, window, output_padding, dimensions):
    stride, dilation, begin, end, auto_pad = window
    data, filters = random(2, channels, *LENGTHS[:dimensions]), random(*leading, *KERNEL[:dimensions])
    strides, begin, end, dilations, padding = (
        [value] * dimensions for value in (stride, begin, end, dilation, output_padding)
    )
    same_results(
        name, Data(data), Data(filters), strides, None, begin, end, dilations, auto_pad, padding, tolerance=1e-4
    )


@pytest.mark.parametrize("output_padding", [0, 1])
@pytest.mark.parametrize("auto_pad", ["explicit", "same_upper", "same_lower", "valid"])
@pytest.mark.parametrize("length", [15, 16, 17, 18, 19])
def test_backprop_to_a_given_shape(length, auto_pad, output_padding):
    shape = np.array([length, length + 2])
    attributes = [1, 0], [0, 0], [1, 1], auto_pad, [output_padding] * 2
    same_results(
        "convolution_backprop_data", Data(random(1, 2, 8, 9)), random(2, 3, 3, 3), [2, 2], shape, *attributes,
        tolerance=1e-4,
    )  # fmt: skip


ONE = ([2], [0], [0], [1])


@pytest.mark.parametrize(
    ("operation", "data", "filters", "shape"),
    [
        (ops.Convolution, (0, 2, 8), (3, 2, 3), (0, 3, 3)),
        (ops.Convolution, (2, 0, 8), (3, 0, 3), (2, 3, 3)),
        (ops.Convolution, (2, 2, 8), (0, 2, 3), (2, 0, 3)),
        (ops.Convolution, (2, 0, 8), (3, 0, 1), (2, 3, 4)),
        (ops.GroupConvolution, (0, 4, 8), (4, 1, 1, 3), (0, 4, 3)),
        (ops.ConvolutionBackpropData, (0, 2, 8), (2, 3, 3), (0, 3, 17)),
        (ops.ConvolutionBackpropData, (2, 0, 8), (0, 3, 3), (2, 3, 17)),
    ],
)
def test_nothing_to_sum(operation, data, filters, shape):
    """Zero images, channels or filters, which OpenVINO's CPU device rejects."""
    node = operation(np.ones(data, np.float32), np.ones(filters, np.float32), *ONE[:1], pads_begin=[0], pads_end=[0],
                     dilations=[1])  # fmt: skip
    found = run(node, [], [])[0]
    assert found.shape == shape
    assert not found.any()


def test_blocks_of_columns():
    """Filters whose im2col columns need several blocks, the last one shorter."""
    data, filters = random(1, 8, 37, 201), random(3, 8, 5, 40)
    same_results("convolution", Data(data), filters, [2, 1], [1, 0], [0, 3], [1, 2], tolerance=1e-3)


@pytest.mark.parametrize(
    "case",
    [
        ("convolution", Unknown([1, 1, (0, 10)]), Unknown([1, 1, 3]), *ONE),
        ("convolution", Unknown([1, 1, (4, 10)]), Unknown([1, 1, -1]), *ONE),
        ("convolution", Unknown([1, 1, (4, 10)]), Unknown([1, 1, 3]), *ONE, "same_upper"),
        ("convolution", Unknown([(2, 3), -1, -1]), Unknown([4, 5, 3]), *ONE),
        ("convolution", Unknown("[...]"), Unknown([4, 1, 3]), *ONE),
        ("convolution", Unknown("[...]"), Unknown("[...]"), *ONE),
        ("group_convolution", Unknown([1, 4, (4, 10)]), Unknown([-1, 2, 2, 3]), *ONE),
        ("group_convolution", Unknown([1, -1, (4, 10)]), Unknown([2, 2, 2, 3]), *ONE),
        ("convolution_backprop_data", Unknown([1, 1, -1]), Unknown([1, 1, 3]), [2]),
        ("convolution_backprop_data", Unknown([1, 1, (2, 4)]), Unknown([1, 1, 3]), [2]),
        ("convolution_backprop_data", Unknown([1, 1, (2, 4)]), Unknown([1, 1, 3]), [2], Unknown([1], np.int64)),
        ("group_convolution_backprop_data", Unknown("[...]"), Unknown([2, 3, 4, 3]), [2]),
    ],
    ids=str,
)
def test_dynamic_shapes(case):
    same_shapes(*case)


@pytest.mark.parametrize(
    "case",
    [
        ("convolution", Unknown([1, 2, 4]), Unknown([4, 1, 3]), *ONE),
        ("convolution", Unknown([1, 1, 2]), Unknown([4, 1, 3]), *ONE),
        ("convolution", Unknown([1, 1, 4, 4]), Unknown([4, 1, 3]), *ONE),
        ("convolution", Unknown([1, 1, 4]), Unknown([4, 1, 3]), [0], [0], [0], [1]),
        ("convolution", Unknown([1, 1, 4], np.int32), Unknown([4, 1, 3]), *ONE),
        ("group_convolution", Unknown([1, 5, 4]), Unknown([2, 3, 2, 3]), *ONE),
        ("convolution_backprop_data", Unknown([1, 2, 4]), Unknown([3, 2, 3]), [2]),
    ],
    ids=str,
)
def test_what_cannot_be(case):
    both_refuse(*case)


def equal_less_unequal(data, filters, stride, dilation):
    """Compare with the definition, as OpenVINO's CPU device does not run BinaryConvolution on plain inputs."""
    rows, columns = ((filters.shape[axis] - 1) * dilation + 1 for axis in (2, 3))
    windows = sliding_window_view(data, (rows, columns), (2, 3))[:, None, :, ::stride, ::stride, ::dilation, ::dilation]
    equal = windows == filters[None, :, :, None, None]
    return np.where(equal, 1, -1).sum((2, 5, 6)).astype(np.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, ml_dtypes.uint1])
@pytest.mark.parametrize("pad_value", [0.0, 1.0, -1.0])
@pytest.mark.parametrize(("stride", "dilation", "pad"), [(1, 1, 0), (2, 1, 1), (1, 2, 2)])
def test_binary_convolution(stride, dilation, pad, pad_value, dtype):
    generator = np.random.default_rng(1)
    data, filters = (generator.integers(0, 2, shape) for shape in ((2, 3, 6, 7), (4, 3, 3, 2)))
    each = [[value] * 2 for value in (stride, pad, pad, dilation)]
    node = ops.BinaryConvolution(data.astype(np.float32), filters.astype(dtype), *each, "xnor-popcount", pad_value)
    padded = np.pad(data, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=pad_value)
    expected = equal_less_unequal(padded, filters, stride, dilation)
    found = run(node, [], [])[0]
    assert node.shape == found.shape
    np.testing.assert_array_equal(found, expected)


MODE = (*([1, 1], [0, 0], [0, 0], [1, 1]), "xnor-popcount", 0.0)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize(
    "shapes",
    [("[...]", [3, 5, 2, 2]), ("[...]", "[...]"), ([1, 4, -1, 6], "[...]"), ([-1, -1, (2, 5), 6], [3, 5, 2, -1])],
    ids=str,
)
def test_dynamic_shapes_of_binary_convolution(shapes, dtype):
    same_shapes("binary_convolution", Unknown(shapes[0], dtype), Unknown(shapes[1], np.uint8), *MODE)


@pytest.mark.parametrize(
    "shapes", [([1, 4, 6, 6], [3, 5, 2, 2]), ([1, 4, 6], [3, 4, 2]), ([1, 4, 1, 6], [3, 4, 2, 2])], ids=str
)
def test_binary_convolution_that_cannot_be(shapes):
    both_refuse("binary_convolution", *map(Unknown, shapes), *MODE)
