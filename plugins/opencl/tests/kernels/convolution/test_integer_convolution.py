"""Quantized convolutions: the conversion and the zero point of ConvInteger are fused into the convolution."""

import numpy as np
import pytest
from hetero_opencl.compile.fusion import FUSION_RULES

import hetero
from hetero import Constant, Parameter, Type, ops
from hetero.graph import Model, is_terminal
from hetero.passes import fuse_elementwise

GENERATOR = np.random.default_rng(0)
# Shapes of image and filters; kernels of one element, of more, and one for each plane.
SHAPES = [
    ((2, 3, 6, 7), (5, 3, 1, 1)),
    ((2, 3, 6, 20), (5, 3, 3, 2)),
    ((1, 4, 6, 20), (2, 3, 2, 3, 3)),
    ((1, 4, 6, 20), (4, 2, 1, 3, 3)),
    ((2, 3, 9), (5, 3, 4)),
]


def random(shape, kind):
    limits = np.iinfo(kind)
    return GENERATOR.integers(limits.min, limits.max, shape, kind, endpoint=True)


def convolve(image, filters):
    count = len(image.shape) - 2
    kind = ops.Convolution if len(filters.shape) == len(image.shape) else ops.GroupConvolution
    return kind(image, filters, [1] * count, [1] * count, [2] * count, [1] * count)


def same(run, outputs, parameter, data):
    """Compare the device with TEMPLATE."""
    expected = hetero.Core().compile_model(Model(outputs, [parameter]), "TEMPLATE")([data])
    for found, wanted in zip(run(outputs, [parameter], [data]), expected.to_tuple(), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("kind", "zero_point", "bias"), [("u8", 0, False), ("u8", 131, True), ("i8", -7, False), ("u16", 60000, True)]
)
@pytest.mark.parametrize(("shape", "filters"), SHAPES)
def test_zero_points(run, shape, filters, kind, zero_point, bias):
    image = Parameter(Type(kind), shape)
    number = ops.Convert(image, Type.i32)
    if zero_point:
        number = ops.Subtract(number, Constant(np.array(zero_point, np.int32)))
    result = convolve(number, Constant(random(filters, np.int8).astype(np.int32)))
    if bias:
        channels = result.shape[1]
        result = ops.Add(result, Constant(random((1, channels, *[1] * (len(shape) - 2)), np.int32)))
    same(run, [result], image, random(shape, image.element_type.to_dtype()))
    model = Model([result], [image])
    fuse_elementwise(model, FUSION_RULES)
    left = [node for node in model.get_ordered_ops() if not is_terminal(node)]
    assert [type(node) for node in left] == [ops.Fused]


def test_filters_that_are_computed(run):
    """Zero points are then subtracted before the convolution."""
    image = Parameter(Type.u8, (1, 2, 4, 5))
    number = ops.Subtract(ops.Convert(image, Type.i32), Constant(np.array(3, np.int32)))
    filters = ops.Slice(image, *(Constant(np.array(n)) for n in ([0], [3], [1], [2])))
    same(run, [convolve(number, ops.Convert(filters, Type.i32))], image, random((1, 2, 4, 5), np.uint8))


@pytest.mark.parametrize("zero_point", [np.array(300), np.array([[[[1]], [[2]]]]), np.array(-1)])
def test_subtractions_that_are_no_zero_point(run, zero_point):
    """A value outside the image's type, or one that differs between channels, is subtracted separately."""
    image = Parameter(Type.u8, (1, 2, 4, 5))
    number = ops.Subtract(ops.Convert(image, Type.i32), Constant(zero_point.astype(np.int32)))
    result = convolve(number, Constant(random((3, 2, 3, 3), np.int32)))
    same(run, [result], image, random((1, 2, 4, 5), np.uint8))


def test_fused_values_with_other_readers(run):
    image = Parameter(Type.u8, (1, 2, 4, 5))
    number = ops.Subtract(ops.Convert(image, Type.i32), Constant(np.array(3, np.int32)))
    result = convolve(number, Constant(random((3, 2, 3, 3), np.int8).astype(np.int32)))
    same(run, [result, number], image, random((1, 2, 4, 5), np.uint8))
