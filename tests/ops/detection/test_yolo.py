"""RegionYolo and ReorgYolo, compared with OpenVINO."""

import numpy as np
import pytest

from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

REGION, REORG = "region_yolo", "reorg_yolo"


def random(*shape, dtype=np.float32):
    return Data((np.random.default_rng(len(shape)).standard_normal(shape) * 3).astype(dtype))


RESULTS = [
    (REGION, 1, random(1, 24, 3, 5), 4, 3, 3, True, [0], 1, 3),
    (REGION, 1, random(2, 24, 3, 5), 4, 3, 3, True, [0], 2, 3, [1.0, 2.0]),
    (REGION, 1, random(2, 24, 3, 5), 4, 3, 3, True, [0], 3, 1),
    (REGION, 1, random(2, 16, 3, 5), 4, 3, 9, False, [6, 7], 1, -1),
    (REGION, 1, random(1, 24, 3, 5), 4, 3, 9, False, [6, 7], 1, 3),
    (REORG, 2, random(2, 8, 4, 6, dtype=np.float16), [2]),
    (REGION, 1, random(1, 27, 2, 2), 5, 3, 3, True, [], 0, -1),
    (REORG, 2, random(2, 8, 4, 6), [2]),
    (REORG, 2, random(1, 18, 3, 6), [3]),
    (REORG, 2, random(1, 4, 4, 4, dtype=np.int32), [1]),
]


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: f"{case[0]}-{case[3:]}")
def test_results(case):
    name, opset, *arguments = case
    same_results(name, *arguments, opset=opset)


def unknown(*shape, dtype=np.float32):
    return Unknown(shape, dtype)


SHAPES = [
    (REGION, 1, unknown(1, 125, 13, 13), 4, 20, 5, True, [0], 1, 2),
    (REGION, 1, unknown(1, 125, -1, 13, dtype=np.float16), 4, 20, 5, True, [0], 1, 3),
    (REGION, 1, unknown(1, -1, 13, 13), 4, 20, 5, False, [0, 1, 2], 1, 3),
    (REGION, 1, Unknown("[...]"), 4, 20, 5, True, [0], 1, 3),
    (REORG, 2, unknown(1, 24, 4, 6), [2, 2]),
    (REORG, 2, unknown(-1, -1, -1, 6), [2]),
    (REORG, 2, Unknown("[...]"), [2]),
]


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    name, opset, *arguments = case
    same_shapes(name, *arguments, opset=opset)


REFUSED = [
    (REGION, 1, unknown(1, 125, 13), 4, 20, 5, True, [0], 1, 2),
    (REGION, 1, unknown(1, 125, 13, 13), 4, 20, 5, True, [0], 5, 2),
    (REGION, 1, unknown(1, 125, 13, 13, dtype=np.int32), 4, 20, 5, True, [0], 1, 3),
    (REORG, 2, unknown(1, 24, 5, 6), [2]),
    (REORG, 2, unknown(1, 24, 4), [2]),
    (REORG, 2, unknown(1, 24, 4, 4), []),
]


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_refused(case):
    name, opset, *arguments = case
    both_refuse(name, *arguments, opset=opset)
