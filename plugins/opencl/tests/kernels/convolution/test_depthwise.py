"""Depthwise convolutions on blocks of channels: tiles, elements beyond the image, and long filters."""

import numpy as np
import pytest
from hetero_opencl.kernels.convolution.blocked_convolution import BlockedDepthwise

from tests.ops.oracle import Data

GENERATOR = np.random.default_rng(0)


def numbers(*shape):
    return GENERATOR.standard_normal(shape).astype(np.float32)


# Image, filters, strides, pads_begin, pads_end, dilations.
DEPTHWISE = [
    ((1, 20, 8, 9), (3, 3), [1, 1], [1, 1], [1, 1], [1, 1]),
    ((2, 20, 8, 9), (3, 3), [2, 2], [1, 1], [1, 1], [1, 1]),
    ((1, 16, 9, 30), (3, 5), [1, 1], [1, 2], [1, 2], [1, 1]),
    ((1, 16, 9, 31), (5, 3), [1, 2], [0, 0], [2, 1], [1, 1]),
    ((1, 16, 9, 25), (3, 3), [1, 3], [2, 4], [1, 0], [1, 1]),
    ((1, 16, 12, 29), (3, 3), [1, 1], [2, 3], [2, 3], [2, 3]),
    ((1, 16, 12, 29), (3, 4), [2, 2], [2, 0], [2, 7], [1, 2]),
    ((1, 16, 4, 5), (3, 7), [1, 1], [1, 6], [1, 6], [1, 1]),
    ((1, 16, 3, 3), (3, 3), [1, 1], [5, 5], [5, 5], [1, 1]),
    ((1, 16, 3, 40), (1, 9), [1, 1], [0, 4], [0, 4], [1, 1]),
    ((1, 16, 3, 40), (1, 11), [1, 2], [0, 5], [0, 4], [1, 1]),
    ((1, 16, 3, 40), (1, 15), [1, 1], [0, 14], [0, 14], [1, 2]),
    ((1, 16, 3, 1), (3, 1), [1, 1], [1, 0], [1, 0], [1, 1]),
    ((2, 20, 33), (65,), [1], [32], [32], [1]),
    ((1, 20, 40), (4,), [2], [0], [3], [3]),
    ((1, 17, 4, 5, 14), (3, 3, 3), [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]),
]


@pytest.mark.parametrize(("image", "kernel", "strides", "begin", "end", "dilations"), DEPTHWISE)
def test_depthwise(force, openvino_agrees, image, kernel, strides, begin, end, dilations):
    force(BlockedDepthwise)
    filters = numbers(image[1], 1, 1, *kernel)
    openvino_agrees("group_convolution", Data(numbers(*image)), filters, strides, begin, end, dilations)


def test_elements_that_are_not_read_do_not_matter(force, openvino_agrees):
    force(BlockedDepthwise)
    image = numbers(1, 16, 5, 31)
    image[:, :, :, -1] = np.inf
    ones, pads = [1, 1], [0, 0]
    openvino_agrees("group_convolution", Data(image), abs(numbers(16, 1, 1, 1, 4)), [1, 2], pads, pads, ones)
