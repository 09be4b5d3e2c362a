"""Outputs that the caller chooses within functions, and functions of which they need only a part."""

import numpy as np
import pytest

import hetero
from hetero.system.errors import FrontendError

tf = pytest.importorskip("tensorflow")
X = np.random.default_rng(0).standard_normal((1, 4, 4, 2), np.float32)


class Trained(tf.Module):
    """A convolution. ``step`` trains it; it has operators that have no translation."""

    def __init__(self):
        super().__init__()
        self.weight = tf.Variable(tf.ones([2, 2, 2, 3]) * 0.5)
        self.calls = tf.Variable(0.0)

    @tf.function
    def convolve(self, x):
        return tf.identity(tf.nn.relu(tf.nn.conv2d(x, self.weight, 1, "SAME"), name="hidden") + 1, "logits")

    @tf.function(input_signature=[tf.TensorSpec([None, 4, 4, 2], name="x")])
    def step(self, x):
        with tf.GradientTape() as tape:
            logits = self.convolve(x)
            loss = tf.reduce_sum(tf.math.igamma(logits, logits))
        self.weight.assign_sub(tape.gradient(loss, self.weight))
        return {"logits": logits, "loss": loss}

    @tf.function(input_signature=[tf.TensorSpec([None, 4, 4, 2], name="x")])
    def count(self, x):
        self.calls.assign_add(1.0)
        return {"logits": self.convolve(x), "loss": tf.math.igamma(x, x), "calls": self.calls.read_value()}


# The name of the nodes that call the signature's function, the method, and the convolution.
CALL = "StatefulPartitionedCall"
INNER = "/".join([CALL] * 3)


def saved(method, folder):
    module = Trained()
    tf.saved_model.save(module, str(folder), signatures=getattr(module, method))
    return module


def compiled(path, *names):
    return hetero.compile_model(hetero.convert_model(path, output=list(names)), "TEMPLATE")


@pytest.mark.parametrize("method", ["step", "count"])
def test_the_whole_model_has_unknown_operators(method, tmp_path):
    saved(method, tmp_path)
    for names in (None, ["loss"], [f"{CALL}/{CALL}/Igamma"], [f"{INNER}/logits", "loss"]):
        with pytest.raises(FrontendError, match="there is no translation of .*Igamma"):
            hetero.convert_model(tmp_path, output=names)


@pytest.mark.parametrize(("method", "hidden"), [("step", "hidden_0"), ("count", "hidden")])
def test_values_within_functions(method, hidden, tmp_path):
    module = saved(method, tmp_path)
    names = [f"{INNER}/logits", f"{INNER}/{hidden}:0", f"{CALL}/{CALL}/{CALL}"]
    for chosen in (names, names[::-1], names[:1], names[1:2]):
        model = hetero.convert_model(tmp_path, output=chosen)
        assert [name in port.names for name, port in zip(chosen, model.outputs, strict=True)] == [True] * len(chosen)
        assert not model.get_variables()  # what follows trains the model, or counts
        logits = module.convolve(X).numpy()
        for name, array in zip(chosen, hetero.compile_model(model, "TEMPLATE")([X]).to_tuple(), strict=True):
            np.testing.assert_allclose(array, logits - (hidden in name), rtol=1e-5)


def test_functions_of_which_only_some_outputs_are_needed(tmp_path):
    """Outputs of the model come with its changes of variables."""
    module = saved("count", tmp_path)
    request = compiled(tmp_path, "calls", "logits")
    for count in (1, 2):
        calls, logits = request([X]).to_tuple()
        assert calls == count
        np.testing.assert_allclose(logits, module.convolve(X), rtol=1e-5)
    assert len(hetero.convert_model(tmp_path, output="logits").get_variables()) == 1


def test_one_function_called_for_different_outputs():
    @tf.function
    def parts(x):
        return tf.nn.relu(x, name="first"), tf.math.igamma(x, x), tf.abs(x, name="last")

    def function(x):
        first, _, _ = parts(x)
        _, _, last = parts(first - 1)
        return tf.add(first, last, name="sum"), parts(x)[1]

    content = tf.function(function).get_concrete_function(tf.TensorSpec([3])).graph.as_graph_def().SerializeToString()
    x = np.float32([-1, 0.5, 3])
    first = np.maximum(x, 0)
    request = compiled(content, "sum", "PartitionedCall/first:0", "PartitionedCall_1/last:0", "PartitionedCall:0")
    for array, expected in zip(request([x]).to_tuple(), [first + abs(first - 1), first, abs(first - 1), first]):
        np.testing.assert_allclose(array, expected, rtol=1e-6)
    with pytest.raises(FrontendError, match="there is no translation of Igamma"):
        hetero.convert_model(content, output="PartitionedCall_1/second:0")
