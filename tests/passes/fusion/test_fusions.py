"""Fusions match what exporters write and keep its results, and leave similar graphs alone."""

import math

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.graph.rt_info import original_names
from hetero.passes import (
    PassManager,
    eliminate_common_subexpressions,
    eliminate_dead_code,
    fold_constants,
    fuse_attention,
    fuse_convolution,
    fuse_gelu,
    fuse_layer_norm,
    fuse_swish,
    remove_identities,
)
from tests.passes.test_passes import operations, run

X = np.random.default_rng(5).standard_normal((2, 3, 4)).astype(np.float32)
AXES = np.int64([-1])


def number(value):
    return np.float32(value)


def erf(x, sum_first=False):
    total = ops.Erf(ops.Divide(x, number(math.sqrt(2))))
    return ops.Add(number(1), total) if sum_first else ops.Add(total, number(1))


def tanh(x, cube):
    inner = ops.Add(x, ops.Multiply(cube, number(0.044715)))
    return ops.Add(ops.Tanh(ops.Multiply(inner, number(0.7978846))), number(1))


GELUS = {
    "(x·½)·(…)": lambda x: ops.Multiply(ops.Multiply(x, number(0.5)), erf(x)),
    "½·(x·(…))": lambda x: ops.Multiply(number(0.5), ops.Multiply(x, erf(x, True))),
    "x·(½·(…))": lambda x: ops.Multiply(x, ops.Multiply(erf(x), number(0.5))),
    "tanh, x to the power of 3": lambda x: ops.Multiply(
        ops.Multiply(number(0.5), x), tanh(x, ops.Power(x, number(3)))
    ),
    "tanh, x·x·x": lambda x: ops.Multiply(
        x, ops.Multiply(number(0.5), tanh(x, ops.Multiply(x, ops.Multiply(x, x))))
    ),
}  # fmt: skip


def mean(x):
    return ops.ReduceMean(x, AXES, True)


def layer_norm(x, square, finish):
    centered = ops.Subtract(x, mean(x))
    return finish(centered, ops.Add(mean(square(x, centered)), number(1e-3)))


SQUARES = {
    "power": lambda x, c: ops.Power(c, number(2)),
    "product": lambda x, c: ops.Multiply(c, c),
    "difference": lambda x, c: ops.SquaredDifference(x, mean(x)),
}
FINISHES = {
    "by the root": lambda c, v: ops.Divide(c, ops.Sqrt(v)),
    "by the power of a half": lambda c, v: ops.Divide(c, ops.Power(v, number(0.5))),
    "times the power of minus a half": lambda c, v: ops.Multiply(ops.Power(v, number(-0.5)), c),
    "times the inverse": lambda c, v: ops.Multiply(c, ops.Divide(number(1), ops.Sqrt(v))),
}


def model_of(build):
    x = Parameter(Type.f32, [-1, 3, 4])
    return Model(build(x), [x])


def check_fused(build, fuse, expected):
    model = model_of(build)
    wanted = run(model, X)
    names = {n.friendly_name for n in model.get_ordered_ops() if n.get_type_name() in operations(model)}
    last = model.results[0].input_value(0).node.friendly_name
    assert fuse(model)
    assert operations(model) == [expected]
    fused = model.results[0].input_value(0).node
    assert fused.friendly_name == last
    assert set(original_names(fused)) == names
    for ours, theirs in zip(run(model, X), wanted):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
    assert not fuse(model)


@pytest.mark.parametrize("name", GELUS)
def test_gelu(name):
    check_fused(GELUS[name], fuse_gelu, "Gelu")


def test_gelu_keeps_its_approximation_mode():
    for name, build in GELUS.items():
        model = model_of(build)
        fuse_gelu(model)
        assert model.results[0].input_value(0).node.approximation_mode == ("tanh" if "tanh" in name else "erf")


def clamped(x):
    return ops.Clamp(ops.Add(x, number(3)), 0, 6)


SWISHES = {
    "sigmoid": ("Swish", lambda x: ops.Multiply(ops.Sigmoid(x), x)),
    "product divided": ("HSwish", lambda x: ops.Divide(ops.Multiply(x, clamped(x)), number(6))),
    "clamped divided": ("HSwish", lambda x: ops.Multiply(x, ops.Divide(clamped(x), number(6)))),
    "products": ("HSwish", lambda x: ops.Multiply(ops.Multiply(clamped(x), number(1 / 6)), x)),
    "hard sigmoid": ("HSwish", lambda x: ops.Multiply(x, ops.HardSigmoid(x, number(1 / 6), number(0.5)))),
}


@pytest.mark.parametrize("name", SWISHES)
def test_swish(name):
    expected, build = SWISHES[name]
    check_fused(build, fuse_swish, expected)


@pytest.mark.parametrize("finish", FINISHES)
@pytest.mark.parametrize("square", SQUARES)
def test_layer_norm(square, finish):
    def fuse(model):
        eliminate_common_subexpressions(model)  # joins the two means of the difference
        return fuse_layer_norm(model)

    check_fused(lambda x: layer_norm(x, SQUARES[square], FINISHES[finish]), fuse, "MVN")


NO_MATCHES = {
    "another number": (
        lambda x: ops.Multiply(ops.Multiply(x, number(0.4)), erf(x)), fuse_gelu),
    "erf of another value": (
        lambda x: ops.Multiply(ops.Multiply(x, number(0.5)), erf(ops.Exp(x))), fuse_gelu),
    "an inner value has another reader": (
        lambda x: (lambda e: ops.Add(ops.Multiply(ops.Multiply(x, number(0.5)), e), e))(erf(x)), fuse_gelu),
    "the mean of another value": (
        lambda x: layer_norm(x, lambda x, c: ops.Power(ops.Subtract(x, mean(ops.Exp(x))), number(2)),
                             FINISHES["by the root"]), fuse_layer_norm),
    "clamped to another number": (
        lambda x: ops.Divide(ops.Multiply(x, ops.Clamp(ops.Add(x, number(3)), 0, 5)), number(6)), fuse_swish),
    "sigmoid of another value": (
        lambda x: ops.Multiply(x, ops.Sigmoid(ops.Exp(x))), fuse_swish),
    "cubes": (
        lambda x: layer_norm(x, lambda x, c: ops.Power(c, number(3)), FINISHES["by the root"]), fuse_layer_norm),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_MATCHES)
def test_similar_operations_stay(name):
    build, fuse = NO_MATCHES[name]
    model = model_of(build)
    before = operations(model)
    assert not fuse(model)
    assert operations(model) == before


IMAGE = np.random.default_rng(6).standard_normal((2, 4, 5, 6)).astype(np.float32)
FILTERS = np.random.default_rng(7).standard_normal((6, 4, 3, 3)).astype(np.float32)
BIAS = np.arange(6, dtype=np.float32).reshape(6, 1, 1) - 2


def convolved(x, grouped=False):
    filters = FILTERS.reshape(2, 3, 4, 3, 3)[:, :, :2] if grouped else FILTERS
    operation = ops.GroupConvolution if grouped else ops.Convolution
    return operation(x, filters.copy(), [1, 1], [1, 1], [1, 1], [1, 1])


CHAINS = {
    "bias": lambda x: ops.Add(convolved(x), BIAS),
    "bias first, and relu": lambda x: ops.Relu(ops.Add(BIAS, convolved(x))),
    "bounds": lambda x: ops.Clamp(convolved(x), -1.0, 2.5),
    "one bias for all channels, groups": lambda x: ops.Relu(ops.Add(convolved(x, True), np.float32([[[0.5]]]))),
}


@pytest.mark.parametrize("name", CHAINS)
def test_convolution_with_bias_and_activation(name):
    x = Parameter(Type.f32, [-1, 4, 5, 6])
    model = Model(CHAINS[name](x), [x])
    (wanted,) = run(model, IMAGE)
    names = {n.friendly_name for n in model.get_ordered_ops() if n.get_type_name() in operations(model)}
    assert fuse_convolution(model)
    assert operations(model) == ["FusedConvolution"]
    assert set(original_names(model.results[0].input_value(0).node)) == names
    np.testing.assert_allclose(run(model, IMAGE)[0], wanted, rtol=1e-5, atol=1e-6)
    assert not fuse_convolution(model)


@pytest.mark.parametrize(
    "build",
    [
        convolved,
        lambda x: ops.Add(convolved(x), np.ones((5, 6), np.float32)),
        lambda x: (lambda c: [ops.Relu(c), ops.Exp(c)])(convolved(x)),
        lambda x: (lambda c: [ops.Relu(c), c])(convolved(x)),
        lambda x: (lambda c: ops.Add(c, c))(convolved(x)),
    ],
    ids=["alone", "an addend that is not per channel", "two readers", "an output of the model", "twice itself"],
)
def test_convolutions_that_stay(build):
    x = Parameter(Type.f32, [-1, 4, 5, 6])
    assert not fuse_convolution(Model(build(x), [x]))


HEADS = [
    np.random.default_rng(seed).standard_normal((2, 3, length, 8)).astype(np.float32)
    for seed, length in enumerate((5, 7, 7))
]
MASK = np.where(np.random.default_rng(3).random((5, 7)) < 0.3, -1e4, 0).astype(np.float32)
SWAP, APART = np.int64([0, 1, 3, 2]), np.int64([0, 2, 3, 1])

# Scores of queries and keys, as exporters write them.
SCORES = {
    "plain": lambda q, k: ops.MatMul(q, k, False, True),
    "by a factor": lambda q, k: ops.Multiply(ops.MatMul(q, k, False, True), number(0.3)),
    "by a divisor": lambda q, k: ops.Divide(ops.MatMul(q, k, False, True), number(3)),
    "of transposed keys": lambda q, k: ops.Multiply(ops.MatMul(q, ops.Transpose(k, SWAP), False, False), number(0.3)),
    "with a mask": lambda q, k: ops.Add(ops.Multiply(ops.MatMul(q, k, False, True), number(0.3)), MASK),
    "of scaled queries": lambda q, k: ops.Add(MASK, ops.MatMul(ops.Multiply(q, number(0.3)), k, False, True)),
}


def heads():
    return [Parameter(Type.f32, [-1, 3, array.shape[2], 8]) for array in HEADS]


@pytest.mark.parametrize("name", SCORES)
def test_attention(name):
    query, key, value = heads()
    weights = ops.Softmax(SCORES[name](query, key), -1)
    model = Model(ops.MatMul(weights, value, False, False), [query, key, value])
    (wanted,) = run(model, *HEADS)
    assert fuse_attention(model)
    found = operations(model)
    assert found[-1] == "SoftmaxAttention"
    assert not {"Softmax", "MatMul", "Transpose"} & set(found)
    np.testing.assert_allclose(run(model, *HEADS)[0], wanted, rtol=1e-4, atol=1e-5)
    assert not fuse_attention(model)


def test_attention_of_a_query_whose_keys_are_all_masked():
    """The Softmax of scores that are all -Inf is NaN, with and without the fusion."""
    query, key, value = heads()
    mask = MASK.copy()
    mask[2] = -np.inf
    weights = ops.Softmax(ops.Add(ops.MatMul(query, key, False, True), mask), -1)
    model = Model(ops.MatMul(weights, value, False, False), [query, key, value])
    assert fuse_attention(model)
    (found,) = run(model, *HEADS)
    assert np.isnan(found[:, :, 2]).all()
    assert np.isfinite(found[:, :, [0, 1, 3, 4]]).all()


def test_attention_of_keys_with_one_transpose():
    """A Transpose to ``[B, N, H, S]`` is replaced by one to ``[B, N, S, H]``."""
    query, key, value = heads()
    moved = ops.Transpose(ops.Transpose(key, np.int64([0, 2, 1, 3])), APART)
    weights = ops.Softmax(ops.MatMul(query, moved, False, False), -1)
    model = Model(ops.MatMul(weights, value, False, False), [query, key, value])
    (wanted,) = run(model, *HEADS)
    assert fuse_attention(model)
    assert operations(model).count("Transpose") == 2
    np.testing.assert_allclose(run(model, *HEADS)[0], wanted, rtol=1e-4, atol=1e-5)


def attend(weights, value):
    return ops.MatMul(weights, value, False, False)


def scores(query, key):
    return ops.MatMul(query, key, False, True)


NO_ATTENTION = {
    "another axis": lambda q, k, v: attend(ops.Softmax(scores(q, k), 1), v),
    "no product": lambda q, k, v: ops.MatMul(ops.Softmax(ops.Exp(q), -1), k, False, True),
    "weights are an output of the model": lambda q, k, v: (lambda w: [attend(w, v), w])(ops.Softmax(scores(q, k), -1)),
    "a factor for each key": lambda q, k, v: attend(
        ops.Softmax(ops.Multiply(scores(q, k), np.ones(7, np.float32)), -1), v
    ),
}


@pytest.mark.parametrize("name", NO_ATTENTION)
def test_similar_graphs_are_not_attention(name):
    assert not fuse_attention(Model(NO_ATTENTION[name](*(inputs := heads())), inputs))


def test_common_subexpressions_are_computed_once():
    def build(x):
        first, second = ops.Exp(ops.Add(x, number(1)), name="first"), ops.Exp(ops.Add(x, number(1)), name="second")
        other = ops.Exp(ops.Add(x, number(2)))
        return [ops.Multiply(first, ops.Subtract(second, other))]

    model = model_of(build)
    wanted = run(model, X)
    assert eliminate_common_subexpressions(model)
    assert sorted(operations(model)) == ["Add", "Add", "Exp", "Exp", "Multiply", "Subtract"]
    np.testing.assert_array_equal(run(model, X)[0], wanted[0])
    (kept,) = [node for node in model.get_ordered_ops() if node.friendly_name == "first"]
    assert set(original_names(kept)) == {"first", "second"}
    assert not eliminate_common_subexpressions(model)


def test_operations_of_other_attributes_and_nondeterministic_ones_stay():
    class Noise(ops.Relu):
        deterministic = False

    def build(x):
        return [ops.Softmax(x, 1), ops.Softmax(x, 2), Noise(x), Noise(x)]

    model = model_of(build)
    assert not eliminate_common_subexpressions(model)
    model = Model([Noise(number([1, 2]))], [])
    assert not fold_constants(model)


def test_dead_readers_are_disconnected():
    model = model_of(lambda x: [ops.Exp(x)])
    source = model.inputs[0]
    dead = ops.Sqrt(ops.Relu(source))
    assert len(source.get_target_inputs()) == 2
    assert eliminate_dead_code(model)
    assert [target.node.get_type_name() for target in source.get_target_inputs()] == ["Exp"]
    assert dead.get_type_name() == "Sqrt"  # the node itself stays valid
    assert not eliminate_dead_code(model)


NO_OPS = {
    "Identity": lambda x: ops.Identity(x),
    "Convert": lambda x: ops.Convert(x, "f32"),
    "Reshape": lambda x: ops.Reshape(x, np.int64([2, 3, 4]), False),
    "Transpose": lambda x: ops.Transpose(x, np.int64([0, 1, 2])),
    "Concat": lambda x: ops.Concat([x], 0),
    "Broadcast": lambda x: ops.Broadcast(x, np.int64([2, 3, 4])),
    "Tile": lambda x: ops.Tile(x, np.int64([1, 1, 1])),
    "Pad": lambda x: ops.Pad(x, np.int64([0, 0, 0]), np.int64([0, 0, 0]), "constant"),
    "Slice": lambda x: ops.Slice(x, np.int64([0]), np.int64([9]), np.int64([1])),
}
WITH_EFFECT = {
    "Convert": lambda x: ops.Convert(x, "f16"),
    "Reshape": lambda x: ops.Reshape(x, np.int64([3, 2, 4]), False),
    "Transpose": lambda x: ops.Transpose(x, np.int64([0, 2, 1])),
    "Concat": lambda x: ops.Concat([x, x], 0),
    "Pad": lambda x: ops.Pad(x, np.int64([0, 0, 1]), np.int64([0, 0, -1]), "constant"),
    "Slice backwards": lambda x: ops.Slice(x, np.int64([-1]), np.int64([-9]), np.int64([-1])),
}


def static_model(build):
    x = Parameter(Type.f32, [2, 3, 4])
    return Model(ops.Exp(build(ops.Relu(x))), [x])


@pytest.mark.parametrize("name", NO_OPS)
def test_identities_are_removed(name):
    model = static_model(NO_OPS[name])
    wanted = run(model, X)
    assert remove_identities(model)
    assert operations(model) == ["Relu", "Exp"]
    np.testing.assert_array_equal(run(model, X)[0], wanted[0])


@pytest.mark.parametrize("name", WITH_EFFECT)
def test_operations_with_an_effect_stay(name):
    model = static_model(WITH_EFFECT[name])
    assert not remove_identities(model)
    assert len(operations(model)) == 3


def test_a_pass_is_disabled_by_name():
    def build(x):
        return GELUS["x·(½·(…))"](ops.Identity(x))

    everything, one_less = model_of(build), model_of(build)
    passes = [remove_identities, fuse_gelu, fuse_layer_norm]
    assert PassManager(passes).run(everything) == ["remove_identities", "fuse_gelu"]
    manager = PassManager(passes, disabled=["fuse_gelu"])
    assert manager.names == ["remove_identities", "fuse_layer_norm"]
    assert manager.run(one_less) == ["remove_identities"]
    assert operations(everything) == ["Gelu"]
    assert "Erf" in operations(one_less)


def test_an_unknown_pass_cannot_be_disabled():
    with pytest.raises(Exception, match="there is no pass fuse_gelo: there are fuse_gelu"):
        PassManager([fuse_gelu], disabled=["fuse_gelo"])
