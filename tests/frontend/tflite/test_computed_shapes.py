"""Shapes that a model computes from its inputs' shapes are inferred as far as those are known."""

import numpy as np
import pytest

from tests.frontend.tflite.agreement import CORE
from tests.frontend.tflite.models import Graph, Op, build, constant, feed, out

I32 = np.int32


def numbers(count):
    return [out(I32) for _ in range(count)]


def reshaped(data, shape):
    """A reshape that keeps the batch: SHAPE, STRIDED_SLICE, PACK, RESHAPE."""
    batch, target = numbers(2)
    slice_first = Op("STRIDED_SLICE", [shape, *(constant([n]) for n in (0, 1, 1))], [batch], shrink_axis_mask=1)
    return [slice_first, Op("PACK", [batch, constant(12)], [target], values_count=2), Op("RESHAPE", [data, target])]


def filled(data, shape):
    part, target = numbers(2)
    take = Op("SLICE", [shape, constant([0]), constant([2])], [part])
    return [take, Op("CONCATENATION", [part, constant([7])], [target], axis=0), Op("FILL", [target, constant(1.0)])]


def broadcast(data, shape):
    part, target = numbers(2)
    gather = Op("GATHER", [shape, constant([0, 2])], [part], axis=0)
    both = Op("BROADCAST_ARGS", [constant([5, 1, 1]), part], [target])
    return [gather, both, Op("BROADCAST_TO", [constant(1.0), target], version=2)]


def counted(data, shape):
    parts, ends = numbers(3), numbers(2)
    split = Op("SPLIT_V", [shape, constant([1, 1, 1]), constant(0)], parts, num_splits=3)
    scalars = [Op("SQUEEZE", [part], [end], squeeze_dims=[0]) for part, end in zip(parts[1:], ends)]
    return [split, *scalars, Op("RANGE", [ends[0], ends[1], constant(1)])]


def flattened(data, shape):
    """A shape of a product of dimensions, one of them unknown, and a known one."""
    part, rows, target = numbers(3)
    first = Op("SLICE", [shape, constant([0]), constant([2])], [part])
    product = Op("REDUCE_PROD", [part, constant([0])], [rows], keep_dims=False)
    pack = Op("PACK", [rows, constant(4)], [target], values_count=2)
    return [first, product, pack, Op("RESHAPE", [data, target])]


def sliced(data, shape):
    """A slice size with an unknown element, a known one and -1."""
    batch, size = numbers(2)
    first = Op("SLICE", [shape, constant([0]), constant([1])], [batch])
    sizes = Op("CONCATENATION", [batch, constant([2, -1])], [size], axis=0)
    return [first, sizes, Op("SLICE", [data, constant([0, 0, 1]), size])]


CASES = [
    (reshaped, [-1, 12], [5, 12]),
    (filled, [-1, 3, 7], [5, 3, 7]),
    (broadcast, [5, -1, 4], [5, 5, 4]),
    (counted, [1], [1]),
    (flattened, [-1, 4], [15, 4]),
    (sliced, [-1, 2, 3], [5, 2, 3]),
]


def model_of(make, **more):
    data, shape = feed((1, 3, 4), **more), out(I32)
    operators = [Op("SHAPE", [data], [shape], out_type="INT32"), *make(data, shape)]
    return CORE.read_model(build(Graph(operators, outputs=operators[-1].outputs)).content)


@pytest.mark.parametrize(("make", "known", "of_five"), CASES)
def test_computed_shape(make, known, of_five):
    model = model_of(make, signature=(-1, 3, 4))
    assert model.output().partial_shape == known
    model.reshape([5, 3, 4])
    assert model.output().partial_shape == of_five


@pytest.mark.parametrize(("make", "known", "of_five"), CASES)
def test_shape_of_a_model_of_one_batch_stays_computed(make, known, of_five):
    model = model_of(make)
    model.reshape([5, 3, 4])
    assert model.output().partial_shape == of_five
