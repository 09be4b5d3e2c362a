"""Control flow of TensorFlow 1, frozen as its own tools freeze it."""

import numpy as np
import pytest

from hetero import Core
from hetero.system.errors import FrontendError, HeteroError
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


def read_one_by_one(x):
    """Elements of known and of unknown length, read after each other has been set."""
    items = tf.TensorArray(tf.float32, 3, element_shape=[None], infer_shape=False, clear_after_read=False)
    items = items.write(0, x[0, :1]).write(1, x[0, :3]).write(2, x[:, 0])
    return [items.read(index) for index in range(3)]


def read_one_by_one_of_unknown_rank(x):
    items = tf.TensorArray(tf.float32, 2, infer_shape=False, clear_after_read=False)
    items = items.write(0, x[:1]).write(1, x[:3])
    return [items.read(0), items.read(1), items.size()]


def read_in_loops(x):
    """One loop writes i + 1 rows to element i, another one reads the elements."""
    items = tf.TensorArray(tf.float32, 3, infer_shape=False, clear_after_read=False)
    items = tf.while_loop(lambda i, _: i < 3, lambda i, items: (i + 1, items.write(i, x[: i + 1])), (0, items))[1]
    step = lambda i, items, total: (i + 1, items, total * 2 + tf.reduce_sum(items.read(i)))  # noqa: E731
    total = tf.while_loop(lambda i, *_: i < 3, step, (0, items, 0.0))[2]
    return [total, items.read(1)]


def popped_elements(x):
    items = tf.raw_ops.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=tf.float32)
    found = []
    for part in (x[:1], x, x[:0], x[:2]):
        items = tf.raw_ops.TensorListPushBack(input_handle=items, tensor=part)
    for _ in range(4):
        items, item = tf.raw_ops.TensorListPopBack(input_handle=items, element_shape=-1, element_dtype=tf.float32)
        found.append(item)
    return found


def split_into_unequal(x):
    items = tf.TensorArray(tf.float32, 3, infer_shape=False, clear_after_read=False).split(x, [1, 0, 2])
    return [items.read(2), items.read(0), items.concat()]


def strings_that_are_not_set(x):
    items = tf.TensorArray(tf.string, 0, dynamic_size=True, element_shape=[None])
    return items.write(2, tf.strings.as_string(tf.cast(x[0], tf.int32))).stack()


@pytest.mark.parametrize("specs", [None, [tf.TensorSpec([None, 4])]], ids=["static", "dynamic"])
@pytest.mark.parametrize(
    "function",
    [
        unequal_array, unequal_array_of_unknown_rank, pushed_elements, read_one_by_one, read_one_by_one_of_unknown_rank,
        read_in_loops, popped_elements, split_into_unequal,
    ],
)  # fmt: skip
def test_lists_of_unequal_elements(function, specs):
    assert_agrees(function, DATA, specs=specs)


def stacked_and_concatenated(x):
    items = tf.TensorArray(tf.float32, 2, element_shape=[None, 4], infer_shape=False).write(0, x).write(1, x)
    return [items.concat(), items.stack()]


def stacked_and_unequal(x):
    return tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, x[:1]).write(1, x[:3]).stack()


def pushed_and_unequal(x):
    items = tf.raw_ops.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=tf.float32)
    for part in (x[:1], x[:3]):
        items = tf.raw_ops.TensorListPushBack(input_handle=items, tensor=part)
    return tf.raw_ops.TensorListStack(input_handle=items, element_shape=-1, element_dtype=tf.float32)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (stacked_and_concatenated, "a list whose elements may have different lengths"),
        (stacked_and_unequal, "an item has the shape .3,4., but the elements of the list have .1,4."),
        (pushed_and_unequal, "an item has the shape .3,4., but the elements of the list have .1,4."),
    ],
)
def test_lists_that_are_refused(function, message):
    with pytest.raises(FrontendError, match=message):
        Core().read_model(frozen(function, DATA))


@pytest.mark.parametrize("function", [stacked_and_unequal, pushed_and_unequal])
@pytest.mark.parametrize("spec", [[None, 4], [None, None]])
def test_unequal_elements_that_are_stacked_fail_when_the_model_runs(function, spec):
    """As in TensorFlow. Elements that are equal by chance are stacked."""
    compiled = Core().compile_model(frozen(function, tf.TensorSpec(spec)), "TEMPLATE")
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.constant(DATA))
    with pytest.raises(HeteroError, match="Concat"):
        compiled([DATA])
    np.testing.assert_array_equal(compiled([DATA[:1]])[0], function(tf.constant(DATA[:1])))


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
@pytest.mark.parametrize(
    "function", [growing_array, scattered_array, split_array, concatenated_array, strings_that_are_not_set]
)
def test_lists(function, specs):
    assert_agrees(function, DATA, specs=specs)
