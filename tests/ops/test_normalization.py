"""Normalizations, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import ops
from hetero.reference import evaluate
from hetero.system.errors import GraphError
from tests.ops.oracle import (
    Data,
    Unknown,
    both_refuse,
    core,
    in_hetero,
    run,
    same_results,
    same_shapes,
    through_ir,
)  # fmt: skip


def random(*shape, dtype=np.float32):
    return Data(np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype))


@pytest.mark.parametrize("shape", [(2, 6), (2, 6, 3), (2, 6, 3, 4), (2, 6, 3, 2, 2)], ids=str)
@pytest.mark.parametrize("groups", [1, 3, 6])
def test_group_normalization(groups, shape):
    same_results("group_normalization", random(*shape), random(6), random(6), groups, 0.1)


def test_group_normalization_of_nothing():
    x, ones = np.zeros((0, 4, 3), np.float32), np.ones(4, np.float32)
    (result,) = evaluate(ops.GroupNormalization(x, ones, ones, 2, 0.1), [x, ones, ones])
    assert result.shape == x.shape


@pytest.mark.parametrize("axes", [[1], [2, 3], [3, 2]], ids=str)
@pytest.mark.parametrize("size", [1, 3, 5, 13])
def test_lrn(size, axes):
    """OpenVINO's CPU device treats any bias as 1 and does not support other axes."""
    same_results("lrn", random(2, 6, 5, 4), np.array(axes), 0.3, 0.75, 1.0, size)


@pytest.mark.parametrize("axes", [[], [0], [1], [-1], [0, 2], [3, 1, 2]], ids=str)
@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_lrn_by_its_formula(size, axes):
    x = random(3, 4, 5, 2).array
    sums = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        window = [
            slice(max(0, k - (size - 1) // 2), k + size // 2 + 1) if axis in axes or axis - 4 in axes else k
            for axis, k in enumerate(place)
        ]
        sums[place] = np.square(x[tuple(window)]).sum()
    node = ops.LRN(x, np.array(axes, np.int64), 0.3, 0.6, 1.5, size)
    (result,) = evaluate(node, [x, np.array(axes, np.int64)])
    np.testing.assert_allclose(result, x / (1.5 + 0.3 / size ** len(axes) * sums) ** 0.6, rtol=1e-5)


@pytest.mark.parametrize("axes", [[1], [1, 2, 3], [0], [-1], [2, 3]], ids=str)
def test_normalize_l2(axes):
    same_results("normalize_l2", random(2, 6, 5, 4), np.array(axes), 0.4, "add")


def test_normalize_l2_with_a_least_sum():
    """Through a file, as OpenVINO's factory does not set eps_mode."""
    x = random(2, 6, 5, 4).array
    node, parameters = in_hetero("normalize_l2", 13, (Data(x), np.array([3]), 2.0, "max"), {})
    expected = core.compile_model(through_ir(node, parameters), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([x])[0]
    (result,) = run(node, parameters, [x])
    np.testing.assert_allclose(result, expected, rtol=1e-5)


def test_normalize_l2_over_one_axis():
    same_results("normalize_l2", random(2, 6), np.array(1), 0.4, "add")


@pytest.mark.parametrize("shape", [(2, 6), (2, 6, 3), (2, 6, 3, 4)], ids=str)
def test_grn(shape):
    same_results("grn", random(*shape), 0.1)


def test_halves():
    data = random(2, 6, 3, 4, dtype=np.float16)
    same_results("grn", data, 0.1, tolerance=2e-3)
    same_results("lrn", data, np.array([1]), tolerance=2e-3)
    same_results("normalize_l2", data, np.array([1]), 0.1, "add", tolerance=2e-3)
    vectors = [random(6, dtype=np.float16)] * 2
    same_results("group_normalization", data, *vectors, 3, 0.1, tolerance=4e-3)


UNKNOWN = Unknown("[...]")
CHANNELS = Unknown([4])


@pytest.mark.parametrize(
    ("expected", "name", "arguments"),
    [
        (None, "group_normalization", (UNKNOWN, UNKNOWN, UNKNOWN, 2, 0.1)),
        (["[2,4,5]"], "group_normalization", (Unknown([2, -1, 5]), CHANNELS, UNKNOWN, 2, 0.1)),
        (None, "lrn", (UNKNOWN, Unknown("[...]", np.int64))),
        (None, "lrn", (Unknown([2, (3, 4)]), np.array([1]))),
        (None, "normalize_l2", (Unknown([2, (3, 4)]), np.array([-1]), 0.1, "add")),
        (None, "grn", (UNKNOWN, 0.1)),
        (None, "grn", (Unknown([2, (3, 4)]), 0.1)),
    ],
    ids=str,
)
def test_shapes(expected, name, arguments):
    same_shapes(name, *arguments, expected=expected)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("group_normalization", (UNKNOWN, Unknown([3]), CHANNELS, 2, 0.1)),
        ("group_normalization", (Unknown([2, 5]), CHANNELS, CHANNELS, 2, 0.1)),
        ("group_normalization", (Unknown([4]), CHANNELS, CHANNELS, 2, 0.1)),
        ("group_normalization", (Unknown([2, 4]), Unknown([4, 1]), CHANNELS, 2, 0.1)),
        ("group_normalization", (Unknown([2, 4]), CHANNELS, CHANNELS, 3, 0.1)),
        ("group_normalization", (Unknown([2, 4]), CHANNELS, CHANNELS, 0, 0.1)),
        ("lrn", (Unknown([2, 4]), np.array([2]))),
        ("lrn", (Unknown([2, 4]), np.array(1))),
        ("normalize_l2", (Unknown([2, 4]), np.array([2]), 0.1, "add")),
        ("normalize_l2", (Unknown([2, 4]), np.array([[1]]), 0.1, "add")),
        ("grn", (Unknown([4]), 0.1)),
        ("grn", (Unknown([1, 2, 3, 4, 5]), 0.1)),
    ],
    ids=str,
)
def test_inputs_that_do_not_fit(name, arguments):
    both_refuse(name, *arguments)


def test_numbers_that_do_not_fit():
    """OpenVINO accepts these, but cannot run them."""
    x = np.zeros((2, 4), np.float32)
    with pytest.raises(GraphError, match="size must be positive"):
        ops.LRN(x, np.array([1]), size=0)
    with pytest.raises(GraphError, match="eps_mode cannot be 'times'"):
        ops.NormalizeL2(x, np.array([1]), 0.1, "times")
    for made in (lambda x: ops.GRN(x, 0.1), lambda x: ops.LRN(x, np.array([1]))):
        with pytest.raises(GraphError, match="floating-point"):
            made(x.astype(np.int32))
