"""Roll, Reverse, ShuffleChannels, SpaceToBatch and the like, compared with OpenVINO."""

import numpy as np
import openvino
import pytest

from hetero import opset16 as ops
from tests.ops.oracle import Data, Unknown, both_refuse, in_hetero, run, same_results, same_shapes, through_ir

I64 = np.int64


def random(*shape, dtype=np.float32):
    return Data((np.random.default_rng(len(shape)).standard_normal(shape) * 9).astype(dtype))


def ints(*values):
    return np.array(values, I64)


RESULTS = [
    ("roll", 7, random(4, 5, 6), ints(2, -1), ints(0, 2)),
    ("roll", 7, random(4, 5, 6), ints(1, 9, 3), ints(0, 1, 0)),
    ("roll", 7, random(4, 5, dtype=np.int32), np.array(-7), np.array(1)),
    ("roll", 7, random(4, 5), Data(np.array([1, 2])), Data(np.array([1, 0]))),
    ("reverse_sequence", 1, random(3, 4, 5), Data(np.array([1, 4, 2])), 0, 1),
    ("reverse_sequence", 1, random(3, 4, 5), Data(np.array([5, 0, 3, 2], np.int32)), 1, -1),
    ("reverse_sequence", 1, random(3, 4, 5), Data(np.array([3, 1, 1, 2, 3], np.int32)), 2, 0),
    ("shuffle_channels", 3, random(2, 6, 3), 1, 3),
    ("shuffle_channels", 3, random(2, 6, 4, 3), -2, 2),
    ("shuffle_channels", 3, random(6), 0, 2),
    ("space_to_batch", 2, random(2, 4, 6), ints(1, 2, 3), ints(0, 0, 0), ints(0, 0, 0)),
    ("space_to_batch", 2, random(1, 3, 4, 5), ints(1, 1, 2, 3), ints(0, 0, 1, 0), ints(0, 2, 1, 1)),
    ("batch_to_space", 2, random(12, 4, 6), ints(1, 2, 3), ints(0, 0, 0), ints(0, 0, 0)),
    ("batch_to_space", 2, random(12, 3, 4, 5), ints(1, 1, 2, 3), ints(0, 1, 1, 0), ints(0, 0, 2, 3)),
]


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: case[0])
def test_results(case):
    name, opset, *arguments = case
    same_results(name, *arguments, opset=opset)


def test_one_shift_serves_all_axes():
    """Not supported by OpenVINO's CPU device."""
    data = random(4, 5, 6)
    node, parameters = in_hetero("roll", 7, (data, np.array(3), ints(0, -1)), {})
    np.testing.assert_array_equal(run(node, parameters, [data.array])[0], np.roll(data.array, (3, 3), (0, 2)))


@pytest.mark.parametrize(("axes", "mode"), [(ints(0, 2), "index"), (np.array([False, True, True]), "mask"),
                                            (ints(), "index")], ids=str)  # fmt: skip
def test_reverse(axes, mode):
    """Through IR only, as OpenVINO has no factory for it."""
    data = random(2, 3, 4)
    node, parameters = in_hetero("reverse", 1, (data, axes, mode), {})
    expected = openvino.compile_model(through_ir(node, parameters), "CPU")([data.array])[0]
    np.testing.assert_array_equal(run(node, parameters, [data.array])[0], expected)


SHAPES = [
    ("roll", 7, Unknown([-1, (2, 7)]), Unknown([], I64), Unknown([2], I64)),
    ("roll", 7, Unknown("[...]"), ints(1, 2), ints(0, 9)),
    ("reverse_sequence", 1, Unknown([-1, (2, 7)]), Unknown([3], I64), 0, 1),
    ("reverse_sequence", 1, Unknown("[...]"), Unknown([3], I64), 0, 1),
    ("shuffle_channels", 3, Unknown([2, (2, 7)]), 1, 2),
    ("shuffle_channels", 3, Unknown("[...]"), 1, 2),
    ("space_to_batch", 2, Unknown([-1, (2, 7)]), ints(1, 2), ints(0, 1), ints(0, 1)),
    ("space_to_batch", 2, Unknown([2, 4]), Unknown([2], I64), ints(0, 1), ints(0, 1)),
    ("batch_to_space", 2, Unknown([-1, (2, 7)]), ints(1, 2), ints(0, 1), ints(0, 1)),
]


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    name, opset, *arguments = case
    same_shapes(name, *arguments, opset=opset)


@pytest.mark.parametrize(
    ("expected", "case"),
    [
        (["[?,?]"], ("space_to_batch", Unknown("[...]"), ints(1, 2), ints(0, 1), ints(0, 1))),
        (["[8,4..]"], ("space_to_batch", Unknown([4, 6]), ints(1, 2), Unknown([2], I64), ints(0, 1))),
        (["[2,..11]"], ("batch_to_space", Unknown([4, 6]), ints(1, 2), Unknown([2], I64), ints(0, 1))),
    ],
    ids=str,
)
def test_shapes_known_better_than_in_openvino(case, expected):
    name, *arguments = case
    same_shapes(name, *arguments, opset=2, expected=expected)


REFUSED = [
    ("roll", 7, Unknown([2, 3]), ints(1, 2), ints(1)),
    ("roll", 7, Unknown([2, 3]), ints(1), ints(2)),
    ("roll", 7, Unknown([2, 3]), Unknown([]), ints(1)),
    ("reverse_sequence", 1, Unknown([2, 3]), Unknown([3], I64), 0, 1),
    ("reverse_sequence", 1, Unknown([2, 3]), Unknown([2], I64), 0, 2),
    ("reverse_sequence", 1, Unknown([2, 3]), Unknown([2, 1], I64), 0, 1),
    ("reverse_sequence", 1, Unknown([2]), Unknown([2], I64), 0, 0),
    ("shuffle_channels", 3, Unknown([2, 3]), 1, 2),
    ("shuffle_channels", 3, Unknown([2, 3]), 2, 1),
    ("shuffle_channels", 3, Unknown([2, 3]), 1, 0),
    ("space_to_batch", 2, Unknown([2, 5]), ints(1, 2), ints(0, 0), ints(0, 0)),
    ("space_to_batch", 2, Unknown([2, 4]), ints(2, 2), ints(0), ints(0, 0)),
    ("space_to_batch", 2, Unknown([2, 4]), ints(1, 0), ints(0, 0), ints(0, 0)),
    ("batch_to_space", 2, Unknown([3, 5]), ints(1, 2), ints(0, 0), ints(0, 0)),
    ("batch_to_space", 2, Unknown([2, 5]), ints(1, 2), ints(0, 8), ints(0, 8)),
]


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_cannot_be(case):
    name, opset, *arguments = case
    both_refuse(name, *arguments, opset=opset)


def test_pads_that_are_known_as_intervals():
    """Both pads are the length of another input, 1 to 3."""
    length = ops.shape_of(ops.parameter([(1, 3)]))
    assert str(ops.pad(ops.parameter([(2, 5)]), length, length, "constant").output(0).partial_shape) == "[4..11]"


def test_pads_that_are_known_in_part():
    """Pads of the spatial axes that the model computes leave the lengths of the others known."""
    data, pads = (ops.parameter(shape, kind) for shape, kind in (([2, -1, 6, 3], np.float32), ([2], I64)))
    padded = ops.concat([ops.constant(I64([0])), pads, ops.constant(I64([0]))], 0)
    blocks = ops.constant(I64([1, 2, 3, 1]))
    assert str(ops.space_to_batch(data, blocks, padded, padded).output(0).partial_shape) == "[12,?,2..,3]"
    moved = ops.batch_to_space(ops.parameter([12, -1, 6, 3]), blocks, padded, padded)
    assert str(moved.output(0).partial_shape) == "[2,?,..18,3]"
