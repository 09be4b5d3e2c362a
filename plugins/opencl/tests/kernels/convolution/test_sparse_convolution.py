"""1×1 convolutions with many zeros in their filters, and group convolutions whose groups are no whole blocks."""

from dataclasses import replace

import numpy as np
import pytest
from hetero_opencl.compile.group_convolutions import widen_groups
from hetero_opencl.device.device import present_devices
from hetero_opencl.kernels.convolution.sparse_convolution import SparseConvolution, merge_groups
from hetero_opencl.profiles.profile import Family

from hetero import Model, Parameter, Type, ops
from tests.ops.oracle import Data
from tests.passes.test_passes import operations
from tests.passes.test_passes import run as reference

GENERATOR = np.random.default_rng(0)
PROFILE = replace(present_devices().usable[0].profile, family=Family.PROCESSOR, vector_width=16)


def numbers(*shape):
    return GENERATOR.standard_normal(shape).astype(np.float32)


def group_convolution(x, filters):
    rank = filters.ndim - 3
    same = [size // 2 for size in filters.shape[3:]]
    return ops.GroupConvolution(x, filters, strides=[1] * rank, pads_begin=same, pads_end=same, dilations=[1] * rank)


# Image, filters, strides.
GROUPED = [
    ((1, 136, 28, 28), (4, 34, 34, 1, 1), [1, 1]),
    ((2, 24, 5, 7), (4, 28, 6, 1, 1), [1, 1]),
    ((2, 12, 9, 8), (3, 5, 4, 1, 1), [2, 2]),
    ((1, 12, 9, 8), (3, 5, 4, 1, 1), [1, 3]),
    ((2, 6, 40), (2, 9, 3, 1), [1]),
    ((1, 40, 1, 1), (2, 20, 20, 1, 1), [1, 1]),
    ((1, 64, 3, 3), (2, 32, 32, 1, 1), [1, 1]),
]


@pytest.fixture
def forced(force):
    force(SparseConvolution)


@pytest.mark.parametrize(("image", "filters", "strides"), GROUPED)
def test_groups(forced, openvino_agrees, image, filters, strides):
    pads = [0] * len(strides)
    openvino_agrees(
        "group_convolution", Data(numbers(*image)), numbers(*filters), strides, pads, pads, [1] * len(strides)
    )


def test_zeros(forced, openvino_agrees):
    filters = numbers(40, 50, 1, 1) * (GENERATOR.random((40, 50, 1, 1)) < 0.1)
    filters[16:32] = 0  # a tile without channels
    openvino_agrees("convolution", Data(numbers(2, 50, 6, 5)), filters, [1, 1], [0, 0], [0, 0], [1, 1])


def test_epilogue(forced, template_agrees):
    x, residual = Parameter(Type.f32, [2, 20, 6, 7]), Parameter(Type.f32, [2, 20, 6, 7])
    added = ops.Add(ops.Add(group_convolution(x, numbers(4, 5, 5, 1, 1)), numbers(1, 20, 1, 1)), residual)
    template_agrees(ops.Relu(added), [x, residual], [numbers(2, 20, 6, 7), numbers(2, 20, 6, 7)])


def test_shuffle_between_groups(template_agrees):
    x = Parameter(Type.f32, [2, 24, 6, 7])
    shuffled = ops.ShuffleChannels(ops.Relu(group_convolution(x, numbers(4, 6, 6, 1, 1))), 1, 4)
    depthwise = group_convolution(shuffled, numbers(24, 1, 1, 3, 3))
    y = ops.Add(group_convolution(depthwise, numbers(4, 6, 6, 1, 1)), x)
    template_agrees(y, [x], [numbers(2, 24, 6, 7)], 1e-4)


@pytest.mark.parametrize("groups", [(32, 4, 4, 3, 3), (4, 8, 4, 3, 3), (6, 8, 24, 3), (4, 32, 8, 1, 3)])
def test_groups_of_other_kernels(template_agrees, groups):
    shape = [2, groups[0] * groups[2], *[5] * (len(groups) - 3)]
    x = Parameter(Type.f32, shape)
    template_agrees(group_convolution(x, numbers(*groups)), [x], [numbers(*shape)], 1e-4)


def test_merge_groups():
    filters = numbers(6, 2, 3, 1)
    merged = merge_groups(filters, 3)
    assert merged.shape == (2, 6, 9, 1) and np.count_nonzero(merged) == filters.size
    np.testing.assert_array_equal(merged[1, 2:4, 3:6], filters[4])


WIDENED = {
    "merged": (lambda x: group_convolution(x, numbers(8, 4, 4, 3, 3)), ["GroupConvolution"], (2, 16, 16, 3, 3)),
    "permutation": (
        lambda x: group_convolution(ops.Gather(x, np.roll(np.arange(32), 5), np.int64(1)), numbers(8, 4, 4, 1, 1)),
        ["Convolution"], (32, 32, 1, 1),
    ),
    "selection": (
        lambda x: group_convolution(ops.Gather(x, np.arange(1, 17), np.int64(1)), numbers(4, 3, 4, 1, 1)),
        ["Convolution"], (12, 32, 1, 1),
    ),
    "selection for a dense convolution": (
        lambda x: ops.Convolution(
            ops.Gather(x, np.arange(0, 32, 2), np.int64(1)), numbers(20, 16, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1]
        ),
        ["Convolution"], (20, 32, 1, 1),
    ),
}  # fmt: skip
SAME = {
    "whole blocks": lambda x: group_convolution(x, numbers(2, 16, 16, 3, 3)),
    "depthwise": lambda x: group_convolution(x, numbers(32, 2, 1, 3, 3)),
    "lists of channels": lambda x: group_convolution(x, numbers(8, 4, 4, 1, 1)),
    "permutation before a window": lambda x: group_convolution(
        ops.Gather(x, np.roll(np.arange(32), 5), np.int64(1)), numbers(2, 16, 16, 3, 3)
    ),
}


@pytest.mark.parametrize(("make", "left", "shape"), WIDENED.values(), ids=WIDENED)
def test_widened(make, left, shape):
    x, data = Parameter(Type.f32, [2, 32, 5, 6]), numbers(2, 32, 5, 6)
    model = Model(make(x), [x])
    expected = reference(model, data)[0]
    assert widen_groups(model, PROFILE)
    assert operations(model) == left
    assert model.get_ordered_ops()[-2].get_input_shape(1) == shape
    np.testing.assert_allclose(reference(model, data)[0], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("make", SAME.values(), ids=SAME)
def test_not_widened(make):
    x = Parameter(Type.f32, [2, 32, 5, 6])
    assert not widen_groups(Model(make(x), [x]), PROFILE)
    assert not widen_groups(Model(make(x), [x]), replace(PROFILE, family=Family.GPU, vector_width=1))
