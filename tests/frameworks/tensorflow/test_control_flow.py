"""Control flow of TensorFlow 1, frozen as its own tools freeze it."""

import numpy as np
import pytest

from hetero import Core
from hetero.system.errors import FrontendError
from tests.frameworks.tensorflow.agreement import assert_agrees, frozen

tf = pytest.importorskip("tensorflow")
v1 = tf.compat.v1
DATA = np.random.default_rng(0).standard_normal((3, 4), np.float32)


def branch(x):
    return v1.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1)


def nested_branch(x):
    inner = lambda: v1.cond(tf.reduce_max(x) > 1, lambda: x * 2, lambda: x * 3)  # noqa: E731
    return v1.cond(tf.reduce_sum(x) > 0, inner, lambda: x - 1)


def constant_branch(x):
    return v1.cond(tf.reduce_sum(x) > 0, lambda: tf.constant(3.0), lambda: tf.reduce_sum(x))


def loop(x):
    return v1.while_loop(lambda i, y: tf.reduce_max(y) < 10, lambda i, y: (i + 1, y * 1.5 + tf.abs(x)), (0, x))[1]


def loop_in_branch(x):
    return v1.cond(tf.reduce_sum(x) > 0, lambda: loop(x), lambda: x)


def nested_loop(x):
    def step(i, y):
        inner = lambda: v1.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z + 1.0), (0, y))[1]  # noqa: E731
        return i + 1, v1.cond(i > 1, inner, lambda: y * x)

    return v1.while_loop(lambda i, y: i < 4, step, (0, x))[1]


def array_loop(x):
    rows = v1.TensorArray(tf.float32, size=tf.shape(x)[0]).unstack(x)
    results = v1.TensorArray(tf.float32, size=tf.shape(x)[0])

    def step(i, state, array):
        state = tf.tanh(rows.read(i) + state)
        return i + 1, state, array.write(i, state)

    _, state, array = v1.while_loop(lambda i, *_: i < tf.shape(x)[0], step, (0, tf.zeros_like(x[0]), results))
    return [state, array.stack()]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "function", [branch, nested_branch, constant_branch, loop, loop_in_branch, nested_loop, array_loop]
)
def test_agrees(function, sign):
    data = sign * np.abs(DATA)
    v1.disable_control_flow_v2()
    try:
        with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
            x = v1.placeholder(tf.float32, [None, 4])
            results = [tf.identity(value, f"result_{at}") for at, value in enumerate(tf.nest.flatten(function(x)))]
            expected = session.run(results, {x: data})
            names = [result.op.name for result in results]
            content = v1.graph_util.extract_sub_graph(graph.as_graph_def(), names).SerializeToString()
    finally:
        v1.enable_control_flow_v2()
    found = Core().compile_model(content, "TEMPLATE")([data]).to_tuple()
    for array, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(array, wanted, rtol=1e-4, atol=1e-5)


def growing_array(x):
    rows = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    step = lambda i, rows: (i + 1, rows.write(i, x[i] * tf.cast(i, tf.float32)))  # noqa: E731
    return tf.while_loop(lambda i, _: i < tf.shape(x)[0], step, (0, rows))[1].stack()


def scattered_array(x):
    return tf.TensorArray(tf.float32, 5).scatter([1, 3, 0], x).gather([3, 1, 0])


def split_array(x):
    return tf.TensorArray(tf.float32, 3).split(tf.reshape(x, [-1]), [4, 4, 4]).stack()


def concatenated_array(x):
    return tf.TensorArray(tf.float32, 2).write(0, x).write(1, -x).concat()


def unequal_array(x):
    """Element i has i rows; an element is read, and one is replaced, within the loop."""
    rows = tf.TensorArray(
        tf.float32, 0, dynamic_size=True, element_shape=[None, 4], infer_shape=False, clear_after_read=False
    )

    def step(i, rows, total):
        rows = rows.write(i, x[:i] * tf.cast(i, tf.float32)).write(0, x[i:])
        return i + 1, rows, total + tf.reduce_sum(rows.read(i))

    _, rows, total = tf.while_loop(lambda i, *_: i < tf.shape(x)[0], step, (0, rows, 0.0))
    return [rows.concat(), rows.size(), rows.read(2), total]


def unequal_array_of_unknown_rank(x):
    rows = tf.TensorArray(tf.float32, 3, infer_shape=False)
    step = lambda i, rows: (i + 1, rows.write(i, x[i:, 0]))  # noqa: E731
    return tf.while_loop(lambda i, _: i < 3, step, (0, rows))[1].concat()


def pushed_elements(x):
    items = tf.raw_ops.EmptyTensorList(element_shape=[-1, 4], max_num_elements=-1, element_dtype=tf.float32)
    for part in (x[:1], x[:0], x):
        items = tf.raw_ops.TensorListPushBack(input_handle=items, tensor=part)
    longer = tf.raw_ops.TensorListResize(input_handle=items, size=2)
    arguments = {"element_shape": tf.constant([-1, 4]), "leading_dims": np.int64([]), "element_dtype": tf.float32}
    return [
        *tf.raw_ops.TensorListConcatV2(input_handle=items, **arguments),
        *tf.raw_ops.TensorListConcatV2(input_handle=longer, **arguments),
    ]


@pytest.mark.parametrize("specs", [None, [tf.TensorSpec([None, 4])]], ids=["static", "dynamic"])
@pytest.mark.parametrize("function", [unequal_array, unequal_array_of_unknown_rank, pushed_elements])
def test_lists_of_unequal_elements(function, specs):
    assert_agrees(function, DATA, specs=specs)


def stacked_and_concatenated(x):
    items = tf.TensorArray(tf.float32, 2, element_shape=[None, 4], infer_shape=False).write(0, x).write(1, x)
    return [items.concat(), items.stack()]


def test_lists_that_are_refused():
    with pytest.raises(FrontendError, match="a list whose elements may have different lengths"):
        Core().read_model(frozen(stacked_and_concatenated, DATA))


@pytest.mark.parametrize(("start", "limit", "delta"), [(0, 4, 1), (5, -2, -3), (2, 2, 1)])
def test_for(start, limit, delta):
    def function(x, first):
        @tf.function(input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([None, 4]), tf.TensorSpec([])])
        def body(i, y, total):
            return y * 1.5 + tf.cast(i, tf.float32), total + tf.reduce_sum(y)

        concrete = body.get_concrete_function()
        return tf.raw_ops.For(start=first, limit=limit, delta=delta, input=[x, tf.constant(0.5)], body=concrete)

    assert_agrees(
        tf.function(function), DATA, np.int32(start), specs=[tf.TensorSpec([None, 4]), tf.TensorSpec([], tf.int32)]
    )


@pytest.mark.parametrize("specs", [None, [tf.TensorSpec([None, None])]], ids=["static", "dynamic"])
@pytest.mark.parametrize("function", [growing_array, scattered_array, split_array, concatenated_array])
def test_lists(function, specs):
    assert_agrees(function, DATA, specs=specs)
