"""Keras models as SavedModels, in the ways in which programs save them."""

import numpy as np
import pytest

from hetero import Core
from hetero.system.errors import FrontendError

tf = pytest.importorskip("tensorflow")
keras = tf.keras
X = np.random.default_rng(0).standard_normal((2, 4), np.float32)


class Wrapped(tf.Module):
    def __init__(self, *models):
        super().__init__()
        self.models, self.factors = models, tf.Variable([1.0, 2.0])

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def __call__(self, x):
        for model in self.models:
            x = model(x)
        return x * self.factors


def network(name="network", width=2):
    return keras.Sequential(
        [
            keras.layers.Input((4,)),
            keras.layers.Dense(3, bias_initializer="normal", name="first"),
            keras.layers.BatchNormalization(moving_mean_initializer="normal", name="norm"),
            keras.layers.Dense(width, bias_initializer="normal", name="last"),
        ],
        name=name,
    )


WAYS = {
    "saved_model": lambda model, folder: tf.saved_model.save(model, folder),
    "in a module": lambda model, folder: tf.saved_model.save(Wrapped(model), folder),
    "export": lambda model, folder: model.export(folder, verbose=False),
}


@pytest.mark.parametrize("way", WAYS)
def test_ways_of_saving(way, tmp_path):
    model = network()
    WAYS[way](model, str(tmp_path / "model"))
    expected = np.array(model(X)) * ([1, 2] if way == "in a module" else 1)
    found = Core().compile_model(tmp_path / "model", "TEMPLATE")([X])[0]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_variables_of_one_name_are_not_mixed_up(tmp_path):
    """Which of two objects a name means is not in the checkpoint."""
    tf.saved_model.save(Wrapped(network(width=4), network()), str(tmp_path / "model"))
    with pytest.raises(FrontendError, match="is read, but has no initial value"):
        Core().read_model(tmp_path / "model")
