"""The applications and the recurrent layers of Keras with random weights, as SavedModel and as frozen graph.

``HETERO_APPLICATIONS=all`` runs all applications on all devices: half an hour.
"""

import os

import numpy as np
import pytest

from hetero import Core
from tests.devices import GPUS

keras = pytest.importorskip("keras")
tf = pytest.importorskip("tensorflow")
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2  # noqa: E402

# The height and width of the images of each application.
SIZES = {
    "MobileNet": 64, "MobileNetV2": 64, "MobileNetV3Small": 64, "MobileNetV3Large": 64, "ResNet50": 64,
    "ResNet50V2": 64, "DenseNet121": 64, "EfficientNetB0": 64, "EfficientNetV2B0": 64, "InceptionV3": 80,
    "Xception": 80, "NASNetMobile": 64, "ConvNeXtTiny": 64, "VGG16": 64, "InceptionResNetV2": 80,
}  # fmt: skip
SAMPLE = ("MobileNetV2", "MobileNetV3Small", "ResNet50V2")
IS_COMPLETE = os.environ.get("HETERO_APPLICATIONS") == "all"
DEVICES = ("TEMPLATE", GPUS[0], f"HETERO:{GPUS[0]},TEMPLATE") if IS_COMPLETE else ("TEMPLATE",)
LAYERS = {
    "lstm": lambda: keras.layers.LSTM(4, return_sequences=True, return_state=True),
    "gru": lambda: keras.layers.GRU(4, return_sequences=True),
    "gru_backwards": lambda: keras.layers.GRU(4, reset_after=False, go_backwards=True),
    "simple": lambda: keras.layers.SimpleRNN(4),
    "bidirectional": lambda: keras.layers.Bidirectional(keras.layers.LSTM(4, return_sequences=True)),
    "unrolled": lambda: keras.layers.LSTM(4, unroll=True),
    "attention": lambda: keras.layers.MultiHeadAttention(2, 4),
}


def application(name: str):
    """Return the model, whose batch normalizations have random statistics, and an image."""
    size, generator = SIZES[name], np.random.default_rng(0)
    keras.utils.set_random_seed(0)
    model = getattr(keras.applications, name)(weights=None, input_shape=(size, size, 3), classes=10)
    for weight in model.weights:
        if "moving_mean" in weight.path:
            weight.assign(generator.normal(0, 0.1, weight.shape))
        elif "moving_variance" in weight.path:
            weight.assign(generator.uniform(0.8, 1.2, weight.shape))
    return model, generator.uniform(0, 1, (2, size, size, 3)).astype(np.float32)


def frozen(function, spec, lower_control_flow=True) -> bytes:
    concrete = tf.function(function).get_concrete_function(spec)
    graph = convert_variables_to_constants_v2(concrete, lower_control_flow=lower_control_flow).graph
    return graph.as_graph_def().SerializeToString()


def assert_equal(source, inputs, expected, devices=DEVICES) -> None:
    for device in devices:
        found = Core().compile_model(source, device)(inputs).to_tuple()
        for array, wanted in zip(found, expected, strict=True):
            wanted = np.asarray(wanted)
            assert array.shape == wanted.shape
            assert np.abs(array - wanted).max() <= 1e-4 * np.abs(wanted).max()


@pytest.mark.parametrize("form", ["saved model", "frozen graph"])
@pytest.mark.parametrize("name", SIZES if IS_COMPLETE else SAMPLE)
def test_application(name, form, tmp_path):
    model, images = application(name)
    expected = [model(images, training=False)]
    if form == "saved model":
        model.export(tmp_path, verbose=False)
        assert_equal(tmp_path, [images], expected)
    else:
        spec = tf.TensorSpec([None, *images.shape[1:]], tf.float32)
        assert_equal(frozen(lambda x: model(x, training=False), spec), [images], expected)


@pytest.mark.parametrize("lower_control_flow", [False, True])
@pytest.mark.parametrize("name", LAYERS)
def test_layer(name, lower_control_flow):
    """Lowered control flow has the frames, Switches and Merges of TensorFlow 1."""
    values = np.random.default_rng(0).standard_normal((2, 5, 3), np.float32)
    layer = LAYERS[name]()
    call = (lambda x: layer(x, x)) if name == "attention" else layer
    expected = tf.nest.flatten(call(values))
    length = 5 if name == "unrolled" else None
    graph = frozen(call, tf.TensorSpec([None, length, 3], tf.float32), lower_control_flow)
    assert_equal(graph, [values], expected, ("TEMPLATE", GPUS[0]))
