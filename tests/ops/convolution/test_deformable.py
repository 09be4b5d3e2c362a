"""Deformable convolution, compared with OpenVINO."""

import numpy as np
import pytest

from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

RANDOM = np.random.default_rng(5)
DATA = RANDOM.standard_normal((2, 4, 7, 8), dtype=np.float32)
# stride, dilation, pads_begin, pads_end, auto_pad, and the positions of a 3 x 2 kernel
WINDOWS = [
    ((1, 1, 0, 0, "explicit"), (5, 7)),
    ((2, 1, 1, 1, "explicit"), (4, 5)),
    ((1, 2, 2, 1, "explicit"), (6, 9)),
    ((2, 1, 0, 0, "same_upper"), (4, 4)),
    ((2, 1, 0, 0, "same_lower"), (4, 4)),
    ((2, 2, 0, 0, "valid"), (2, 3)),
]


def random(*shape):
    return RANDOM.uniform(-2, 2, shape).astype(np.float32)


@pytest.mark.parametrize(("window", "positions"), WINDOWS)
@pytest.mark.parametrize(("group", "deformable_group"), [(1, 1), (2, 1), (1, 2), (2, 4), (4, 2)])
def test_results(group, deformable_group, window, positions):
    numbers, auto_pad = window[:4], window[4]
    stride, dilation, begin, end = ([number] * 2 for number in numbers)
    filters = random(4, 4 // group, 3, 2)
    offsets, mask = (Data(random(2, each * deformable_group * 6, *positions)) for each in (2, 1))
    inputs, attributes = (Data(DATA), offsets, Data(filters)), (stride, begin, end, dilation)
    groups = (auto_pad, group, deformable_group)
    same_results("deformable_convolution", *inputs, *attributes, *groups, opset=1, tolerance=1e-4)
    for weights in (None, mask):
        for pad in (False, True):
            same_results("deformable_convolution", *inputs, *attributes, weights, *groups, pad, tolerance=1e-4)


ONE = ([1, 1], [0, 0], [0, 0], [1, 1])


def case(*shapes, mask=None, auto_pad="explicit", group=1, deformable_group=1):
    mask = Unknown(mask) if mask else None
    return (*(Unknown(shape) for shape in shapes), *ONE, mask, auto_pad, group, deformable_group)


@pytest.mark.parametrize(
    "arguments",
    [
        case("[...]", "[...]", [3, 4, 2, 2]),
        case("[...]", [1, 8, 5, 5], "[...]"),
        case([-1, 4, -1, (4, 8)], [2, 8, -1, 5], [3, 4, 2, 2]),
        case([-1, 4, -1, (4, 8)], [2, 8, -1, 5], [-1, 4, 2, -1]),
        case([1, -1, 6, 6], [1, -1, 5, 5], [4, -1, 2, 2], group=2, deformable_group=2),
        case([1, 4, 6, 6], "[...]", "[...]", mask="[...]"),
    ],
    ids=str,
)
def test_dynamic_shapes(arguments):
    same_shapes("deformable_convolution", *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        case([1, 4, 6, 6], [1, 8, 4, 5], [3, 4, 2, 2]),
        case([1, 4, 6, 6], [1, 9, 5, 5], [3, 4, 2, 2]),
        case([1, 4, 6, 6], [2, 8, 5, 5], [3, 4, 2, 2]),
        case([1, 4, 6, 6], [1, 8, 5, 5], [3, 2, 2, 2], group=2),
        case([1, 4, 6, 6], [1, 8, 5, 5], [3, 5, 2, 2]),
        case([1, 4, 6, 6], [1, 8, 5, 5], [3, 4, 2, 2], mask=[1, 4, 4, 5]),
        case([1, 4, 6, 6], [1, 8, 5, 5], [3, 4, 2, 2], mask=[1, 5, 5, 5]),
        case([1, 4, 6], [1, 4, 5], [3, 4, 2]),
    ],
    ids=str,
)
def test_what_cannot_be(arguments):
    both_refuse("deformable_convolution", *arguments)
