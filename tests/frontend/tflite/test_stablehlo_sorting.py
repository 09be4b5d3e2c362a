"""StableHLO SORT against numpy, as LiteRT has no kernel for it."""

import numpy as np
import pytest

from hetero.system.errors import HeteroError
from tests.frontend.tflite.agreement import CORE, EACH_GPU, assert_gives
from tests.frontend.tflite.models import Graph, Op, constant, feed, model_of, out

X = np.random.default_rng(0).integers(-5, 5, (3, 40, 2))


def compare(left, right, direction, kind="NOTYPE"):
    return Op(
        "STABLEHLO_COMPARE", [left, right], [out(bool, ())], compare_type=f"STABLEHLO_COMPARISON_TYPE_{kind}",
        comparison_direction=f"STABLEHLO_COMPARISON_DIRECTION_{direction}",
    )  # fmt: skip


def scalars(arrays):
    """Return the inputs of a comparator: two per tensor."""
    return [feed((), array.dtype.type) for array in arrays for _ in range(2)]


def by_key(arrays, place=0, direction="LT", swapped=False, kind="NOTYPE"):
    """Return a comparator of one tensor."""
    inputs = scalars(arrays)
    pair = inputs[2 * place : 2 * place + 2]
    return Graph([compare(*(pair[::-1] if swapped else pair), direction, kind)], inputs, name="comparator")


def by_absolute_value(arrays):
    inputs = scalars(arrays)
    sizes = [Op("STABLEHLO_ABS", [value]) for value in inputs[:2]]
    for size in sizes:
        size.outputs[0].shape = ()
    return Graph([*sizes, compare(sizes[0].outputs[0], sizes[1].outputs[0], "LT")], inputs, name="comparator")


def by_two_keys(arrays):
    """Return a comparator: the first tensor ascending, then the second descending."""
    inputs = scalars(arrays)
    steps = [compare(*inputs[:2], "LT"), compare(*inputs[:2], "EQ"), compare(*inputs[2:4], "GT")]
    less, equal, other = (step.outputs[0] for step in steps)
    steps.append(Op("STABLEHLO_AND", [equal, other], [out(bool, ())]))
    steps.append(Op("STABLEHLO_OR", [less, steps[-1].outputs[0]], [out(bool, ())]))
    return Graph(steps, inputs, name="comparator")


def never(arrays):
    inputs = scalars(arrays)
    nothing = constant(np.array(False))
    return Graph([Op("STABLEHLO_AND", [nothing, nothing], [out(bool, ())])], inputs, name="comparator")


def check(arrays, comparator, axis, places, device):
    outputs = [out(array.dtype, array.shape) for array in arrays]
    model = model_of(
        "STABLEHLO_SORT", *map(feed, arrays), outputs=outputs, dimension=axis, is_stable=True,
        comparator_subgraph_index=comparator,
    )  # fmt: skip
    assert_gives(model, [np.take_along_axis(array, places, axis) for array in arrays], device)


def argsort(keys, axis):
    return np.argsort(keys, axis, kind="stable")


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
def test_by_one_key(axis, dtype, device):
    arrays = [X.astype(dtype), np.arange(X.size, dtype=np.int32).reshape(X.shape)]
    check(arrays, by_key(arrays), axis, argsort(X, axis), device)
    check(arrays, by_key(arrays, direction="GT"), axis, argsort(-X, axis), device)
    check(arrays, by_key(arrays, swapped=True), axis, argsort(-X, axis), device)
    check(arrays[::-1], by_key(arrays[::-1], 1), axis, argsort(X, axis), device)
    check(arrays, by_absolute_value(arrays), axis, argsort(np.abs(X), axis), device)


@pytest.mark.parametrize("device", EACH_GPU)
def test_in_total_order(device):
    ordered = np.float32([-np.nan, -np.inf, -1, -0.0, 0.0, 1, np.inf, np.nan])
    places = np.random.default_rng(0).permutation(8)
    arrays = [ordered[places], np.arange(8, dtype=np.int32)]
    check(
        arrays[1:] + arrays[:1],
        by_key(arrays[1:] + arrays[:1], 1, kind="FLOAT_TOTAL_ORDER"),
        0,
        np.argsort(places),
        device,
    )


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_by_two_keys(axis, device):
    other = np.random.default_rng(1).integers(-3, 3, X.shape).astype(np.int32)
    arrays = [X.astype(np.float32), other, np.arange(X.size, dtype=np.int64).reshape(X.shape)]
    check(arrays, by_two_keys(arrays), axis, np.lexsort((-other, X), axis), device)


@pytest.mark.parametrize("device", EACH_GPU)
def test_of_booleans_and_of_nothing_to_sort_by(device):
    arrays = [X > 0, X.astype(np.int32)]
    check(arrays, by_key(arrays), 1, argsort(X > 0, 1), device)
    check(arrays, never(arrays), 1, argsort(X * 0, 1), device)


def test_too_long_for_a_graph_of_two_keys():
    arrays = [np.zeros(5000, np.float32)] * 2
    model = model_of(
        "STABLEHLO_SORT", *map(feed, arrays), outputs=[out(np.float32, (5000,))] * 2, dimension=0,
        comparator_subgraph_index=by_two_keys(arrays),
    )  # fmt: skip
    with pytest.raises(HeteroError, match="an axis of 5000 elements cannot be sorted by its graph"):
        CORE.read_model(model.content)
