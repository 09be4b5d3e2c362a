"""Attention, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import ops
from hetero.graph import Constant
from hetero.reference import evaluate
from hetero.system.errors import GraphError
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

NAME = "scaled_dot_product_attention"


def random(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(dtype)


def inputs(batch=(2, 3), queries=4, keys=5, dtype=np.float32):
    return [Data(random(*batch, n, 8, seed=seed, dtype=dtype)) for seed, n in enumerate((queries, keys, keys))]


MASKS = [
    None,
    random(4, 5),
    random(2, 1, 4, 5),
    random(1, 5),
    random(2, 3, 1, 5),
    np.arange(20).reshape(4, 5) % 3 != 1,
    (np.arange(40).reshape(2, 1, 4, 5) % 3 != 1),
]


@pytest.mark.parametrize("mask", MASKS, ids=lambda mask: "none" if mask is None else f"{mask.dtype}{mask.shape}")
@pytest.mark.parametrize("causal", [False, True])
def test_masks(causal, mask):
    same_results(NAME, *inputs(), None if mask is None else Data(mask), None, causal)


@pytest.mark.parametrize("scale", [np.float32(0.3), np.float32([2.0])], ids=str)
def test_scale(scale):
    same_results(NAME, *inputs(), Data(MASKS[1]), scale)


def test_scale_without_mask():
    query, key, value = (data.array for data in inputs())
    (found,) = results_of(ops.ScaledDotProductAttention(query, key, value, scale=np.float32(0.3)))
    (expected,) = results_of(ops.ScaledDotProductAttention(query * np.float32(0.3 * 8**0.5), key, value))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("batch", [(2,), (2, 3), (2, 1, 3)], ids=str)
@pytest.mark.parametrize("lengths", [(1, 5), (5, 1), (3, 3)], ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_batches_and_lengths(causal, lengths, batch):
    same_results(NAME, *inputs(batch, *lengths), causal=causal)


def test_keys_that_queries_share():
    key, value = (Data(random(2, 1, 5, 8, seed=seed)) for seed in (1, 2))
    same_results(NAME, Data(random(2, 3, 4, 8)), key, value)


@pytest.mark.parametrize("mask", [None, random(4, 5), random(1, 3, 2, 4, 5), random(2, 1, 1, 1, 5)], ids=np.shape)
@pytest.mark.parametrize("queries", [1, 4])
def test_keys_that_groups_of_queries_share(queries, mask):
    if queries == 1 and mask is not None:
        mask = mask[..., :1, :]
    key, value = (Data(random(2, 3, 1, 5, 8, seed=seed)) for seed in (1, 2))
    same_results(NAME, Data(random(2, 3, 2, queries, 8)), key, value, None if mask is None else Data(mask))


def test_values_of_another_width():
    same_results(NAME, *inputs()[:2], Data(random(2, 3, 5, 6)))


def test_halves():
    same_results(NAME, *inputs(dtype=np.float16), Data(random(4, 5, dtype=np.float16)), tolerance=4e-3)


def results_of(node):
    """Return the results of a node whose inputs are Constants or nodes of Constants."""
    sources = [output.node for output in node.input_values()]
    return evaluate(
        node, [source.data if isinstance(source, Constant) else results_of(source)[0] for source in sources]
    )


def test_sink():
    """Compute by the definition: one more column of scores, whose weights are dropped."""
    query, key, value = (data.array for data in inputs())
    sink = random(1, 3, 1, 1)
    (found,) = results_of(ops.ScaledDotProductAttention(query, key, value, scale=np.float32(8**-0.5), sink=sink))
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(np.float32(8))
    weights = np.exp(np.concatenate([scores, np.broadcast_to(sink, (2, 3, 4, 1))], -1))
    weights /= weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(found, weights[..., :-1] @ value, rtol=1e-5, atol=1e-6)


def test_queries_that_look_at_nothing_give_zeros():
    query, key, value = (data.array for data in inputs())
    mask = np.ones((4, 5), bool)
    mask[2] = False
    (found,) = results_of(ops.ScaledDotProductAttention(query, key, value, mask))
    assert (found[:, :, 2] == 0).all()
    assert (found[:, :, [0, 1, 3]] != 0).all()


@pytest.mark.parametrize("lengths", [(0, 5), (4, 0)], ids=str)
def test_nothing(lengths):
    query, key, value = (data.array for data in inputs((2, 3), *lengths))
    (found,) = results_of(ops.ScaledDotProductAttention(query, key, value))
    np.testing.assert_array_equal(found, np.zeros((2, 3, lengths[0], 8), np.float32))


ANY = Unknown("[...]")


@pytest.mark.parametrize(
    ("expected", "shapes"),
    [
        (None, ["[...]"] * 3),
        (None, ["[2,3,4]", "[...]", "[...]"]),
        (None, ["[2,3,4]", "[2,5,4]", "[2,5,6]"]),
        (None, ["[2,1,3,4]", "[1,7,5,4]", "[2,7,5,6]"]),
        (None, ["[2,3,4]", "[2,5,4]", "[2,5,6]", "[3,5]"]),
        (None, ["[2,3,4]", "[2,5,4]", "[2,5,6]", "[9,2,3,5]"]),
        (None, ["[2,3,4]", "[2,5,4]", "[2,5,6]", "[]", "[1]"]),
        (None, ["[2,?,4]", "[2,5,?]", "[?,5..,6]", "[?,?]"]),
    ],
    ids=str,
)
def test_shapes(shapes, expected):
    same_shapes(NAME, *map(Unknown, shapes), expected=expected)


@pytest.mark.parametrize(
    "shapes",
    [
        ["[2,8,3,4]", "[2,2,5,4]", "[2,2,5,6]"],
        ["[2,3,4]", "[2,5,3]", "[2,5,6]"],
        ["[2,3,4]", "[2,5,4]", "[2,6,6]"],
        ["[2,3,4]", "[2,5,4]", "[2,5,6]", "[5,3]"],
        ["[2,3,4]", "[2,5,4]", "[2,5,6]", "[3,5]", "[2]"],
        ["[3,4]", "[5,4]", "[5,6]"],
        ["[2,3,4]", "[5,4]", "[5,6]"],
    ],
    ids=str,
)
def test_shapes_that_do_not_fit(shapes):
    both_refuse(NAME, *map(Unknown, shapes))


def test_types_that_do_not_fit():
    query, key, value = (Unknown(shape) for shape in ([2, 3, 4], [2, 5, 4], [2, 5, 6]))
    both_refuse(NAME, query, key, value, Unknown([3, 5], np.int32))
    both_refuse(NAME, query, key, Unknown([2, 5, 6], np.float16))
    both_refuse(NAME, *[Unknown([2, 3, 4], np.int32)] * 3)


def test_a_sink_that_does_not_fit():
    qkv = [data.array for data in inputs()]
    with pytest.raises(GraphError, match="sink must broadcast"):
        ops.ScaledDotProductAttention(*qkv, scale=np.float32(1), sink=random(3, 2, 1, 1))
    with pytest.raises(GraphError, match="the input sink needs the input scale"):
        ops.ScaledDotProductAttention(*qkv, sink=random(2, 3, 1, 1))


@pytest.mark.parametrize(("room", "total"), [(5, 6), (9, 6), (0, 2)], ids=str)
def test_cache_update(room, total):
    cache, tokens, lengths = random(2, 3, room, 4), random(2, 3, 2, 4), np.array([min(4, room), 0])
    node = ops.CacheUpdate(cache, tokens, lengths, np.array(total))
    (found,) = results_of(node)
    assert found.shape == node.shape == (2, 3, max(room, total), 4)
    for place, length in enumerate(lengths):
        np.testing.assert_array_equal(found[place, :, :length], cache[place, :, :length])
        np.testing.assert_array_equal(found[place, :, length : length + 2], tokens[place])


@pytest.mark.parametrize(
    ("message", "shapes"),
    [
        ("cache must have 4 dimensions", ([2, 5, 4], [2, 3, 2, 4], [2])),
        ("the batches of its inputs", ([2, 3, 5, 4], [2, 3, 2, 4], [3])),
        ("the heads of cache and tokens", ([2, 3, 5, 4], [2, 2, 2, 4], [2])),
        ("the widths of cache and tokens", ([2, 3, 5, 4], [2, 3, 2, 5], [2])),
    ],
)
def test_caches_that_do_not_fit(message, shapes):
    cache, tokens, lengths = (np.zeros(shape, np.float32) for shape in shapes)
    with pytest.raises(GraphError, match=message):
        ops.CacheUpdate(cache, tokens, lengths.astype(np.int64), np.array(6))


@pytest.mark.parametrize(
    ("message", "decay", "beta"),
    [
        ("decay must have the shape", (2, 6, 5), (2, 6, 1)),
        ("decay must have the shape", (2, 5, 3), (2, 6, 1)),
        ("beta must have the shape", (2, 6, 3), (2, 6, 2)),
        ("beta must have the shape", (2, 6, 12), (1, 6, 3)),
    ],
)
def test_gates_that_do_not_fit(message, decay, beta):
    inputs = [np.zeros(shape, np.float32) for shape in ((2, 6, 12), (2, 6, 12), (2, 6, 15), (2, 3, 4, 5), decay, beta)]
    with pytest.raises(GraphError, match=message):
        ops.LinearAttention(*inputs[:4], inputs[4:], 3, 3)
