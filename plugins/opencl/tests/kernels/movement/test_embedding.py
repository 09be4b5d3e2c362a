"""Embedding bags and segment operations, compared with OpenVINO or the reference."""

import ml_dtypes
import numpy as np
import pytest

import hetero
from hetero import Parameter, ops
from tests.ops.movement.test_embedding import INDICES, RESULTS, TABLE, random, whole
from tests.ops.oracle import Data

NUMBERS = (np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.int8, np.int32, np.int64, np.uint8, np.uint64)


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: case[0])
def test_openvino_agrees(openvino_agrees, case):
    name, opset, *arguments = case
    openvino_agrees(name, *arguments, opset=opset)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_elements_of_every_type(reference_agrees, dtype):
    table = random(6, 3, dtype=dtype)
    if np.dtype(dtype).kind == "f" or dtype is ml_dtypes.bfloat16:
        reference_agrees("embedding_bag_offsets", table, INDICES, whole(0, 2, 2), np.array(1), opset=15)
        ids = whole(4, 0, 2, 0, 9)
        reference_agrees(
            "embedding_segments_sum", table, INDICES, ids, np.array(5), np.array(1), random(5, dtype=dtype)
        )
    for fill in ("zero", "lowest"):
        for segments in (3, 6):
            arguments = table, whole(0, 0, 2, 2, 2, 4), np.array(segments)
            reference_agrees("segment_max", *arguments, fill, opset=16)
    arguments = (
        Data(table.array[:3, 0]),
        np.array([5, 6]),
        Data(np.array([[3, 4], [1, 2], [1, 0]])),
        Data(np.array(7, dtype)),
    )
    reference_agrees("sparse_fill_empty_rows", *arguments, opset=16)


def test_constant_segment_ids(reference_agrees):
    reference_agrees("segment_max", TABLE, np.array([0, 0, 1, 1, 4, 4]), None, "zero", opset=16)


def test_the_number_of_segments_must_be_known(device):
    data, ids = Parameter(hetero.Type.f32, [3, 2]), Parameter(hetero.Type.i64, [3])
    model = hetero.Model([ops.SegmentMax(data, ids, fill_mode="zero")], [data, ids])
    with pytest.raises(hetero.HeteroError, match="without the input num_segments"):
        hetero.Core().compile_model(model, device)


def test_out_of_range_bags_and_indices_are_ignored(compute):
    table = Data(np.ones((2, 1), np.float32))
    arguments = table, whole(0, 2**40, -3, 1), whole(-5, 3, 1, 2**40)
    (found,) = compute("embedding_bag_offsets", arguments, {}, 15)
    np.testing.assert_array_equal(found.reshape(-1), [1, 0, 1, 0])
    (found,) = compute("embedding_segments_sum", (table, whole(0, 1, 1), whole(-1, 1, 7), np.array(3)), {})
    np.testing.assert_array_equal(found.reshape(-1), [0, 1, 0])


def test_many_sparse_rows(reference_agrees):
    random = np.random.default_rng(0)
    indices = random.integers(0, 500, (300, 2))
    arguments = Data(random.standard_normal(300)), np.array([500, 500]), Data(indices), Data(np.array(-1.0))
    reference_agrees("sparse_fill_empty_rows", *arguments, opset=16)
