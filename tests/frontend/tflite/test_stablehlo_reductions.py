"""StableHLO reductions, against LiteRT (REDUCE_WINDOW) or numpy."""

import numpy as np
import pytest

from hetero.system.errors import HeteroError
from tests.frontend.tflite.agreement import CORE, EACH_GPU, assert_as_litert, assert_gives
from tests.frontend.tflite.models import Graph, Op, constant, feed, model_of, out

X = np.random.default_rng(0).standard_normal((3, 5, 4)).astype(np.float32)
YES = X > 0.5


def body(kind, dtype=np.float32, swapped=False):
    """Return a graph that combines two scalars."""
    inputs = [feed((), dtype), feed((), dtype)]
    return Graph([Op(kind, inputs[::-1] if swapped else inputs, [out(dtype, ())])], inputs, name="body")


def arg_max():
    """Return a graph that keeps the larger of two values and its index."""
    left, left_place, right, right_place = inputs = [feed((), kind) for kind in (np.float32, np.int32) * 2]
    chosen = out(bool, ())
    larger, place = out(np.float32, ()), out(np.int32, ())
    steps = [
        Op("STABLEHLO_COMPARE", [left, right], [chosen], comparison_direction="STABLEHLO_COMPARISON_DIRECTION_GE"),
        Op("STABLEHLO_SELECT", [chosen, left, right], [larger]),
        Op("STABLEHLO_SELECT", [chosen, left_place, right_place], [place]),
    ]
    return Graph(steps, inputs, [larger, place], "arg_max")


def sum_in_steps():
    """Return a graph that adds in two steps, so that it is not recognized as one operation."""
    left, right = inputs = [feed((), np.float32) for _ in range(2)]
    total = out(np.float32, ())
    steps = [Op("STABLEHLO_MULTIPLY", [left, constant(np.float32(1))], [out(np.float32, ())])]
    steps.append(Op("STABLEHLO_ADD", [steps[0].outputs[0], right], [total]))
    return Graph(steps, inputs, [total], "sum")


def reduced(x, graph, axes, first, expected, device, **more):
    model = model_of(
        "STABLEHLO_REDUCE", feed(x), constant(np.array(first, x.dtype)),
        outputs=[out(x.dtype, expected.shape)], dimensions=axes, body_subgraph_index=graph,
    )  # fmt: skip
    assert_gives(model, [expected], device)


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("first", [0, 2])
@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("STABLEHLO_ADD", np.add), ("STABLEHLO_MULTIPLY", np.multiply), ("STABLEHLO_MAXIMUM", np.maximum),
        ("STABLEHLO_MINIMUM", np.minimum), ("ADD", np.add),
    ],
)  # fmt: skip
def test_reduce(kind, function, first, device):
    expected = function.reduce(X, axis=(0, 2), initial=np.float32(first))
    reduced(X, body(kind, swapped=bool(first)), [2, 0], first, expected, device)


@pytest.mark.parametrize("device", EACH_GPU)
def test_reduce_of_booleans(device):
    reduced(YES, body("STABLEHLO_AND", bool), [1], True, YES.all(1), device)
    reduced(YES, body("STABLEHLO_OR", bool), [1, 2], False, YES.any((1, 2)), device)
    reduced(YES, body("STABLEHLO_ADD", bool), [0], True, np.ones((5, 4), bool), device)


@pytest.mark.parametrize("device", EACH_GPU)
def test_reduce_by_a_graph_of_several_operations(device):
    reduced(X, sum_in_steps(), [1, 2], 3, X.sum((1, 2)) + 3, device)
    reduced(X, sum_in_steps(), [], 3, X + 3, device)


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_arg_max(axis, device):
    places = np.moveaxis(
        np.broadcast_to(np.arange(X.shape[axis], dtype=np.int32), np.moveaxis(X, axis, -1).shape), -1, axis
    )
    expected = X.max(axis), X.argmax(axis).astype(np.int32)
    model = model_of(
        "STABLEHLO_REDUCE", feed(X), feed(places), constant(np.float32(-np.inf)), constant(np.int32(0)),
        outputs=[out(array.dtype, array.shape) for array in expected], dimensions=[axis],
        body_subgraph_index=arg_max(),
    )  # fmt: skip
    assert_gives(model, expected, device)


def test_reduce_of_nothing():
    reduced(X[:0], body("STABLEHLO_ADD"), [0], 2, np.full((5, 4), np.float32(2)), "TEMPLATE")
    reduced(X[:0], body("STABLEHLO_MAXIMUM"), [0], 2, np.full((5, 4), np.float32(2)), "TEMPLATE")


# Windows, strides, spread of the operand, of the window, padding.
WINDOWS = {
    "plain": ([1, 2, 3], [1, 1, 1], [1, 1, 1], [1, 1, 1], [0] * 6),
    "strides": ([1, 3, 2], [2, 2, 1], [1, 1, 1], [1, 1, 1], [0] * 6),
    "padded": ([3, 1, 2], [1, 1, 2], [1, 1, 1], [1, 1, 1], [1, 1, 0, 0, 0, 3]),
    "apart": ([2, 3, 1], [1, 1, 1], [1, 1, 2], [2, 2, 1], [0, 0, 2, 0, 0, 0]),
    "spread": ([2, 2, 2], [1, 2, 1], [2, 1, 3], [1, 3, 2], [0, 1, 1, 0, -1, 0]),
    "all": ([3, 5, 4], [1, 1, 1], [1, 1, 1], [1, 1, 1], [0] * 6),
    "up to each": ([1, 5, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [0, 0, 4, 0, 0, 0]),
    "from each on": ([1, 1, 4], [1, 1, 1], [1, 1, 1], [1, 1, 1], [0, 0, 0, 0, 0, 3]),
    "up to each, padded": ([1, 5, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [0, 1, 4, 0, 0, 0]),
}


WINDOWED = [
    ("ADD", 0), ("STABLEHLO_MAXIMUM", -np.inf), ("MUL", 1), ("STABLEHLO_ADD", 3), ("STABLEHLO_MINIMUM", 0),
]  # fmt: skip


def in_windows(name, kind, x, first):
    sizes, steps, spread, dilations, padding = WINDOWS[name]
    return model_of(
        "STABLEHLO_REDUCE_WINDOW", feed(x), constant(np.array(first, x.dtype)), window_dimensions=sizes,
        window_strides=steps, base_dilations=spread, window_dilations=dilations, padding=padding,
        body_subgraph_index=body(kind, x.dtype),
    )  # fmt: skip


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize(("kind", "first"), WINDOWED)
def test_reduce_window(name, kind, first):
    assert_as_litert(in_windows(name, kind, X, first))


@pytest.mark.parametrize("device", EACH_GPU[1:])
@pytest.mark.parametrize("name", WINDOWS)
def test_reduce_window_on_opencl(name, device):
    assert_as_litert(in_windows(name, "ADD", X, 3), device)


@pytest.mark.parametrize("name", ["up to each", "from each on"])
def test_sums_up_to_each_element_are_one_operation(name):
    model = CORE.read_model(in_windows(name, "ADD", X, 0).content)
    assert [node.get_type_name() for node in model.get_ordered_ops()] == ["Parameter", "Constant", "CumSum", "Result"]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64])
def test_reduce_window_of_integers(dtype):
    assert_as_litert(in_windows("padded", "ADD", (X * 10).astype(dtype), 1))


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("kind", ["ADD", "MUL", "MINIMUM", "MAXIMUM"])
def test_reduce_window_of_tensorflow_lite(kind, device):
    shape, steps, dilations = (constant(np.int64(numbers)) for numbers in ([2, 3, 1], [1, 1, 2], [2, 1, 1]))
    model = model_of("REDUCE_WINDOW", feed(X), constant(np.float32(0.5)), shape, steps, dilations, reduce_function=kind)
    assert_as_litert(model, device)


@pytest.mark.parametrize("kind", ["ALL", "ANY"])
def test_reduce_window_of_booleans(kind):
    shape, steps, dilations = (constant(np.int64(numbers)) for numbers in ([2, 3, 1], [1, 1, 2], [2, 1, 1]))
    first = constant(np.array(kind == "ALL"))
    assert_as_litert(model_of("REDUCE_WINDOW", feed(YES), first, shape, steps, dilations, reduce_function=kind))


def with_shapes():
    """Return a graph with an operator that is not element-wise."""
    inputs = [feed((), np.float32), feed((), np.float32)]
    return Graph([Op("STABLEHLO_CONCATENATE", inputs, [out(np.float32, ())], dimension=0)], inputs, name="joining")


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        (with_shapes, {"dimensions": [0]}, "Concat"),
        (arg_max, {"dimensions": [0]}, "4 inputs, but is given 2"),
        (lambda: body("ADD"), {"dimensions": [7]}, "7"),
    ],
)
def test_refused(graph, options, message):
    model = model_of(
        "STABLEHLO_REDUCE", feed(X), constant(np.float32(0)), outputs=[out(np.float32, (5, 4))],
        body_subgraph_index=graph(), **options,
    )  # fmt: skip
    with pytest.raises(HeteroError, match=message):
        CORE.read_model(model.content)


def test_a_window_that_does_not_fit():
    model = model_of(
        "STABLEHLO_REDUCE_WINDOW", feed(X), constant(np.float32(0)), outputs=[out(np.float32, (1, 1, 1))],
        window_dimensions=[4, 1, 1], body_subgraph_index=body("ADD"),
    )  # fmt: skip
    with pytest.raises(HeteroError, match="a window of 4 elements, 1 apart, does not fit on axis 0: 3"):
        CORE.read_model(model.content)
