"""Layers and functions with windows, groups, resizing, slices and padding, in frozen graphs."""

import numpy as np
import pytest

keras = pytest.importorskip("keras")
tf = pytest.importorskip("tensorflow")
from tests.frameworks.tensorflow.agreement import assert_agrees  # noqa: E402

GENERATOR = np.random.default_rng(0)
IMAGES = GENERATOR.standard_normal((2, 9, 10, 4), np.float32)
VOLUMES = GENERATOR.standard_normal((1, 5, 6, 7, 2), np.float32)
FILTERS = GENERATOR.standard_normal((3, 3, 4, 8), np.float32)
FILTERS_3D = GENERATOR.standard_normal((2, 3, 3, 2, 3), np.float32)
# Images whose height and width are unknown.
ANY_SIZE = [tf.TensorSpec([None, None, None, 4])]
layers = keras.layers

WINDOWS = {
    "convolution": lambda stride, padding: lambda x: tf.nn.conv2d(x, FILTERS, stride, padding),
    "dilated": lambda stride, padding: lambda x: tf.nn.conv2d(x, FILTERS, 1, padding, dilations=stride),
    "grouped": lambda stride, padding: lambda x: tf.nn.conv2d(x, FILTERS[:, :, :2], stride, padding),
    "depthwise": lambda stride, padding: (
        lambda x: tf.nn.depthwise_conv2d(x, FILTERS[..., :2], [1, stride, stride, 1], padding)
    ),
    "max": lambda stride, padding: lambda x: tf.nn.max_pool2d(x, 3, stride, padding),
    "average": lambda stride, padding: lambda x: tf.nn.avg_pool2d(x, 3, stride, padding),
    "transposed": lambda stride, padding: layers.Conv2DTranspose(5, 4, stride, padding.lower()),
}


@pytest.mark.parametrize("is_static", [True, False])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name, padding, stride, is_static):
    assert_agrees(WINDOWS[name](stride, padding), IMAGES, specs=None if is_static else ANY_SIZE)


FUNCTIONS = {
    "explicit padding": lambda x: tf.nn.conv2d(x, FILTERS, 2, [[0, 0], [1, 2], [0, 1], [0, 0]]),
    "separable": layers.SeparableConv2D(5, 3),
    "batch statistics": lambda x: tf.compat.v1.nn.fused_batch_norm(x, np.ones(4, "f4"), np.zeros(4, "f4"))[0],
    "layer normalization": layers.LayerNormalization(),
    "group normalization": layers.GroupNormalization(2),
    "upsampling": layers.UpSampling2D(2),
    "bilinear": layers.Resizing(7, 5),
    "bilinear, aligned": lambda x: tf.compat.v1.image.resize(x, [7, 15], align_corners=True),
    "bilinear, asymmetric": lambda x: tf.compat.v1.image.resize(x, [7, 15]),
    "nearest": lambda x: tf.image.resize(x, [7, 15], "nearest"),
    "splits": lambda x: [*tf.split(x, 2, 3), *tf.split(x, [1, 3], -1), *tf.unstack(x, axis=-2)],
    "strided slices": lambda x: [x[:, 1:, ..., tf.newaxis], x[..., 0], x[::-1, ::2], x[-1]],
    "a slice": lambda x: tf.slice(x, [0, 1, 2, 0], [-1, 3, -1, 2]),
    "gathers": lambda x: [tf.gather(x, [1, 0], axis=2), tf.gather(x, [[0], [1]], axis=3, batch_dims=1)],
    "padding": lambda x: [
        tf.pad(x, [[0, 0], [1, 2], [0, 0], [3, 0]], mode, 2.5) for mode in ("CONSTANT", "REFLECT", "SYMMETRIC")
    ],
    "conversions": lambda x: [tf.cast(x * 3, tf.int32), tf.cast(x, tf.bool), tf.cast(x, tf.complex64) * 2],
    "selections": lambda x: [tf.where(x > 0, x, 0.0), tf.raw_ops.Select(condition=[True, False], x=x, y=-x)],
    "shapes": lambda x: [tf.range(tf.shape(x)[1]), tf.fill(tf.shape(x)[:2], 3.5), tf.tile(x, [1, 2, 1, 1])],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    assert_agrees(FUNCTIONS[name], IMAGES)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.nn.conv3d(x, FILTERS_3D, [1, 1, 2, 1, 1], "SAME"),
        lambda x: tf.nn.max_pool3d(x, 2, 2, "SAME"),
        lambda x: tf.nn.avg_pool3d(x, 2, 2, "SAME"),
        layers.Conv3DTranspose(3, 3, 2, "same"),
    ],
    ids=["convolution", "max", "average", "transposed"],
)
def test_volumes(function):
    assert_agrees(function, VOLUMES)


def test_integers_divide_as_in_tensorflow():
    numbers = np.array([[-7, 7, 5], [3, -2, 9]], np.int32)
    assert_agrees(lambda x: [tf.raw_ops.Div(x=x, y=2), x // 2, x % 3, tf.reduce_mean(x, 1)], numbers)
