"""keras: predict of a convolutional network, an LSTM and a transformer on the backend openvino."""

import os
import sys

os.environ["KERAS_BACKEND"] = "openvino"

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
images = np.random.default_rng(0).random((4, 32, 32, 3), np.float32)
tokens = np.random.default_rng(0).integers(0, 100, (4, 12))


def convolutional() -> keras.Model:
    return keras.Sequential([
        layers.Input((32, 32, 3)),
        layers.Rescaling(2.0, -1),
        layers.Conv2D(16, 3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.DepthwiseConv2D(3, strides=2, padding="same", activation="swish"),
        layers.MaxPooling2D(),
        layers.GlobalAveragePooling2D(),
        layers.Dense(10, activation="softmax"),
    ])  # fmt: skip


def recurrent() -> keras.Model:
    return keras.Sequential([
        layers.Input((12,), dtype="int32"),
        layers.Embedding(100, 16),
        layers.LSTM(24, return_sequences=True),
        layers.GRU(8),
        layers.Dense(3, activation="tanh"),
    ])  # fmt: skip


def transformer() -> keras.Model:
    ids = layers.Input((12,), dtype="int32")
    x = layers.Embedding(100, 32)(ids)
    attended = layers.MultiHeadAttention(4, 8)(x, x)
    x = layers.LayerNormalization()(x + attended)
    x = layers.LayerNormalization()(x + layers.Dense(32)(layers.Dense(64, activation="gelu")(x)))
    return keras.Model(ids, layers.Dense(5)(layers.Flatten()(x)))


application = keras.applications.MobileNetV2((64, 64, 3), 0.35, include_top=False, weights=None, pooling="max")
for layer in application.layers:  # keeps the activations of random weights from vanishing
    if isinstance(layer, layers.BatchNormalization):
        layer.moving_variance.assign(layer.moving_variance * 0.2)
np.savez(
    sys.argv[1],
    convolutional=convolutional().predict(images, batch_size=2),
    recurrent=recurrent().predict(tokens),
    transformer=transformer().predict(tokens),
    application=application.predict(np.repeat(np.repeat(images, 2, 1), 2, 2) * 2 - 1),
)
