"""Bags and segments of rows, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import Core, Model, Parameter, Type, ops
from hetero.reference import evaluate
from hetero.system.errors import DeviceError
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

I32, I64 = np.int32, np.int64


def random(*shape, dtype=np.float32):
    return Data((np.random.default_rng(len(shape)).standard_normal(shape) * 9).astype(dtype))


def whole(*values, dtype=I64):
    return Data(np.array(values, dtype))


TABLE = random(6, 3)
INDICES = whole(0, 2, 5, 5, 1)
PAIRS = Data(np.array([[0, 5], [2, 2], [4, 1]]))
RESULTS = [
    ("embedding_bag_offsets_sum", 3, TABLE, INDICES, whole(0, 2, 2, 4)),
    ("embedding_bag_offsets_sum", 3, TABLE, INDICES, whole(0, 2, 2, 4), np.array(3)),
    ("embedding_bag_offsets_sum", 3, random(6, 3, 2), INDICES, whole(0, 0, 4), np.array(1), random(5)),
    *[("embedding_bag_offsets", 15, TABLE, INDICES, whole(0, 2, 2, 4), np.array(default), None, reduction)
      for default in (3, -1) for reduction in ("sum", "mean")],
    ("embedding_bag_packed_sum", 3, TABLE, PAIRS),
    ("embedding_bag_packed_sum", 3, TABLE, PAIRS, random(3, 2)),
    *[("embedding_bag_packed", 15, random(6, 3, 2), PAIRS, None, reduction) for reduction in ("sum", "mean")],
    ("embedding_segments_sum", 3, TABLE, INDICES, whole(0, 0, 2, 2, 4), np.array(5)),
    ("embedding_segments_sum", 3, TABLE, INDICES, whole(0, 0, 2, 2, 4), np.array(7), np.array(1)),
    ("embedding_segments_sum", 3, TABLE, INDICES, whole(0, 0, 2, 2, 4), np.array(5), np.array(1), random(5)),
]  # fmt: skip


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: case[0])
def test_results(case):
    name, opset, *arguments = case
    same_results(name, *arguments, opset=opset)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.float16])
@pytest.mark.parametrize("fill_mode", ["zero", "lowest"])
@pytest.mark.parametrize("count", [None, 7])
def test_segment_max(count, fill_mode, dtype):
    """Compare with the formula, as OpenVINO's CPU device does not support the operation."""
    data, ids = random(5, 2).array.astype(dtype), np.array([0, 0, 2, 4, 4])
    inputs = [data, ids] if count is None else [data, ids, np.array(count)]
    found = evaluate(ops.SegmentMax(*inputs, fill_mode=fill_mode), inputs)[0]
    limits = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else np.finfo(dtype)
    empty = np.full(2, 0 if fill_mode == "zero" else limits.min, dtype)
    segments = (data[ids == segment] for segment in range(count or 5))
    expected = [rows.max(0) if len(rows) else empty for rows in segments]
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected)


def test_sparse_rows():
    """Compare with the formula, as OpenVINO's CPU device does not support the operation."""
    indices = np.array([[1, 2], [1, 0], [3, 4]])
    inputs = np.float32([5, 6, 7]), np.array([5, 6]), indices, np.float32(-1)
    places, values, empty = evaluate(ops.SparseFillEmptyRows(*inputs), inputs)
    assert places.tolist() == [[0, 0], [1, 2], [1, 0], [2, 0], [3, 4], [4, 0]]
    assert values.tolist() == [-1, 5, 6, -1, 7, -1]
    assert empty.tolist() == [True, False, True, False, True]


SHAPES = [
    ("embedding_bag_offsets_sum", 3, Unknown([-1, 3, (2, 4)]), Unknown([-1], I64), Unknown([-1], I64)),
    ("embedding_bag_offsets", 15, Unknown("[...]"), Unknown([-1], I64), Unknown([4], I64)),
    ("embedding_bag_packed", 15, Unknown([6, 3]), Unknown([-1, 2], I64), Unknown([3, 2])),
    ("embedding_bag_packed_sum", 3, Unknown([6, 3]), Unknown("[...]", I64)),
    ("embedding_segments_sum", 3, Unknown([6, 3]), Unknown([5], I64), Unknown([5], I64), Unknown([], I64)),
    ("embedding_segments_sum", 3, Unknown("[...]"), Unknown([5], I64), Unknown([5], I64), np.array(3)),
    ("segment_max", 16, Unknown([-1, 3]), Unknown([4], I64), np.array(5), "ZERO"),
    ("segment_max", 16, Unknown([-1, 3]), np.array([0, 1, 3]), None, "LOWEST"),
    ("segment_max", 16, Unknown("[...]"), Unknown([4], I64), None, "LOWEST"),
    ("sparse_fill_empty_rows", 16, Unknown([-1]), Unknown([2], I64), Unknown([-1, 2], I64), Unknown([])),
    ("sparse_fill_empty_rows", 16, Unknown([3]), np.array([5, 6]), Unknown("[...]", I64), Unknown([])),
]


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    name, opset, *arguments = case
    same_shapes(name, *arguments, opset=opset)


REFUSED = [
    ("embedding_bag_packed_sum", 3, Unknown([6, 3]), Unknown("[...]", I64), Unknown([4])),
    ("embedding_segments_sum", 3, Unknown([6, 3]), Unknown([5], I64), Unknown([5], I64), np.array([3])),
    ("embedding_bag_offsets_sum", 3, Unknown([6, 3]), Unknown([5, 1], I64), Unknown([2], I64)),
    ("embedding_bag_offsets_sum", 3, Unknown([6, 3]), Unknown([5], I64), Unknown([2], I32)),
    ("embedding_bag_offsets", 15, Unknown([6, 3]), Unknown([5], I64), Unknown([2], I64), np.array(0), Unknown([4])),
    ("embedding_bag_offsets", 15, Unknown([6, 3]), Unknown([5], I64), Unknown([2], I64), np.array(0), None, "max"),
    ("embedding_bag_packed", 15, Unknown([6, 3]), Unknown([5], I64)),
    ("embedding_bag_packed", 15, Unknown([6, 3]), Unknown([5, 2], I64), Unknown([5, 3])),
    ("embedding_bag_packed_sum", 3, Unknown([6, 3]), Unknown([5, 2])),
    ("embedding_segments_sum", 3, Unknown([6, 3]), Unknown([5], I64), Unknown([4], I64), np.array(3)),
    ("segment_max", 16, Unknown([4, 3]), Unknown([5], I64), np.array(3), "ZERO"),
    ("segment_max", 16, Unknown([3, 3]), np.array([0, 2, 1]), np.array(3), "ZERO"),
    ("sparse_fill_empty_rows", 16, Unknown([3]), np.array([5, 6, 7]), Unknown([3, 2], I64), Unknown([])),
    ("sparse_fill_empty_rows", 16, Unknown([3]), np.array([5, 6]), Unknown([4, 2], I64), Unknown([])),
]


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_cannot_be(case):
    name, opset, *arguments = case
    both_refuse(name, *arguments, opset=opset)


@pytest.mark.parametrize("row", [4, 5, -1, 2**31, 2**40, -(2**63)])
def test_rows_out_of_range_are_refused(row):
    inputs = [np.float32([1, 2]), np.int64([4, 5]), np.int64([[0, 0], [row, 1]]), np.float32(3)]
    with pytest.raises(IndexError, match="must be from 0 to 3"):
        evaluate(ops.SparseFillEmptyRows(*inputs), inputs)


def test_a_last_segment_that_no_memory_has_room_for_is_refused():
    data, segments = Parameter(Type.f32, [2, 5]), Parameter(Type.i64, [2])
    compiled = Core().compile_model(
        Model(ops.SegmentMax(data, segments, None, "zero"), [data, segments], "m"), "TEMPLATE"
    )
    with pytest.raises(DeviceError, match=f"the table of {2**40 + 1} segments"):
        compiled([np.ones((2, 5), np.float32), np.int64([0, 2**40])])
