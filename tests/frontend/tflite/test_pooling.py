"""Pooling, against LiteRT."""

import itertools

import numpy as np

from tests.frontend.tflite.agreement import EACH_GPU, assert_as_litert, operator_test
from tests.frontend.tflite.models import feed, model_of, out


def pooling(kind, data, padding="VALID", window=(3, 2), strides=(2, 1), activation="NONE"):
    """A model of one pooling."""
    result = out(data.dtype, scale=data.scale, zero_point=data.zero_point)
    (filter_height, filter_width), (stride_h, stride_w) = window, strides
    return model_of(
        kind, data, outputs=[result], padding=padding, filter_height=filter_height, filter_width=filter_width,
        stride_h=stride_h, stride_w=stride_w, fused_activation_function=activation,
    )  # fmt: skip


FLOAT = {
    f"{kind} {padding} {activation}": pooling(kind, feed((2, 7, 5, 3)), padding, activation=activation)
    for kind, padding, activation in itertools.product(
        ("MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D"),
        ("VALID", "SAME"),
        ("NONE", "RELU", "RELU6", "RELU_N1_TO_1"),
    )
}
FLOAT["strides longer than windows"] = pooling("MAX_POOL_2D", feed((1, 9, 9, 2)), "SAME", (1, 1), (2, 2))
FLOAT["all of the image"] = pooling("AVERAGE_POOL_2D", feed((1, 4, 4, 5)), "VALID", (4, 4), (1, 1))
FLOAT["no image at all"] = pooling("AVERAGE_POOL_2D", feed((0, 4, 4, 5)), "VALID", (2, 2), (1, 1))

QUANTIZED = {
    f"{kind} {dtype.__name__} {padding} {activation}": pooling(
        kind, feed((2, 7, 5, 3), dtype, scale=0.05, zero_point=zero_point), padding, activation=activation
    )
    for kind, (dtype, zero_point), padding, activation in itertools.product(
        ("MAX_POOL_2D", "AVERAGE_POOL_2D"),
        ((np.int8, -3), (np.uint8, 120), (np.int16, 0)),
        ("VALID", "SAME"),
        ("NONE", "RELU", "RELU6"),
    )
}
QUANTIZED["windows of six"] = pooling("AVERAGE_POOL_2D", feed((1, 30, 31, 4), scale=0.1), "SAME", (2, 3), (1, 1))


test_as_litert = operator_test(FLOAT | QUANTIZED, EACH_GPU, steps=0)


def test_dimensions_that_change():
    model = pooling("AVERAGE_POOL_2D", feed((1, 6, 6, 2), signature=(-1, -1, -1, 2)), "SAME")
    (name,) = model.inputs
    assert_as_litert(model, calls=[{name: np.ones((3, 5, 8, 2), np.float32)}])
