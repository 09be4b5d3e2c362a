"""Makes the cases of tests/frontend/tensorflow: small models in all forms, with inputs and TensorFlow's outputs.

``PYTHONHASHSEED=0 python -m tests.frameworks.tensorflow.make_cases FOLDER``. The same version of TensorFlow makes the
same bytes.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

v1 = tf.compat.v1
Arrays = Sequence[np.ndarray]


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape, np.float32)


def image_model() -> keras.Model:
    """Return a small convolutional network with what those of Keras are made of."""
    inputs = keras.Input((16, 16, 3), name="image")
    x = keras.layers.Conv2D(8, 3, 2, "same", use_bias=False, name="stem")(inputs)
    x = keras.layers.BatchNormalization(name="norm")(x)
    x = keras.layers.Activation("relu6")(x)
    shortcut = x
    x = keras.layers.DepthwiseConv2D(3, padding="same", name="depthwise")(x)
    x = keras.layers.Conv2D(8, 3, padding="same", groups=2, activation="swish", name="grouped")(x)
    x = keras.layers.Add()([x, shortcut])
    x = keras.layers.MaxPooling2D(3, 2, "same")(x)
    x = keras.layers.Conv2DTranspose(4, 3, 2, "same", name="transposed")(x)
    x = keras.layers.Concatenate()([keras.layers.UpSampling2D(2)(x), inputs])
    x = keras.layers.AveragePooling2D(3, 2, "same")(x)
    x = keras.layers.GlobalAveragePooling2D()(x)
    model = keras.Model(inputs, keras.layers.Dense(5, "softmax", name="head")(x))
    model.get_layer("norm").set_weights([random(8) + 2, random(8), random(8), random(8) ** 2 + 0.5])
    return model


def recurrent_model() -> keras.Model:
    inputs = keras.Input((None, 4), name="sequence")
    x = keras.layers.Bidirectional(keras.layers.LSTM(3, return_sequences=True))(inputs)
    return keras.Model(inputs, [keras.layers.GRU(3)(x), keras.layers.SimpleRNN(2, return_sequences=True)(x)])


def loops(data: tf.Tensor, steps: tf.Tensor) -> dict[str, tf.Tensor]:
    """Return the results of nested loops and branches, of a loop in which a shape grows, and of an array."""

    def step(index: tf.Tensor, value: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        _, inner = tf.while_loop(lambda j, y: j < index, lambda j, y: (j + 1, y * 1.5 + data), (0, value))
        return index + 1, tf.cond(index > 1, lambda: inner, lambda: value - 1.0)

    def write(index: tf.Tensor, array: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
        return index + 1, array.write(index, data * tf.cast(index, tf.float32))

    _, grown = tf.while_loop(
        lambda index, rows: index < steps,
        lambda index, rows: (index + 1, tf.concat([rows, rows[:1] * 2.0], 0)),
        (0, data),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 4])),
    )
    _, array = tf.while_loop(lambda index, _: index < 3, write, (0, tf.TensorArray(tf.float32, 3)))
    return {
        "array": array.stack(),
        "grown": grown,
        "nested": tf.while_loop(lambda index, value: index < steps, step, (0, data))[1],
    }


class ControlFlow(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None, 4], name="data"), tf.TensorSpec([], tf.int32, name="steps")])
    def __call__(self, data: tf.Tensor, steps: tf.Tensor) -> dict[str, tf.Tensor]:
        chosen = tf.switch_case(steps, [lambda: data + 1.0, lambda: tf.exp(data), lambda: data * data])
        return {"chosen": chosen, **loops(data, steps)}


def frozen(function: Callable[..., object], specs: Sequence[tf.TensorSpec]) -> tf.Graph:
    concrete = tf.function(function).get_concrete_function(*specs)
    return convert_variables_to_constants_v2(concrete, lower_control_flow=False).graph


def specs_of(inputs: Arrays) -> list[tf.TensorSpec]:
    """Return specifications with an unknown first dimension."""
    return [tf.TensorSpec([None, *one.shape[1:]] if one.ndim else [], one.dtype) for one in inputs]


class KerasModule(tf.Module):
    """A model of Keras with its variables in order: ``model.export()`` gives them another order each time."""

    def __init__(self, model: keras.Model) -> None:
        super().__init__()
        self.all_variables = [variable.value for variable in model.variables]
        self._call = model

    @tf.function(input_signature=[tf.TensorSpec([None, 16, 16, 3], name="image")])
    def __call__(self, image: tf.Tensor) -> tf.Tensor:
        return self._call(image)


class Counter(tf.Module):
    """A variable that changes with every inference."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = tf.Variable(random(4), name="weight")
        self.total = tf.Variable(np.zeros(4, np.float32), name="total")

    @tf.function(input_signature=[tf.TensorSpec([None, 4], name="x")])
    def __call__(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
        self.total.assign_add(tf.reduce_sum(x, 0))
        return {"scaled": x * self.weight, "total": self.total.read_value()}


class Vocabulary(tf.Module):
    """Tables of constants and of a file, and mutable ones whose contents are in the checkpoint."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        keys, values = tf.constant(["a", "bb", "ccc"]), tf.constant([0.5, 0.25, 0.125])
        self.weights = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), 0.0)
        line, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
        self.file = tf.saved_model.Asset(str(file))
        initializer = tf.lookup.TextFileInitializer(self.file, tf.string, line, tf.int64, number)
        self.numbers = tf.lookup.StaticHashTable(initializer, -1)
        self.names = tf.lookup.experimental.MutableHashTable(tf.int64, tf.string, "?")
        self.names.insert([0, 2], ["drei", ""])
        self.rows = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, [0.0, 1.0], -2, -3, 8)
        self.rows.insert([2, 0], [[3.0, 4.0], [5.0, 6.0]])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
    def __call__(self, words: tf.Tensor) -> dict[str, tf.Tensor]:
        number = self.numbers.lookup(words)
        lengths = tf.strings.length(self.names.lookup(number))
        return {
            "lengths": lengths, "number": number, "rows": self.rows.lookup(number), "weight": self.weights.lookup(words)
        }  # fmt: skip


def write(folder: Path) -> None:
    """Write all cases: the model, and ``NAME.npz`` with the inputs and outputs of each call."""
    keras.utils.set_random_seed(0)
    folder.mkdir(parents=True, exist_ok=True)
    image, sequence, flow = [random(2, 16, 16, 3)], [random(2, 5, 4)], [random(3, 4), np.int32(3)]
    model, recurrent = image_model(), recurrent_model()
    _write_graph(folder / "image.pb", frozen(model, specs_of(image)), model, [image])
    _write_graph(folder / "recurrent.pb", frozen(recurrent, specs_of(sequence)), recurrent, [sequence])
    flows = [flow, [-flow[0], np.int32(0)]]
    with tempfile.TemporaryDirectory() as temporary:
        tf.saved_model.save(KerasModule(model), f"{temporary}/keras")
        _write_saved_model(folder / "keras", Path(temporary, "keras"), model, [image])
        # As whole, its functions read variables of other names than those that the checkpoint is restored into.
        objects = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3), keras.layers.BatchNormalization()])
        tf.saved_model.save(objects, f"{temporary}/keras_objects")
        _write_saved_model(folder / "keras_objects", Path(temporary, "keras_objects"), objects, [[random(2, 4)]])
        control_flow = ControlFlow()
        tf.saved_model.save(control_flow, f"{temporary}/control_flow")
        _write_saved_model(folder / "control_flow", Path(temporary, "control_flow"), control_flow, flows)
        counter, calls = Counter(), [[random(2, 4)], [random(3, 4)]]
        tf.saved_model.save(counter, f"{temporary}/counter")
        _write_saved_model(folder / "counter", Path(temporary, "counter"), counter, calls)
        words = Path(temporary, "words.txt")
        words.write_text("ccc\nbb\na\n")
        vocabulary = Vocabulary(words)
        tf.saved_model.save(vocabulary, f"{temporary}/vocabulary")
        calls = [[np.array(["a", "dddd", "ccc"])]]
        _write_saved_model(folder / "vocabulary", Path(temporary, "vocabulary"), vocabulary, calls)
        _write_v1_models(folder, Path(temporary))
    _write_v1_control_flow(folder, flows)


def _write_v1_models(folder: Path, temporary: Path) -> None:
    """Write a SavedModel and a checkpoint of TensorFlow 1, whose variables are references."""
    x = random(2, 4)
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        data = v1.placeholder(tf.float32, [None, 4], name="data")
        weight = v1.get_variable("weight", initializer=random(4, 3), use_resource=False)
        bias = v1.get_variable("bias", initializer=random(3), use_resource=True)
        result = tf.nn.relu(tf.matmul(data, weight) + bias, name="result")
        session.run(v1.global_variables_initializer())
        expected = session.run(result, {data: x})
        v1.saved_model.simple_save(session, str(temporary / "v1"), {"data": data}, {"result": result})
        checkpoint = folder / "checkpoint"
        shutil.rmtree(checkpoint, ignore_errors=True)
        v1.train.Saver().save(session, str(checkpoint / "model"))
        (checkpoint / "checkpoint").unlink()
    _clean(checkpoint)
    _replace(folder / "v1", temporary / "v1")
    for name in ("v1", "checkpoint"):
        np.savez_compressed(folder / f"{name}.npz", **{"0.input.0": x, "0.output.0": expected})


def _write_v1_control_flow(folder: Path, calls: Sequence[Arrays]) -> None:
    """Write the loops as frames, in text."""
    v1.disable_control_flow_v2()
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        inputs = [v1.placeholder(tf.float32, [None, 4], name="data"), v1.placeholder(tf.int32, [], name="steps")]
        results = [tf.identity(value, name=f"result_{name}") for name, value in sorted(loops(*inputs).items())]
        arrays = {}
        for at, call in enumerate(calls):
            expected = session.run(results, dict(zip(inputs, call)))
            arrays.update({f"{at}.input.{index}": value for index, value in enumerate(call)})
            arrays.update({f"{at}.output.{index}": value for index, value in enumerate(expected)})
    names = [value.op.name for value in results]
    needed = v1.graph_util.extract_sub_graph(graph.as_graph_def(), names)
    (folder / "frames.pbtxt").write_text(text_format.MessageToString(needed))
    np.savez_compressed(folder / "frames.npz", **arrays)


def _write_graph(path: Path, graph: tf.Graph, function: Callable[..., object], calls: Sequence[Arrays]) -> None:
    message = graph.as_graph_def()
    _sort(message)
    path.write_bytes(message.SerializeToString(deterministic=True))
    _write_calls(path.parent / f"{path.stem}.npz", function, calls)


def _write_saved_model(path: Path, source: Path, function: Callable[..., object], calls: Sequence[Arrays]) -> None:
    _replace(path, source)
    _write_calls(path.parent / f"{path.name}.npz", function, calls)


def _replace(path: Path, source: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(source, path)
    _clean(path)


def _clean(folder: Path) -> None:
    """Remove what is different each time: fingerprints, and the order of maps."""
    (folder / "fingerprint.pb").unlink(missing_ok=True)
    if (file := folder / "saved_model.pb").exists():
        model = saved_model_pb2.SavedModel.FromString(file.read_bytes())
        # The numbers of functions count everything that TensorFlow has traced before.
        text = text_format.MessageToString(model)
        numbers = sorted({int(number) for number in re.findall(r'["_-](\d{3,})"', text)})
        text = re.sub(r"<[\w.]+ object at 0x\w+>", "object", text)
        text = re.sub(r'(["_-])(\d{3,})"', lambda match: f'{match[1]}{numbers.index(int(match[2]))}"', text)
        model = text_format.Parse(text, saved_model_pb2.SavedModel())
        _sort(model.meta_graphs[0].graph_def)
        file.write_bytes(model.SerializeToString(deterministic=True))


def _sort(graph: Any) -> None:
    """Sort the functions and nodes of a GraphDef, which are in a different order each time."""
    for nodes in [graph.node, *(function.node_def for function in graph.library.function)]:
        ordered = sorted(nodes, key=lambda node: node.name)
        del nodes[:]
        nodes.extend(ordered)
    functions = sorted(graph.library.function, key=lambda function: function.signature.name)
    del graph.library.function[:]
    graph.library.function.extend(functions)


def _write_calls(path: Path, function: Callable[..., object], calls: Sequence[Arrays]) -> None:
    arrays = {}
    for at, call in enumerate(calls):
        results = tf.nest.flatten(function(*map(tf.constant, call)))
        arrays.update({f"{at}.input.{index}": value for index, value in enumerate(call)})
        arrays.update({f"{at}.output.{index}": np.asarray(value) for index, value in enumerate(results)})
    np.savez_compressed(path, **arrays)


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    write(Path(sys.argv[1]))
