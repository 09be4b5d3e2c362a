"""Variables that a SavedModel changes: in order, in branches, in loops, by rows and by slices."""

import numpy as np
import pytest

from hetero import Core

tf = pytest.importorskip("tensorflow")
X = np.random.default_rng(0).standard_normal((3, 4), np.float32)


def in_order(module, x):
    before = module.row + 0.0
    module.row.assign(x[0])
    middle = module.row * 1.0
    module.row.assign_add(x[1])
    return {"before": before, "middle": middle, "after": module.row.read_value()}


def in_branches(module, x):
    tf.cond(tf.reduce_sum(x) > 0, lambda: module.row.assign_add(x[0]), lambda: module.row.assign(module.row * 3.0))
    return {"row": module.row.read_value()}


def in_loop(module, x):
    def step(i, count):
        module.row.assign_add(x[0] * tf.cast(i, tf.float32))
        tf.cond(tf.reduce_sum(module.row) > 3.0, lambda: module.count.assign_add(1), lambda: module.count.read_value())
        return i + 1, count

    tf.while_loop(lambda i, _: i < 3, step, (0, 0))
    return {"row": module.row.read_value(), "count": module.count.read_value()}


def in_condition(module, x):
    step = lambda i, y: (module.count.assign_add(1), y + module.row)  # noqa: E731
    return {"y": tf.while_loop(lambda i, y: module.count < 5, step, (0, x))[1], "count": module.count.read_value()}


def in_function_called_twice(module, x):
    @tf.function
    def grow(y):
        module.row.assign_add(tf.ones(4))
        return y * module.row

    return {"first": grow(x), "others": grow(x) + grow(x + 1)}


def by_rows(module, x):
    table = module.table
    table.scatter_nd_update([[1], [3]], x[:2])
    table.scatter_nd_add([[1]], x[:1])
    table.scatter_add(tf.IndexedSlices(x[:2], [1, 1]))
    table.scatter_update(tf.IndexedSlices(x[:1], [4]))
    table.scatter_sub(tf.IndexedSlices(x[:1], [0]))
    table.scatter_max(tf.IndexedSlices(x[:1], [2]))
    table.scatter_mul(tf.IndexedSlices(x[:1], [3]))
    return {"table": table.read_value(), "rows": tf.gather(table, [1, 1]), "slice": table[1:3]}


def by_slices(module, x):
    module.table[1:3, ::2].assign(x[:2, :2])
    module.table[-1].assign(tf.zeros(4))
    return {"table": module.table.read_value()}


def of_any_length(module, x):
    """The contents get longer from one inference to the next."""
    before = tf.shape(module.rows)
    module.rows.assign(tf.concat([module.rows, x[:1]], 0))
    return {"before": before, "rows": module.rows.read_value()}


@pytest.mark.parametrize(
    "function",
    [in_order, in_branches, in_loop, in_condition, in_function_called_twice, by_rows, by_slices, of_any_length],
)
def test_agrees(function, tmp_path):
    module = tf.Module()
    module.row = tf.Variable(np.ones(4, np.float32))
    module.table = tf.Variable(np.ones((5, 4), np.float32))
    module.count = tf.Variable(0)
    module.rows = tf.Variable(np.zeros((0, 4), np.float32), shape=[None, 4])
    module.call = tf.function(
        lambda x: function(module, x), input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")]
    )
    tf.saved_model.save(module, str(tmp_path), signatures={"serving_default": module.call})
    call = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    request = Core().compile_model(tmp_path, "TEMPLATE").create_infer_request()
    for data in (X, -X, X * 2):
        expected = call(x=tf.constant(data))
        found = request.infer([data]).to_tuple()
        for array, name in zip(found, sorted(expected), strict=True):
            np.testing.assert_allclose(array, expected[name].numpy(), rtol=1e-4, atol=1e-5)
