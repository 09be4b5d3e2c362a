"""StableHLO GATHER and SCATTER against LiteRT."""

import numpy as np
import pytest

from hetero.system.errors import HeteroError
from tests.frontend.tflite.agreement import CORE, EACH_GPU, assert_as_litert, assert_gives
from tests.frontend.tflite.models import Graph, Op, constant, feed, model_of, out

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)


def lengths_of(x, indices, offsets, collapsed, sizes, vector_axis):
    """Return the shape of GATHER's result."""
    batch = iter(length for axis, length in enumerate(indices.shape) if axis != vector_axis)
    kept = iter(size for axis, size in enumerate(sizes) if axis not in collapsed)
    rank = indices.ndim - (vector_axis < indices.ndim) + len(sizes) - len(collapsed)
    return tuple(next(kept) if place in offsets else next(batch) for place in range(rank))


def gathered(x, indices, offsets, collapsed, named, vector_axis, sizes, indices_are=feed):
    shape = lengths_of(x, indices, offsets, collapsed, sizes, vector_axis)
    return model_of(
        "STABLEHLO_GATHER", feed(x), indices_are(indices), outputs=[out(x.dtype, shape)], offset_dims=offsets,
        collapsed_slice_dims=collapsed, start_index_map=named, index_vector_dim=vector_axis, slice_sizes=sizes,
    )  # fmt: skip


# Indices, offset_dims, collapsed_slice_dims, start_index_map, index_vector_dim, slice_sizes.
GATHERS = {
    "rows": ([[2], [0], [1], [2]], [1, 2], [0], [0], 1, [1, 4, 5]),
    "rows of an axis in the middle": ([[3], [0]], [0, 2], [1], [1], 1, [3, 1, 5]),
    "one vector": ([1, 3], [0], [0, 1], [0, 1], 0, [1, 1, 5]),
    "elements": ([[2, 3, 4], [0, 1, 2]], [], [0, 1, 2], [0, 1, 2], 1, [1, 1, 1]),
    "vectors in front": ([[2, 0], [3, 1]], [1], [0, 1], [0, 1], 0, [1, 1, 5]),
    "axes in another order": ([[3, 2], [1, 0]], [1], [0, 1], [1, 0], 1, [1, 1, 5]),
    "windows": ([[1, 2], [0, 0]], [1, 2, 3], [], [1, 2], 1, [3, 2, 3]),
    "windows moved within": ([[2, 9, 4], [-5, 3, 0]], [1, 2, 3], [], [0, 1, 2], 1, [2, 2, 2]),
    "windows of one axis": ([[3], [1]], [1, 2, 3], [], [1], 1, [3, 3, 5]),
    "lengths of 1 that stay": ([[2], [0]], [0, 1, 3], [], [0], 1, [1, 4, 5]),
    "parts of other axes": ([[2], [0]], [1, 2], [0], [0], 1, [1, 2, 3]),
    "an axis taken whole": ([[2, 1], [0, 3]], [1, 2], [0], [0, 1], 1, [1, 4, 5]),
    "all taken whole": ([[1, 1], [0, 0], [2, 2]], [1, 2, 3], [], [0, 1], 1, [3, 4, 5]),
    "batches of vectors": ([[[2, 0], [0, 1]], [[1, 3], [2, 2]]], [1], [0, 1], [0, 1], 2, [1, 1, 5]),
    "an axis that is cut and collapsed": ([[2], [0]], [1], [0, 1], [0], 1, [1, 1, 5]),
}


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("name", GATHERS)
def test_gather(name, device):
    indices, *options = GATHERS[name]
    assert_as_litert(gathered(X, np.int32(indices), *options), device)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, bool])
def test_gather_of_other_types(dtype):
    indices, *options = GATHERS["windows"]
    assert_as_litert(gathered(X.astype(dtype), np.int64(indices), *options))


def test_gather_at_constants():
    indices, *options = GATHERS["windows moved within"]
    assert_as_litert(gathered(X, np.int64(indices), *options, constant))


def writing(kind, dtype=np.float32):
    """Return the graph that combines an element and its update."""
    inputs = [feed((), dtype), feed((), dtype)]
    if kind in ("first", "second"):
        return Graph([], inputs, inputs[:1] if kind == "first" else inputs[1:], name=kind)
    return Graph([Op(f"STABLEHLO_{kind}", inputs, [out(dtype, ())])], inputs, name=kind)


def scattered(x, indices, updates, kind, windows, inserted, named, vector_axis, indices_are=feed):
    return model_of(
        "STABLEHLO_SCATTER", feed(x), indices_are(indices), feed(updates), outputs=[out(x.dtype, x.shape)],
        update_window_dims=windows, inserted_window_dims=inserted, scatter_dims_to_operand_dims=named,
        index_vector_dim=vector_axis, update_computation_subgraph_index=writing(kind, x.dtype),
    )  # fmt: skip


# Indices, shape of updates, update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims, index_vector_dim.
SCATTERS = {
    "rows": ([[2], [0]], (2, 4, 5), [1, 2], [0], [0], 1),
    "rows twice": ([[2], [0], [2]], (3, 4, 5), [1, 2], [0], [0], 1),
    "rows of an axis in the middle": ([[3], [0]], (3, 2, 5), [0, 2], [1], [1], 1),
    "elements": ([[2, 3, 4], [0, 1, 2], [0, 1, 2]], (3,), [], [0, 1, 2], [0, 1, 2], 1),
    "vectors in front": ([[2, 0], [3, 1]], (2, 5), [1], [0, 1], [0, 1], 0),
    "axes in another order": ([[3, 2], [1, 0]], (2, 5), [1], [0, 1], [1, 0], 1),
    "windows": ([[1, 2], [0, 0]], (2, 3, 2, 3), [1, 2, 3], [], [1, 2], 1),
    "outside": ([[2], [3], [-1], [1]], (4, 4, 5), [1, 2], [0], [0], 1),
    "windows partly outside": ([[1, 4, 2], [-1, 0, 3]], (2, 2, 2, 3), [1, 2, 3], [], [0, 1, 2], 1),
    "parts of other axes": ([[2], [0]], (2, 2, 3), [1, 2], [0], [0], 1),
    "one vector": ([1, 3], (5,), [0], [0, 1], [0, 1], 0),
}


def check_scatter(name, kind, device):
    indices, shape, *options = SCATTERS[name]
    updates = np.arange(100, 100 + np.prod(shape), dtype=np.float32).reshape(shape) / 7 * (-1) ** np.arange(shape[-1])
    assert_as_litert(scattered(X, np.int32(indices), updates.astype(np.float32), kind, *options), device)


@pytest.mark.parametrize("name", SCATTERS)
@pytest.mark.parametrize("kind", ["second", "ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"])
def test_scatter(name, kind):
    check_scatter(name, kind, "TEMPLATE")


@pytest.mark.parametrize("device", EACH_GPU[1:])
@pytest.mark.parametrize("name", SCATTERS)
def test_scatter_on_opencl(name, device):
    check_scatter(name, "ADD", device)


@pytest.mark.parametrize("indices", [[[2], [0], [1]], [[2], [0], [5]]])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
def test_scatter_at_constants(indices, dtype):
    updates = np.arange(60, dtype=dtype).reshape(3, 4, 5) * 10
    _, _, *options = SCATTERS["rows"]
    assert_as_litert(scattered(X.astype(dtype), np.int64(indices), updates, "ADD", *options, constant))


@pytest.mark.parametrize("device", EACH_GPU)
def test_scatter_of_other_graphs(device):
    """LiteRT does not support differences, a graph that returns its first input, or booleans."""
    _, _, *options = SCATTERS["rows"]
    indices, updates = np.int32([[2], [2]]), np.ones((2, 4, 5), np.float32)
    less = X.copy()
    less[2] -= 2
    assert_gives(scattered(X, indices, updates, "SUBTRACT", *options), [less], device)
    assert_gives(scattered(X, indices, updates, "first", *options), [X], device)
    some, one_row = np.zeros(X.shape, bool), np.arange(40).reshape(2, 4, 5) % 3 == 0
    some[2] = one_row.any(0)
    assert_gives(scattered(np.zeros(X.shape, bool), indices, one_row, "OR", *options), [some], device)


def test_scalars_as_vectors():
    """LiteRT crashes over these."""
    indices, updates = np.int32([2, 0]), np.ones((2, 4, 5), np.float32)
    assert_gives(gathered(X, indices, [1, 2], [0], [0], 1, [1, 4, 5]), [X[[2, 0]]], "TEMPLATE")
    expected = X.copy()
    expected[[2, 0]] += 1
    assert_gives(scattered(X, indices, updates, "ADD", [1, 2], [0], [0], 1), [expected], "TEMPLATE")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            lambda: scattered(X, np.int32([[2]]), X[:1], "POWER", [1, 2], [0], [0], 1),
            "must return one of its two inputs",
        ),
        (lambda: scattered(X, np.int32([[2]]), X[:1], "ADD", [1], [0], [0], 1), r"update_window_dims \[1\]"),
        (lambda: scattered(X, np.int32([[2, 1]]), X[:1], "ADD", [1, 2], [0], [0], 1), "2 elements for 1 axes"),
        (lambda: gathered(X, np.int32([[2]]), [1, 2], [0], [7], 1, [1, 4, 5]), r"start_index_map \[7\]"),
        (lambda: gathered(X, np.int32([[2]]), [1, 2], [0], [0], 1, [1, 9, 5]), r"slice_sizes \[1, 9, 5\]"),
        (lambda: gathered(X, np.int32([[2]]), [1, 2], [0], [], 1, [1, 4, 5]), "must have at least one element"),
    ],
)
def test_refused(model, message):
    with pytest.raises(HeteroError, match=message):
        CORE.read_model(model().content)
