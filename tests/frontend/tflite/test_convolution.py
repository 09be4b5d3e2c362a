"""Convolutions, against LiteRT."""

import itertools

import ml_dtypes
import numpy as np
import pytest

from tests.frontend.tflite.agreement import EACH_GPU, assert_as_litert, operator_test
from tests.frontend.tflite.layers import QuantizedLayer, assert_as_with_floats, of_weights, random
from tests.frontend.tflite.litert import DEFAULT
from tests.frontend.tflite.models import feed, model_of


def options(padding="SAME", strides=(1, 1), dilations=(1, 1), activation="NONE"):
    return {
        "padding": padding, "stride_h": strides[0], "stride_w": strides[1], "dilation_h_factor": dilations[0],
        "dilation_w_factor": dilations[1], "fused_activation_function": activation,
    }  # fmt: skip


def convolution(data=(1, 9, 8, 4), filters=(6, 3, 3, 4), **more):
    return model_of("CONV_2D", feed(data), random(*filters), random(filters[0]), **options(**more))


def depthwise(data=(1, 9, 8, 4), filters=(1, 3, 3, 8), **more):
    return model_of(
        "DEPTHWISE_CONV_2D",
        feed(data),
        random(*filters),
        random(filters[3]),
        **options(**more),
        depth_multiplier=filters[3] // data[3],
    )


def quantized(data=(1, 9, 8, 4), filters=(6, 3, 3, 4), axis=0, dtype=np.int8, more=None, **how):
    layer = QuantizedLayer(data, filters, int(np.prod(filters[1:])), axis, dtype, **how)
    return model_of("CONV_2D", layer.data, layer.weights, layer.bias, outputs=[layer.result], **options(**more or {}))


def quantized_depthwise(data=(1, 9, 8, 4), filters=(1, 3, 3, 8), axis=3, dtype=np.int8, more=None, **how):
    layer = QuantizedLayer(data, filters, filters[1] * filters[2], axis, dtype, channels=filters[3], **how)
    tensors = layer.data, layer.weights, layer.bias
    return model_of(
        "DEPTHWISE_CONV_2D",
        *tensors,
        outputs=[layer.result],
        **options(**more or {}),
        depth_multiplier=filters[3] // data[3],
    )


WINDOWS = {
    "same": {},
    "valid": {"padding": "VALID"},
    "strides": {"strides": (2, 3)},
    "strides, valid": {"strides": (3, 2), "padding": "VALID"},
    "dilations": {"dilations": (2, 3)},
    "dilations, valid": {"dilations": (3, 2), "padding": "VALID"},
    "relu": {"activation": "RELU"},
    "relu6": {"activation": "RELU6"},
}
FLOAT = {
    f"{make.__name__}, {name}": make(**more)
    for make, (name, more) in itertools.product((convolution, depthwise), WINDOWS.items())
}
FLOAT |= {
    "groups": convolution((2, 5, 6, 12), (6, 3, 3, 4)),
    "one place": convolution((2, 5, 6, 12), (6, 1, 1, 12)),
    "all of the image": convolution((1, 5, 6, 3), (4, 5, 6, 3), padding="VALID"),
    "relu of -1 to 1": convolution(activation="RELU_N1_TO_1"),
    "depthwise, a column": depthwise((1, 7, 1, 4), (1, 5, 1, 4), padding="VALID"),
    "depthwise, a row": depthwise((2, 1, 9, 4), (1, 1, 5, 4), padding="VALID"),
    "depthwise, one channel": depthwise((1, 6, 6, 1), (1, 3, 3, 5)),
    "no image": convolution((0, 9, 8, 4)),
}
UNSIGNED = {"dtype": np.uint8, "weights_dtype": np.uint8, "axis": None, "zero_points": (120, 131, 125)}
INT4 = {"weights_dtype": ml_dtypes.int4}
QUANTIZED = {
    f"{make.__name__}, {name}": make(more=more)
    for make, (name, more) in itertools.product((quantized, quantized_depthwise), WINDOWS.items())
}
QUANTIZED |= {
    "one scale": quantized(axis=None),
    "groups": quantized((1, 5, 6, 12)),
    "one place": quantized((1, 5, 6, 12), (6, 1, 1, 12)),
    "depthwise, a column": quantized_depthwise((1, 7, 1, 4), (1, 5, 1, 4), more={"padding": "VALID"}),
    "depthwise, a row": quantized_depthwise((1, 1, 9, 4), (1, 1, 5, 4), more={"padding": "VALID"}),
}
# Rounded in more than one step by all of LiteRT's kernels, so that some results are one off.
ROUGH = {
    "u8": quantized(**UNSIGNED),
    "depthwise, u8": quantized_depthwise(**UNSIGNED),
    "i4": quantized(**INT4),
    "depthwise, i4": quantized_depthwise(**INT4),
    **{
        f"{make.__name__}, i16 {name}": make(dtype=np.int16, zero_points=(0, 0, 0), bias_dtype=np.int64, **more)
        for make, (name, more) in itertools.product(
            (quantized, quantized_depthwise), (("", {}), ("dilations", {"more": {"dilations": (2, 2)}}))
        )
    },
    "sums beyond 32 bits": quantized(
        (1, 4, 4, 256), (3, 3, 3, 256), dtype=np.int16, zero_points=(0, 0, 0), bias_dtype=np.int64
    ),
}


test_as_litert = operator_test(FLOAT | ROUGH, EACH_GPU)
test_quantized_to_the_last_bit = operator_test(QUANTIZED, EACH_GPU, steps=0, resolver=DEFAULT)


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize(
    ("kind", "filters", "axis", "dtype"),
    [
        ("CONV_2D", (6, 3, 3, 4), None, np.int8),
        ("CONV_2D", (6, 3, 3, 4), 0, np.int8),
        ("CONV_2D", (6, 3, 3, 4), 0, ml_dtypes.int4),
        ("DEPTHWISE_CONV_2D", (1, 3, 3, 8), 3, np.int8),
    ],
)
def test_integers_as_weights_of_floats(kind, filters, axis, dtype, device):
    pair = of_weights(filters, axis, dtype)
    bias = random(filters[0 if kind == "CONV_2D" else 3])
    dynamic, floats = (model_of(kind, feed((2, 9, 8, 4)), weights, bias, **options()) for weights in pair)
    assert_as_with_floats(dynamic, floats, device)


def test_dimensions_that_change():
    model = model_of(
        "CONV_2D",
        feed((1, 6, 6, 2), signature=(-1, -1, -1, 2)),
        random(3, 3, 3, 2),
        random(3),
        **options(strides=(2, 2)),
    )
    (name,) = model.inputs
    assert_as_litert(model, calls=[{name: np.ones((3, 5, 8, 2), np.float32)}])
