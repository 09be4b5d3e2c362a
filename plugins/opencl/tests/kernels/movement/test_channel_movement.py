"""Gather, Split and Concat of channels that are not whole blocks, compared with OpenVINO."""

import numpy as np
import pytest
from hetero_opencl.kernels.movement.blocked_movement import ChannelMovement

from hetero import Parameter, Type, ops
from tests.ops.oracle import Data

GENERATOR = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def forced(force):
    """Move channels in blocks, between conversions, if that is possible."""
    force(ChannelMovement)


def numbers(*shape, kind=np.float32):
    return GENERATOR.standard_normal(shape).astype(kind)


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int8, np.int64])
def test_kinds(openvino_agrees, kind):
    data = GENERATOR.integers(-9, 9, (2, 37, 5, 3)).astype(kind)
    openvino_agrees("gather", Data(data), np.array([5, 36, 0, 17, 17, 4]), np.int64(1))


@pytest.mark.parametrize("indices", [np.arange(40)[::-1], [-1, -40, 0, 39], np.arange(40).repeat(3)])
@pytest.mark.parametrize("shape", [(1, 40, 17, 9), (3, 40, 4), (2, 40, 2, 3, 2)])
def test_gather(openvino_agrees, shape, indices):
    openvino_agrees("gather", Data(numbers(*shape)), np.array(indices), np.int64(1))


@pytest.mark.parametrize("lengths", [[58, 58], [20, -1, 30], [115, 1]])
def test_split(openvino_agrees, lengths):
    openvino_agrees("variadic_split", Data(numbers(2, 116, 7, 5)), np.int64(1), np.array(lengths))


def test_equal_parts(openvino_agrees):
    openvino_agrees("split", Data(numbers(1, 24, 9, 9)), np.int64(-3), 4)


@pytest.mark.parametrize("channels", [(58, 58), (5, 32, 3), (16, 7, 16), (24, 8, 40, 2)])
def test_concat(openvino_agrees, channels):
    openvino_agrees("concat", [Data(numbers(2, count, 6, 5)) for count in channels], 1)


def test_other_axes(openvino_agrees):
    openvino_agrees("gather", Data(numbers(2, 6, 5, 4)), np.array([2, 0]), np.int64(2))
    openvino_agrees("concat", [Data(numbers(2, 6, 5, 4)), Data(numbers(2, 6, 5, 4))], 2)
    openvino_agrees("gather", Data(numbers(2, 6, 5, 4)), np.array([[2], [0]]), np.int64(1))


def test_parts(template_agrees):
    """Operations write the inputs of a Concat that start with a block to their place, the others are copied."""
    x = Parameter(Type.f32, [2, 20, 5, 6])
    filters = [numbers(count, 20, 3, 3) for count in (20, 12, 40, 7)]
    parts = [ops.Relu(ops.Convolution(x, one, [1, 1], [1, 1], [1, 1], [1, 1])) for one in filters]
    inner = ops.Concat(parts[:3], 1)
    outer = ops.Concat([inner, parts[3], ops.Relu(x), inner], 1)
    again = ops.Convolution(outer, numbers(20, 171, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1])
    template_agrees(
        ops.Add(again, ops.Convolution(inner, numbers(20, 72, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1])),
        [x],
        [numbers(2, 20, 5, 6)],
        1e-3,
    )
