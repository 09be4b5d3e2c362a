"""Hash tables in frozen graphs, which have no signature that names the node that initializes them."""

import numpy as np
import pytest

from hetero import Core
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
