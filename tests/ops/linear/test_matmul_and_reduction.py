"""Matrix products, normalizations and reductions, compared with OpenVINO."""

import numpy as np
import pytest

from tests.ops.oracle import Data, Unknown, both_refuse, in_hetero, run, same_results, same_shapes

rng = np.random.default_rng(11)


def floats(*shape):
    return Data(rng.standard_normal(shape).astype(np.float32))


MATMUL = [
    ([3, 4], [4, 5], False, False), ([4, 3], [4, 5], True, False), ([3, 4], [5, 4], False, True),
    ([4, 3], [5, 4], True, True), ([2, 3, 4], [4, 5], False, False), ([2, 3, 4], [2, 4, 5], False, False),
    ([2, 1, 3, 4], [1, 3, 4, 5], False, False), ([4], [4, 5], False, False), ([3, 4], [4], False, False),
    ([4], [4], False, False), ([2, 3, 4], [4], False, False), ([3, 4], [2, 4, 5], False, False),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "transpose_a", "transpose_b"), MATMUL, ids=str)
def test_matmul(a, b, transpose_a, transpose_b):
    same_results("matmul", floats(*a), floats(*b), transpose_a, transpose_b)


@pytest.mark.parametrize(
    ("a", "b", "transpose_a", "transpose_b"),
    [
        ("[?,4]", "[4,?]", False, False),
        ("[?,3,?]", "[4,5]", False, False),
        ("[...]", "[4,5]", False, False),
        ("[2..3,?,4]", "[1,4,6]", False, False),
        ("[?,4,3]", "[?,5,4]", True, True),
        ("[?]", "[4,5]", False, False),
    ],
)
def test_shapes_of_matmul(a, b, transpose_a, transpose_b):
    same_shapes("matmul", Unknown(a), Unknown(b), transpose_a, transpose_b)


@pytest.mark.parametrize(("a", "b"), [([3, 4], [5, 6]), ([2, 3, 4], [3, 4, 5]), ([], [3])])
def test_matrices_that_do_not_fit(a, b):
    both_refuse("matmul", Unknown(a), Unknown(b), False, False)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(name, axis):
    same_results(name, Data(rng.uniform(-50, 50, [2, 3, 4]).astype(np.float32)), axis)


@pytest.mark.parametrize("shape", ["[?,3]", "[...]", "[2..5,?,1]"])
def test_shape_of_softmax(shape):
    same_shapes("softmax", Unknown(shape), 1)


def test_softmax_without_such_an_axis():
    both_refuse("softmax", Unknown([2, 3]), 2)


@pytest.mark.parametrize("shape", [[2, 3], [2, 3, 4], [1, 3, 2, 5]])
def test_batch_norm(shape):
    gamma, beta, mean = (rng.standard_normal(3).astype(np.float32) for _ in range(3))
    variance = rng.uniform(0.1, 2, 3).astype(np.float32)
    same_results("batch_norm_inference", floats(*shape), gamma, beta, mean, variance, 1e-3)


@pytest.mark.parametrize("data", ["[?,?,4]", "[...]", "[2,3]", "[?,2..8,?]"])
def test_shape_of_batch_norm(data):
    same_shapes("batch_norm_inference", Unknown(data), *[np.float32([1, 2, 3])] * 4, 1e-3)


def test_batch_norm_of_other_channels():
    both_refuse("batch_norm_inference", Unknown([1, 4, 2]), *[np.float32([1, 2, 3])] * 4, 1e-3)
    both_refuse("batch_norm_inference", Unknown([1, 3, 2]), *[np.float32([1, 2, 3])] * 4, -1)


@pytest.mark.parametrize("eps_mode", ["inside_sqrt", "outside_sqrt"])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("axes", [[2, 3], [1, 2, 3], [-1]])
def test_mvn(axes, normalize, eps_mode):
    same_results("mvn", floats(2, 3, 4, 5), np.int64(axes), normalize, 1e-4, eps_mode)


AXES = [[0], [1, 2], [-1], [0, 1, 2]]


@pytest.mark.parametrize("keep_dims", [False, True])
@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("name", ["mean", "sum", "prod", "max", "min", "l1", "l2"])
def test_reductions_of_floats(name, axes, keep_dims):
    same_results(f"reduce_{name}", floats(2, 3, 4), np.int64(axes), keep_dims)


def test_reduction_over_no_axes():
    """Only with keep_dims, as OpenVINO's CPU device rejects it without."""
    same_results("reduce_sum", floats(2, 3), np.int64([]), True)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_reductions_of_integers(name):
    same_results(f"reduce_{name}", Data(np.int32([[1, -2, 3], [4, 5, -6]])), np.int64([1]), False)


@pytest.mark.parametrize(
    ("kind", "numbers", "length"),
    [("int8", (-12, 100), 100), ("uint8", (200, 150), 250), ("int32", (-3, 100000), 100000)],
)
def test_length_of_integers_whose_squares_do_not_fit(kind, numbers, length):
    """On OpenVINO's CPU device they overflow."""
    arguments = (Data(np.array(numbers, kind)), np.int64([0]), False)
    (found,) = run(*in_hetero("reduce_l2", 13, arguments, {}), [arguments[0].array])
    np.testing.assert_array_equal(found, np.array(length, kind), strict=True)


@pytest.mark.parametrize("name", ["logical_and", "logical_or"])
def test_reductions_of_booleans(name):
    array = np.array([[True, False], [True, True], [False, False]])
    same_results(f"reduce_{name}", Data(array), np.int64([1]), True)


@pytest.mark.parametrize(
    ("shape", "axes", "keep_dims"),
    [("[?,3,4]", [1], False), ("[?,3,4]", [-3], True), ("[...]", [0], True), ("[2..3,?]", [1], False)],
)
def test_shapes_of_reductions(shape, axes, keep_dims):
    same_shapes("reduce_mean", Unknown(shape), np.int64(axes), keep_dims)


@pytest.mark.parametrize("count", ["[1]", "[2]", "[]", "[?]", "[...]"])
@pytest.mark.parametrize("keep_dims", [True, False])
def test_shapes_of_reductions_over_unknown_axes(count, keep_dims):
    same_shapes("reduce_sum", Unknown("[2,3,?]"), Unknown(count, np.int64), keep_dims)


@pytest.mark.parametrize(
    "axes", [np.int64([3]), np.float32([1]), np.int64([[1]]), Unknown([1, 1], np.int64), Unknown([1], np.bool_)]
)
def test_axes_that_cannot_be(axes):
    both_refuse("reduce_sum", Unknown([2, 3]), axes, False)


@pytest.mark.parametrize(("shape", "axes"), [([2, 3], [1, 1]), ([2, 3], [-1, 1]), ([2, 3], 1), ([], [0]), ([], [-1])])
@pytest.mark.parametrize("name", ["mean", "max", "l2"])
def test_axes_named_twice_and_axes_of_scalars(name, shape, axes):
    same_results(f"reduce_{name}", floats(*shape), np.int64(axes), False)


@pytest.mark.parametrize("name", ["mean", "sum", "max", "min", "prod", "l1", "l2"])
def test_reductions_of_nothing(name):
    same_results(f"reduce_{name}", Data(np.zeros([2, 0, 3], np.float32)), np.int64([1]), False)


def test_mvn_over_an_axis_named_twice():
    same_results("mvn", floats(2, 3, 4), np.int64([2, -1]), True, 1e-4, "inside_sqrt")


@pytest.mark.parametrize("axes", [np.int64([[1]]), Unknown([1, 1], np.int64)])
def test_axes_of_mvn_that_cannot_be(axes):
    both_refuse("mvn", Unknown([2, 3]), axes, True, 1e-4, "inside_sqrt")
