"""3-D and transposed convolutions against LiteRT."""

import numpy as np

from tests.frontend.tflite.agreement import EACH_GPU, assert_as_litert, operator_test
from tests.frontend.tflite.layers import QuantizedLayer, assert_as_with_floats, of_weights, random
from tests.frontend.tflite.models import constant, feed, model_of, out


def transposed(result, filters=(3, 3, 3, 4), padding="SAME", strides=(2, 2), activation="NONE", bias=True):
    """Return a TRANSPOSE_CONV of a 5×5 image to this height and width."""
    tensors = [constant([1, *result, filters[0]], np.int32), random(*filters), feed((1, 5, 5, 4))]
    return model_of(
        "TRANSPOSE_CONV", *tensors, *([random(filters[0])] if bias else []), outputs=[out(np.float32)],
        padding=padding, stride_h=strides[0], stride_w=strides[1], fused_activation_function=activation,
    )  # fmt: skip


def quantized(result=(10, 9), padding="SAME", axis=0, bias=True, activation="NONE", **how):
    layer = QuantizedLayer((1, 5, 5, 4), (3, 3, 3, 4), 9, axis, channels=3, **how)
    tensors = [constant([1, *result, 3], np.int32), layer.weights, layer.data, *([layer.bias] if bias else [])]
    return model_of(
        "TRANSPOSE_CONV", *tensors, outputs=[layer.result],
        padding=padding, stride_h=2, stride_w=2, fused_activation_function=activation,
    )  # fmt: skip


def windows(padding="SAME", strides=(1, 1, 1), dilations=(1, 1, 1), activation="NONE"):
    axes = [(f"stride_{axis}", f"dilation_{axis}_factor") for axis in "dhw"]
    numbers = {name: n for names, pair in zip(axes, zip(strides, dilations)) for name, n in zip(names, pair)}
    return {"padding": padding, "fused_activation_function": activation, **numbers}


def deep(bias=True, **more):
    tensors = feed((2, 5, 6, 7, 3)), random(2, 3, 2, 3, 4), *([random(4)] if bias else [])
    return model_of("CONV_3D", *tensors, **windows(**more))


def deep_transposed(*result, **more):
    tensors = constant([1, *result, 3], np.int32), random(2, 3, 2, 3, 4), feed((1, 5, 6, 7, 4)), random(3)
    return model_of("CONV_3D_TRANSPOSE", *tensors, outputs=[out(np.float32)], **windows(**more))


FLOAT = {
    "same": transposed((10, 9)),
    "no bias": transposed((10, 9), bias=False),
    "relu6": transposed((10, 9), activation="RELU6"),
    "relu": transposed((10, 9), activation="RELU"),
    "valid": transposed((11, 11), padding="VALID"),
    "valid, larger": transposed((12, 12), padding="VALID"),
    "strides of three": transposed((14, 13), strides=(3, 3)),
    "strides longer than filters": transposed((14, 13), (3, 2, 2, 4), strides=(3, 3)),
    "filters of even length": transposed((10, 9), (3, 4, 4, 4)),
    "no strides": transposed((5, 5), (3, 4, 4, 4), strides=(1, 1)),
    "depth": deep(),
    "depth, valid": deep(padding="VALID"),
    "depth, strides": deep(strides=(2, 1, 3)),
    "depth, dilations": deep(dilations=(2, 1, 2), padding="VALID"),
    "depth, no bias": deep(bias=False, activation="RELU"),
    "transposed depth": deep_transposed(5, 6, 7),
    "transposed depth, valid": deep_transposed(6, 8, 8, padding="VALID"),
    "transposed depth, strides": deep_transposed(10, 11, 14, strides=(2, 2, 2)),
    "transposed depth, strides, valid": deep_transposed(10, 13, 14, strides=(2, 2, 2), padding="VALID"),
    "transposed depth, dilations": deep_transposed(7, 10, 9, dilations=(2, 2, 2), padding="VALID"),
    "transposed depth, dilations, same": deep_transposed(5, 6, 7, dilations=(1, 2, 2)),
}
SIXTEEN = {"dtype": np.int16, "zero_points": (0, 0, 0), "bias_dtype": np.int64}
QUANTIZED = {
    "scales": quantized(),
    "one scale": quantized(axis=None),
    "no bias": quantized(bias=False),
    "relu": quantized(activation="RELU"),
    "valid": quantized((11, 11), "VALID"),
    "u8": quantized(axis=None, dtype=np.uint8, weights_dtype=np.uint8, zero_points=(120, 131, 125)),
    "i16": quantized(**SIXTEEN),
    "i16, no bias": quantized(**SIXTEEN, bias=False),
}


test_float = operator_test(FLOAT, EACH_GPU)
test_quantized = operator_test(QUANTIZED, EACH_GPU)


def test_integers_as_weights_of_floats():
    tensors, shape = (feed((1, 5, 5, 4)), random(3)), constant([1, 10, 9, 3], np.int32)
    dynamic, floats = (
        model_of(
            "TRANSPOSE_CONV",
            shape,
            weights,
            *tensors,
            outputs=[out(np.float32)],
            padding="SAME",
            stride_h=2,
            stride_w=2,
        )
        for weights in of_weights((3, 3, 3, 4), 0)
    )
    assert_as_with_floats(dynamic, floats)


def test_shape_that_is_known_late():
    shape = feed(np.int32([1, 10, 9, 3]))
    model = model_of(
        "TRANSPOSE_CONV", shape, random(3, 3, 3, 4), feed((1, 5, 5, 4)), outputs=[out(np.float32)],
        padding="SAME", stride_h=2, stride_w=2,
    )  # fmt: skip
    assert_as_litert(model)
