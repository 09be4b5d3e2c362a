"""Older versions of operations, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import ops
from hetero.reference import evaluate
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

rng = np.random.default_rng(6)


def data(*shape):
    return Data(rng.standard_normal(shape).astype(np.float32))


def ints(*values):
    return np.array(values, np.int64)


def number(value):
    return np.array(value, np.int64)


CHANNELS = [rng.uniform(0.5, 2, 3).astype(np.float32) for _ in range(4)]

RESULTS = [
    ("batch_norm_inference", 1, (data(2, 3, 4), *CHANNELS, 1e-3), {}),
    ("batch_norm_inference", 4, (data(2, 3), *CHANNELS, 1e-3), {}),
    ("softmax", 1, (data(2, 3, 4), 1), {}),
    ("softmax", 7, (data(3), 0), {}),
    ("gelu", 2, (data(5),), {}),
    ("mvn", 2, (data(2, 3, 4, 5),), {}),
    ("mvn", 2, (data(2, 3, 4, 5),), {"across_channels": True, "normalize_variance": True, "eps": 0.5}),
    ("mvn", 3, (data(2, 3, 4, 5),), {"normalize_variance": True, "eps": 0.5}),
    ("broadcast", 1, (data(3), ints(2, 3)), {}),
    ("broadcast", 1, (data(3), ints(3, 2), ints(0), "EXPLICIT"), {}),
    ("broadcast", 2, (data(2, 3), ints(2, 4, 3), ints(0, 2), "EXPLICIT"), {}),
    ("pad", 1, (data(2, 3), ints(0, 1), ints(2, 0), "constant", np.float32(7)), {}),
    ("pad", 11, (data(2, 3), ints(0, 1), ints(1, 2), "reflect"), {}),
    ("shape_of", 1, (data(2, 3),), {}),
    ("squeeze", 1, (data(1, 2, 1), ints(0)), {}),
    ("squeeze", 15, (data(1, 2, 1), ints(2)), {"allow_axis_skip": True}),
    ("squeeze", 15, (data(1, 2, 1),), {}),
]


@pytest.mark.parametrize(("name", "opset", "arguments", "attributes"), RESULTS)
def test_results(name, opset, arguments, attributes):
    same_results(name, *arguments, opset=opset, **attributes)


@pytest.mark.parametrize("bounds", [(0, 5, 2), (5, 0, -2), (0, 0, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
def test_range(bounds, dtype):
    arrays = [np.array(bound, dtype) for bound in bounds]
    found = evaluate(ops.RangeV1(*arrays), arrays)[0]
    assert found.dtype == dtype
    assert found.tolist() == list(range(*bounds))
    same_shapes("range", *arrays, opset=1)


SHAPES = [
    ("range", 1, (Unknown([], np.int64), number(4), number(1)), {}),
    ("shape_of", 1, (Unknown("[?,3]"),), {}),
    ("shape_of", 1, (Unknown("[...]"),), {}),
    ("batch_norm_inference", 1, (Unknown("[?,?,4]"), *CHANNELS, 1e-3), {}),
    ("broadcast", 1, (Unknown([3]), Unknown([2], np.int64)), {"expected": ["[?,3]"]}),
    ("pad", 1, (Unknown("[?,3]"), ints(1, 1), ints(0, 2), "edge"), {}),
    ("squeeze", 15, (Unknown("[?,2,1]"), ints(0)), {"allow_axis_skip": True}),
    ("squeeze", 15, (Unknown("[?,2,1]"), ints(0)), {}),
    ("squeeze", 15, (Unknown("[1,2,1]"), Unknown([1], np.int64)), {"allow_axis_skip": True}),
    ("mvn", 2, (Unknown("[?,3,2]"),), {"across_channels": True}),
]


@pytest.mark.parametrize(("name", "opset", "arguments", "attributes"), SHAPES)
def test_shapes(name, opset, arguments, attributes):
    same_shapes(name, *arguments, opset=opset, **attributes)


@pytest.mark.parametrize(
    ("name", "opset", "arguments"),
    [
        ("softmax", 1, (Unknown([2, 3]), -1)),
        ("softmax", 1, (Unknown([2, 3]), 2)),
        ("range", 1, (number(0), np.float32(2), number(1))),
        ("broadcast", 1, (Unknown([3]), ints(2, 4))),
        ("batch_norm_inference", 1, (Unknown([2, 4]), *CHANNELS, 1e-3)),
        ("gelu", 2, (Unknown([2], np.int32),)),
        ("pad", 1, (Unknown([3]), ints(1, 1), ints(0, 2), "edge")),
    ],
)
def test_refused(name, opset, arguments):
    both_refuse(name, *arguments, opset=opset)
