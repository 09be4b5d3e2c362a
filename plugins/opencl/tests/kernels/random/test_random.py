"""Random numbers: equal to the reference with seeds, else uniformly distributed."""

import numpy as np
import pytest

import hetero
from hetero import Constant, Parameter, Type, ops
from hetero.reference import evaluate

LIMITS = {
    "f16": (0, 1), "f32": (-3, 5), "f64": (0, 1), "bf16": (-1, 1), "i8": (-100, 100), "i32": (-10, 50),
    "i64": (-5, 1 << 40), "u64": (0, 50), "u16": (3, 60000),
}  # fmt: skip


def uniform(name, shape, alignment="tensorflow", seeds=((1 << 33) + 150, 1 << 35)):
    dtype = Type(name).to_dtype()
    inputs = [np.array(shape, np.int64), *(np.array(limit, dtype) for limit in LIMITS[name])]
    return ops.RandomUniform(*map(Constant, inputs), name, *seeds, alignment), inputs


@pytest.fixture
def draw(device):
    """Return a function that compiles a node and returns a function that draws from it in one request."""

    def compile_node(node, parameters=(), arrays=()):
        compiled = hetero.Core().compile_model(hetero.Model([node], list(parameters)), device)
        request = compiled.create_infer_request()
        return lambda: np.array(request.infer(list(arrays)).to_tuple()[0])

    return compile_node


@pytest.mark.parametrize("alignment", ["tensorflow", "pytorch"])
@pytest.mark.parametrize("name", LIMITS)
def test_uniform_numbers_are_the_references(draw, name, alignment):
    for shape in ([], [7], [300, 5], [2, 0]):
        node, inputs = uniform(name, shape, alignment)
        again = draw(node)
        reference, _ = uniform(name, shape, alignment)
        for _ in range(3):  # each goes on where the one before ended
            found, (expected,) = again(), evaluate(reference, inputs)
            assert found.dtype == expected.dtype and found.shape == expected.shape
            if found.dtype.kind in "iu":
                np.testing.assert_array_equal(found, expected)
            else:
                # A product may be rounded before it is added, or not: by a step of the largest number.
                step = {"f16": 1e-3, "bf16": 8e-3}.get(name, 1e-6)
                np.testing.assert_allclose(found.astype(float), expected.astype(float), rtol=1e-6, atol=step)


def test_requests_of_a_model_draw_one_after_the_other(device):
    node, inputs = uniform("f32", [6])
    compiled = hetero.Core().compile_model(hetero.Model([node], []), device)
    found = [compiled.create_infer_request().infer([]).to_tuple()[0] for _ in range(2)]
    reference, _ = uniform("f32", [6])
    for numbers in found:
        np.testing.assert_allclose(numbers, evaluate(reference, inputs)[0], rtol=1e-6)


@pytest.mark.parametrize("alignment", ["tensorflow", "pytorch"])
def test_without_seeds_numbers_differ_every_time(draw, alignment):
    node, _ = uniform("f32", [10000], alignment, (0, 0))
    again = draw(node)
    first, second = again(), again()
    assert (first != second).any() and (draw(node)() != first).any()
    assert first.min() >= -3 and first.max() < 5
    # Five standard errors of the mean of a uniform distribution.
    assert abs(first.mean() - 1) < 5 * 8 / np.sqrt(12 * 10000)


PROBS = np.float32([[0.1, 0.2, 0.3, 0.4], [4, 0, 2, 2]])


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("kind", ["f32", "f16", "f64"])
@pytest.mark.parametrize("log_probs", [False, True])
def test_samples_are_the_references(draw, replacement, kind, log_probs):
    probs = np.random.default_rng(0).random((50, 7)).astype(Type(kind).to_dtype())
    parameter = Parameter(Type(kind), probs.shape)
    count = np.array([100 if replacement else 7], np.int64)
    node = ops.Multinomial(parameter, Constant(count), "i64", replacement, log_probs, 5, 6)
    inputs = [probs, count]
    expected = evaluate(ops.Multinomial(*inputs, "i64", replacement, log_probs, 5, 6), inputs)[0]
    np.testing.assert_array_equal(draw(node, [parameter], [probs])(), expected, strict=True)


def test_columns_of_probability_zero_are_not_drawn(draw):
    parameter = Parameter(Type.f32, PROBS.shape)
    node = ops.Multinomial(parameter, Constant(np.array([5000])), "i32", True, False, 0, 0)
    found = draw(node, [parameter], [PROBS])()
    for row, expected in zip(found, PROBS / PROBS.sum(axis=1, keepdims=True)):
        np.testing.assert_allclose(np.bincount(row, minlength=4) / row.size, expected, atol=0.05)
    assert 1 not in found[1]


@pytest.mark.parametrize("alignment", ["tensorflow", "pytorch"])
def test_requests_that_draw_at_the_same_time_share_no_numbers(device, alignment):
    node, inputs = uniform("i64", [20000], alignment)
    compiled = hetero.Core().compile_model(hetero.Model([node], []), device)
    requests = [compiled.create_infer_request() for _ in range(4)]
    found = []
    for _ in range(3):
        for request in requests:
            request.start_async([])
        for request in requests:
            request.wait()
        found += [tuple(request.get_output_tensor(0).data.tolist()) for request in requests]
    reference, _ = uniform("i64", [20000], alignment)
    assert set(found) == {tuple(evaluate(reference, inputs)[0].tolist()) for _ in found}


@pytest.mark.parametrize("alignment", ["tensorflow", "pytorch"])
def test_generators_of_one_name_in_two_bodies_have_their_own_state(device, alignment):
    def body(seeds):
        node, _ = uniform("f32", [6], alignment, seeds)
        node.friendly_name = "numbers"
        return hetero.Model([node], [])

    condition = Parameter(Type.boolean, [])
    chosen = ops.If(condition)
    chosen.set_then_body(body((1, 2)))
    chosen.set_else_body(body((3, 4)))
    chosen.set_output(*(b.results[0] for b in chosen.bodies))
    request = hetero.Core().compile_model(hetero.Model([chosen.output(0)], [condition]), device).create_infer_request()
    references = {True: uniform("f32", [6], alignment, (1, 2)), False: uniform("f32", [6], alignment, (3, 4))}
    for is_then in (True, False, False, True):
        reference, inputs = references[is_then]
        found = request.infer([np.array(is_then)]).to_tuple()[0]
        np.testing.assert_allclose(found, evaluate(reference, inputs)[0], rtol=1e-6, atol=1e-6)
