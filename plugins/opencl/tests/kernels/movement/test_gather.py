"""Gather operations and OneHot, compared with OpenVINO or the reference."""

import ml_dtypes
import numpy as np
import pytest

from tests.ops.movement.test_scatter import RESULTS, ints, picks, random
from tests.ops.oracle import Data

DTYPES = (np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8,
          np.uint16, np.uint32, np.uint64, np.bool_)  # fmt: skip


CASES = [
    *[case for case in RESULTS if case[0].startswith(("gather", "one_hot"))],
    ("gather", 8, random(3, 4, 5), picks(4, 3, 2), ints(1), 1),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_openvino_agrees(openvino_agrees, case):
    name, opset, *arguments = case
    openvino_agrees(name, *arguments, opset=opset)


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_every_type(compute, dtype):
    data, indices = random(3, 5, dtype=dtype), np.array([[4], [0], [-2]])
    expected = data.array[np.arange(3)[:, None], indices]
    for name, arguments in (("gather_elements", (data, Data(indices), 1)), ("gather_nd", (data, Data(indices), 1))):
        (found,) = compute(name, arguments, {})
        np.testing.assert_array_equal(found, expected.reshape(found.shape), strict=True)
    on, off = data.array.reshape(-1)[:2]
    (found,) = compute("one_hot", (Data(indices), np.array(5), Data(np.array(on)), Data(np.array(off)), 1), {})
    np.testing.assert_array_equal(found, np.where(indices[:, None] == np.arange(5)[:, None], on, off), strict=True)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_indices_of_every_type(compute, dtype):
    data, indices = random(3, 4), np.array([[3, 1, 0, 2]], dtype)
    (found,) = compute("gather_elements", (data, Data(indices[:, :3].T), 1), {})
    np.testing.assert_array_equal(found, np.take_along_axis(data.array, indices[:, :3].T.astype(int), 1))


def test_out_of_range_indices_give_zeros(compute):
    """The reference raises an error. A kernel cannot, but must not read out of bounds."""
    data, far = random(3, 4), np.array([[2**40], [-5], [4]])
    for name in ("gather_elements", "gather_nd"):
        (found,) = compute(name, (data, Data(far), 1), {})
        np.testing.assert_array_equal(found, np.zeros(found.shape, np.float32))


def test_the_sequences_of_a_beam_search(openvino_agrees):
    random = np.random.default_rng(3)
    steps, parents = random.integers(0, 6, (5, 3, 4)), random.integers(0, 4, (5, 3, 4))
    for dtype in (np.int32, np.float32):
        arrays = [array.astype(dtype) for array in (steps, parents, np.array([5, 3, 1]), np.array(2))]
        openvino_agrees("gather_tree", *map(Data, arrays), opset=1)


def test_a_beam_search_with_parents_out_of_range(compute):
    arrays = [np.full((3, 1, 2), 7), np.full((3, 1, 2), 2**40), np.array([3]), np.array(0)]
    (found,) = compute("gather_tree", tuple(map(Data, arrays)), {})
    np.testing.assert_array_equal(found.reshape(3, 2), np.zeros((3, 2)))


@pytest.mark.parametrize(("mode", "last"), [("normalize", 1), ("ignore_negative", 0)])
def test_one_hot_of_negative_indices(compute, mode, last):
    """Compared with the formula, since OpenVINO's CPU device lacks ``normalize``."""
    arguments = Data(np.array([-1, -4, 1])), np.array(3), np.array(1), np.array(0), -1, mode
    (found,) = compute("one_hot", arguments, {}, 16)
    np.testing.assert_array_equal(found, [[0, 0, last], [0, 0, 0], [0, 1, 0]])
