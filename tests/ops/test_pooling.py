"""Pooling, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import ops
from tests.ops.oracle import Data, Unknown, both_refuse, in_hetero, run, same_results, same_shapes

# stride, dilation, pads_begin, pads_end, kernel, rounding_type, auto_pad
WINDOWS = [
    (1, 1, 0, 0, 2, "floor", None),
    (2, 1, 1, 1, 3, "floor", None),
    (2, 1, 1, 1, 3, "ceil", None),
    (2, 2, 1, 0, 3, "ceil", None),
    (2, 1, 0, 1, 3, "ceil", "explicit"),
    (2, 1, 0, 0, 3, "floor", "same_upper"),
    (2, 1, 0, 0, 3, "floor", "same_lower"),
    (2, 1, 0, 0, 3, "ceil", "valid"),
]
DATA = np.random.default_rng(0).standard_normal((2, 3, 9, 8, 7), dtype=np.float32)
EACH = pytest.mark.parametrize(("dimensions", "window"), [(d, window) for d in (1, 2, 3) for window in WINDOWS])


def data_of(dimensions):
    return Data(DATA[(..., *(0,) * (3 - dimensions))])


@EACH
@pytest.mark.parametrize("attributes", [(), ("i32", 2), ("i64", -1)])
def test_max_pool(attributes, dimensions, window):
    *numbers, rounding, auto_pad = window
    stride, dilation, begin, end, kernel = ([number] * dimensions for number in numbers)
    same_results("max_pool", data_of(dimensions), stride, dilation, begin, end, kernel, rounding, auto_pad, *attributes)


@EACH
@pytest.mark.parametrize("exclude_pad", [True, False])
def test_avg_pool(exclude_pad, dimensions, window):
    *numbers, rounding, auto_pad = window
    stride, _, begin, end, kernel = ([number] * dimensions for number in numbers)
    same_results("avg_pool", data_of(dimensions), stride, begin, end, kernel, exclude_pad, rounding, auto_pad)


@pytest.mark.parametrize("window", WINDOWS)
def test_max_pool_of_opset1(window):
    *numbers, rounding, auto_pad = window
    stride, _, begin, end, kernel = ([number] * 2 for number in numbers)
    same_results("max_pool", data_of(2), stride, begin, end, kernel, rounding, auto_pad, opset=1)


# length, stride, pads_begin, pads_end, kernel, dilation
AT_THE_END = [
    (9, 2, 0, 0, 2, 1),
    (9, 4, 1, 1, 3, 1),
    (9, 4, 0, 1, 4, 1),
    (9, 4, 1, 0, 4, 1),
    (9, 3, 1, 1, 3, 2),
    (9, 3, 0, 0, 3, 2),
]
# With a window that starts after the end of the data.
BEHIND_THE_END = [(8, 3, 1, 1, 3, 1), (5, 3, 1, 2, 3, 1)]


@pytest.mark.parametrize("case", AT_THE_END + BEHIND_THE_END, ids=str)
@pytest.mark.parametrize("rounding", ["floor", "ceil", "ceil_torch"])
def test_rounding(rounding, case):
    length, *numbers, dilation = case
    data = Data(DATA.reshape(2, 3, -1)[..., :length])
    stride, begin, end, kernel = ([number] for number in numbers)
    same_results("max_pool", data, stride, [dilation], begin, end, kernel, rounding, opset=14)
    for exclude_pad in (True, False):
        if exclude_pad and rounding == "ceil" and case in BEHIND_THE_END:
            continue  # OpenVINO divides 0 by 0 there
        window = (stride, begin, end, kernel, exclude_pad, rounding)
        distances = {"opset": 14} if dilation == 1 else {"opset": 16, "dilations": [dilation]}
        same_results("avg_pool", data, *window, **distances)


@pytest.mark.parametrize("case", BEHIND_THE_END, ids=str)
def test_the_mean_of_nothing_is_zero(case):
    length, *numbers, _ = case
    data = np.ones((1, 1, length), np.float32)
    pool, _ = in_hetero("avg_pool", 14, (data, *([number] for number in numbers), True, "ceil"), {})
    assert run(pool, [], [])[0][0, 0].tolist() == [1.0] * (pool.shape[2] - 1) + [0.0]


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize(
    ("sizes", "dtype"), [((1, 1, 1), np.int32), ((4, 3, 2), np.int64), ((9, 8, 7), np.int64), ((11, 5, 9), np.int64)]
)
def test_adaptive_pooling(dtype, sizes, dimensions):
    shape = np.array(sizes[:dimensions], dtype)
    same_results("adaptive_avg_pool", data_of(dimensions), shape)
    # OpenVINO's CPU device has no i64 indices.
    same_results("adaptive_max_pool", data_of(dimensions), shape, "i32")


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "i4", "i8"])
def test_adaptive_means_of_integers_are_exact(dtype):
    data = np.random.default_rng(0).integers(0, 100, (1, 1000, 3, 5)).astype(dtype)
    expected = data.sum((2, 3), np.int64, keepdims=True) // 15
    (found,) = run(*in_hetero("adaptive_avg_pool", 8, (Data(data), np.array([1, 1])), {}), [data])
    np.testing.assert_array_equal(found, expected.astype(dtype), strict=True)


@pytest.mark.parametrize("name", ["adaptive_avg_pool", "adaptive_max_pool"])
@pytest.mark.parametrize("shape", [([2, 3, -1, 5], [2]), ([2, (1, 3), 4], [1])], ids=str)
def test_dynamic_shapes_of_adaptive_pooling(name, shape):
    data, size = shape
    same_shapes(name, Unknown(data), Unknown(size, np.int64))
    same_shapes(name, Unknown(data), np.array([3] * size[0]))


@pytest.mark.parametrize(
    ("size", "expected"),
    [(np.array([3, 2]), "[?,?,3,2]"), (Unknown([2], np.int64), "[?,?,?,?]"), (Unknown("[?]", np.int64), "[...]")],
    ids=str,
)
def test_adaptive_pooling_of_unknown_rank(size, expected):
    same_shapes("adaptive_avg_pool", Unknown("[...]"), size, expected=[expected])


@pytest.mark.parametrize("name", ["adaptive_avg_pool", "adaptive_max_pool"])
@pytest.mark.parametrize("case", [([2, 3], [1]), ([1, 2, 3, 4, 5, 6], [4, 4, 4, 4]), ([1, 2, 3, 4], [1])], ids=str)
def test_adaptive_pooling_that_cannot_be(name, case):
    both_refuse(name, Unknown(case[0]), np.array(case[1]))


def test_the_first_of_equal_values_is_the_largest():
    same_results("max_pool", Data(np.zeros((1, 2, 4, 4), np.float32)), [2, 2], [1, 1], [1, 1], [1, 1], [3, 3])


def test_max_pool_of_integers():
    data = np.arange(-8, 8, dtype=np.int32).reshape(1, 1, 4, 4)
    same_results("max_pool", Data(data), [2, 2], [1, 1], [1, 1], [0, 0], [2, 2])


@pytest.mark.parametrize(
    ("expected", "case"),
    [
        (None, ([1, 1, (0, 10)], [2], [1], [0], [0], [3], "ceil")),
        (None, ([-1, (2, 4), -1], [2], [2], [1], [0], [3])),
        (["[?,1,2..5]"] * 2, ([-1, 1, (3, 9)], [2], [1], [1], [0], [3], "floor", "same_lower")),
        (["[?,?,1..]"] * 2, ("[...]", [2], [1], [0], [0], [3])),
    ],
    ids=str,
)
def test_dynamic_shapes(case, expected):
    same_shapes("max_pool", Unknown(case[0]), *case[1:], expected=expected)


@pytest.mark.parametrize(
    "case",
    [
        ([1, 1, 2], [2], [1], [0], [0], [3]),
        ([1, 1, 4, 4], [2], [1], [0], [0], [3]),
        ([1, 1, 4], [0], [1], [0], [0], [3]),
        ([1, 1, 4], [1], [1], [0], [0], [3], "floor", None, "i64", 3),
    ],
    ids=str,
)
def test_what_cannot_be(case):
    both_refuse("max_pool", Unknown(case[0]), *case[1:])


@pytest.mark.parametrize("shape", [(0, 3, 8), (2, 0, 8)])
def test_no_images_or_channels(shape):
    data = np.ones(shape, np.float32)
    window = ([2], [1], [1], [3])
    for node, length in (
        (ops.AvgPool(data, *window, exclude_pad=False), 4),
        (ops.MaxPool(data, [2], [1], [1], [1], [3]), 4),
        (ops.AdaptiveAvgPool(data, np.array([3])), 3),
        (ops.AdaptiveMaxPool(data, np.array([3])), 3),
    ):
        assert [result.shape for result in run(node, [], [])] == [(*shape[:2], length)] * node.get_output_size()
