"""Hash tables: in frozen graphs, which have no signature that names the node that initializes them, and in
SavedModels, whose checkpoint has the contents of mutable tables."""

import numpy as np
import pytest

from hetero import Core
from hetero.system.errors import FrontendError
from tests.devices import GPUS

tf = pytest.importorskip("tensorflow")
v1 = tf.compat.v1


@pytest.mark.parametrize("device", ["TEMPLATE", GPUS[0]])
def test_table_of_numbers(device):
    numbers = np.array([1, 2, 3, 7, 9])
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        x = v1.placeholder(tf.int64, [None])
        keys, values = tf.constant([3, 1, 7], tf.int64), tf.constant([0.5, 0.25, 0.125])
        table = v1.lookup.StaticHashTable(v1.lookup.KeyValueTensorInitializer(keys, values), -1.0)
        result = tf.identity(table.lookup(x), "result")
        session.run(table.initializer)
        expected = session.run(result, {x: numbers})
        names = ["result", table.initializer.name]
        content = v1.graph_util.extract_sub_graph(graph.as_graph_def(), names).SerializeToString()
    found = Core().compile_model(content, device)([numbers]).to_tuple()[0]
    np.testing.assert_array_equal(found, expected)


def test_insertion_before_a_lookup():
    numbers = np.array([[3, 4], [1, 9]])
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        x = v1.placeholder(tf.int64, [None, 2])
        table = tf.raw_ops.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.float32, shared_name="numbers")
        first = tf.raw_ops.LookupTableInsertV2(
            table_handle=table, keys=tf.constant([3, 1], tf.int64), values=tf.constant([0.5, 0.25])
        )
        with tf.control_dependencies([first]):
            second = tf.raw_ops.LookupTableInsertV2(
                table_handle=table, keys=tf.constant([4, 3], tf.int64), values=tf.constant([2.0, 4.0])
            )
        with tf.control_dependencies([second]):
            found = tf.raw_ops.LookupTableFindV2(table_handle=table, keys=x, default_value=tf.constant(-1.0))
        result = tf.identity(found, "result")
        expected = session.run(result, {x: numbers})
        content = v1.graph_util.extract_sub_graph(graph.as_graph_def(), ["result"]).SerializeToString()
    found = Core().compile_model(content, "TEMPLATE")([numbers]).to_tuple()[0]
    np.testing.assert_array_equal(found, expected)


def assert_saved_model_agrees(folder, *arrays):
    signature = tf.saved_model.load(str(folder)).signatures["serving_default"]
    names = sorted(signature.structured_input_signature[1])
    expected = signature(**{name: tf.constant(array) for name, array in zip(names, arrays, strict=True)})
    request = Core().compile_model(folder, "TEMPLATE").create_infer_request()
    for _ in range(2):
        found = request.infer(list(arrays)).to_tuple()
        for array, name in zip(found, sorted(expected), strict=True):
            wanted = expected[name].numpy()
            if wanted.dtype == object:
                wanted = np.vectorize(bytes.decode, otypes=[object])(wanted)
            assert array.tolist() == wanted.tolist(), name


WORDS = np.array([["a", "zz", "b", "a"]])
SENTENCES = np.array([["Hello red, WORLD unknown"], ["fox"], [""]])
# A layer, what it adapts to (None if it does not), the element type of its input, and inputs.
LAYERS = {
    "strings": ("StringLookup", {}, ["a", "b", "a", "c"], "string", WORDS),
    "a vocabulary": ("StringLookup", {"vocabulary": ["a", "b"], "num_oov_indices": 3}, None, "string", WORDS),
    "one-hot": ("StringLookup", {"vocabulary": ["a", "b"], "output_mode": "multi_hot"}, None, "string", WORDS),
    "inverse": ("StringLookup", {"vocabulary": ["a", "b"], "invert": True}, None, "int64", np.array([[0, 2, 1]])),
    "numbers": ("IntegerLookup", {}, [3, 4, 3, 9], "int64", np.array([[3, 5, 9]])),
    "mask": ("IntegerLookup", {"mask_token": 0, "vocabulary": [5, 7]}, None, "int64", np.array([[0, 7, 8]])),
    "text": ("TextVectorization", {"output_sequence_length": 6}, ["hello big world", "red fox"], "string", SENTENCES),
    "ragged text": ("TextVectorization", {}, ["hello big world", "red fox"], "string", SENTENCES),
    "pairs of words": ("TextVectorization", {"ngrams": 2}, ["hello red world", "red fox"], "string", SENTENCES),
    "counts of words": ("TextVectorization", {"output_mode": "count"}, ["red fox"], "string", SENTENCES),
}


@pytest.mark.parametrize(("layer", "options", "data", "kind", "x"), LAYERS.values(), ids=LAYERS)
def test_preprocessing_layers(layer, options, data, kind, x, tmp_path):
    keras = pytest.importorskip("keras")
    lookup = getattr(keras.layers, layer)(**options)
    if data is not None:
        lookup.adapt(np.array(data))
    inputs = keras.Input(x.shape[1:] if layer == "TextVectorization" else (None,), dtype=kind)
    keras.Model(inputs, lookup(inputs)).export(str(tmp_path), verbose=False)
    assert_saved_model_agrees(tmp_path, x)


class Mutable(tf.Module):
    """Tables with contents of the checkpoint, some of which the signature changes before it reads them."""

    def __init__(self):
        super().__init__()
        experimental = tf.lookup.experimental
        self.words = experimental.MutableHashTable(tf.string, tf.int64, -1)
        self.words.insert(["a", "bb"], [5, 6])
        self.names = experimental.MutableHashTable(tf.int64, tf.string, "?")
        self.names.insert([4, 3], ["four", "thrée"])
        self.rows = experimental.MutableHashTable(tf.int64, tf.float32, [0.0, -1.0])
        self.rows.insert([3, 4], [[1.0, 2.0], [3.0, 4.0]])
        self.dense = experimental.DenseHashTable(tf.int64, tf.float32, [9.0, 9.0], 0, -7, initial_num_buckets=8)
        self.dense.insert([3, 4], [[1.0, 2.0], [3.0, 4.0]])
        self.dense.erase(tf.constant([4], tf.int64))
        self.empty = experimental.MutableHashTable(tf.int64, tf.float32, [0.5, 0.25])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64, "n"), tf.TensorSpec([None], tf.string, "w")])
    def __call__(self, n, w):
        self.words.insert(["c", "a", "c"], [7, 8, 9])
        self.words.remove(tf.constant(["bb", "dd"]))
        tables = {"names": self.names, "rows": self.rows, "dense": self.dense, "empty": self.empty}
        results = {name: table.lookup(n) for name, table in tables.items()}
        sizes = [table.size() for table in (*tables.values(), self.words)]
        return {**results, "words": self.words.lookup(w), "sizes": tf.stack(sizes)}


def test_mutable_tables(tmp_path):
    tf.saved_model.save(Mutable(), str(tmp_path))
    assert_saved_model_agrees(tmp_path, np.array([3, 4, 7, -1]), np.array(["a", "bb", "c", "d"]))


class Counting(tf.Module):
    """A table that each call would change for the next one."""

    def __init__(self):
        super().__init__()
        self.table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def read_first(self, x):
        found = self.table.lookup(x)
        self.table.insert([1], [2])
        return found

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def insert_data(self, x):
        self.table.insert(x, x)
        return self.table.lookup(x)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def in_branch(self, x):
        tf.cond(x[0] > 0, lambda: self.table.insert([1], [2]), lambda: tf.no_op())
        return self.table.lookup(x)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("read_first", "is changed after it is read"),
        ("insert_data", "input keys must be known"),
        ("in_branch", "a branch or a loop changes"),
    ],
)
def test_changes_that_are_not_supported(method, message, tmp_path):
    module = Counting()
    tf.saved_model.save(module, str(tmp_path), signatures={"serving_default": getattr(module, method)})
    with pytest.raises(FrontendError, match=message):
        Core().read_model(tmp_path)
