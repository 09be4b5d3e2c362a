"""Resizing of images against LiteRT."""

import itertools

import numpy as np
import pytest

from tests.frontend.tflite.agreement import CORE, EACH_GPU, operator_test
from tests.frontend.tflite.litert import DEFAULT, LiteRT
from tests.frontend.tflite.models import constant, feed, model_of, out

WAYS = ({}, {"align_corners": True}, {"half_pixel_centers": True})
SIZES = ((9, 11), (2, 3), (5, 1), (10, 14), (5, 7))


def resize(kind, data, size, **options):
    result = out(data.dtype, scale=data.scale, zero_point=data.zero_point)
    return model_of(kind, data, constant(size, np.int32), outputs=[result], **options)


FLOAT = {
    f"{kind} {size} {options}": resize(kind, feed((2, 5, 7, 3)), size, **options)
    for kind, size, options in itertools.product(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), SIZES, WAYS)
}
NEAREST = {
    f"{dtype.__name__} {size} {options}": resize(
        "RESIZE_NEAREST_NEIGHBOR", feed((2, 5, 7, 3), dtype, scale=0.05), size, **options
    )
    for dtype, size, options in itertools.product((np.int8, np.uint8, np.int16), SIZES, WAYS)
}
BILINEAR = {
    f"{dtype.__name__} {size} {options}": resize(
        "RESIZE_BILINEAR", feed((1, 5, 7, 3), dtype, scale=0.05, zero_point=zero_point), size, **options
    )
    for (dtype, zero_point), size, options in itertools.product(((np.int8, -3), (np.uint8, 120)), SIZES, WAYS)
}


test_float = operator_test(FLOAT, EACH_GPU)
test_nearest_integers = operator_test(NEAREST, ["TEMPLATE"], steps=0)
# Only the default kernels of LiteRT have scales of more than ten bits.
test_bilinear_integers = operator_test(BILINEAR, ["TEMPLATE"], resolver=DEFAULT)


@pytest.mark.parametrize("options", WAYS)
def test_bilinear_integers_of_16_bits(options):
    data = np.random.default_rng(1).integers(-(1 << 15), 1 << 15, (1, 5, 7, 3)).astype(np.int16)
    model = resize("RESIZE_BILINEAR", feed(data, scale=0.05), (9, 11), **options)
    # LiteRT's kernel has scales of ten bits, which lead away from the place; that of floats has not.
    exact = resize("RESIZE_BILINEAR", feed(data.astype(np.float32)), (9, 11), **options)
    (wanted,) = LiteRT(exact.content)(exact.inputs).values()
    found = CORE.compile_model(model.content, "TEMPLATE")(model.inputs)[0]
    assert found.dtype == np.int16
    assert np.abs(found - wanted).max() <= 0.51
