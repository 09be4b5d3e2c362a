"""Operations that move elements, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import Core, Dimension, Model, Parameter, PartialShape, Type, ops
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes


def random(*shape):
    return Data(np.random.default_rng(0).standard_normal(shape, dtype=np.float32))


def ints(*values):
    return np.array(values, np.int64)


AXIS_1 = np.array(1, np.int64)

RESULTS = [
    ("reshape", random(2, 3, 4), ints(0, -1), True),
    ("reshape", random(2, 3, 4), ints(4, -1, 2), False),
    ("reshape", random(0, 3), ints(0, 3), False),
    ("reshape", random(0, 3), ints(-1, 0), False),
    ("reshape", random(1, 1), ints(), True),
    ("squeeze", random(1, 2, 1), ints(-1)),
    ("squeeze", random(1, 2, 1), ints(0, 1)),
    ("unsqueeze", random(2, 3), ints(-1, 0)),
    ("unsqueeze", random(2, 3), ints(0, -4)),
    ("unsqueeze", random(2, 3), AXIS_1),
    ("transpose", random(2, 3, 4), ints(2, 0, 1)),
    ("transpose", random(2, 3, 4), ints()),
    ("concat", [random(2, 3), random(2, 1)], -1),
    ("concat", [random(2, 3), random(2, 0), random(2, 2)], 1),
    ("broadcast", random(3, 1), ints(2, 3, 4)),
    ("broadcast", random(3), ints(3, 4), ints(0), "EXPLICIT"),
    ("broadcast", random(3, 1), ints(2, 3, 4), ints(1, 2), "EXPLICIT"),
    ("broadcast", random(3, 1), ints(1, 4), None, "BIDIRECTIONAL"),
    ("broadcast", random(2, 3, 1), ints(4), None, "BIDIRECTIONAL"),
    ("tile", random(2, 3), ints(2, 1, 3)),
    ("tile", random(2, 3), ints(2)),
    ("shape_of", random(2, 3)),
    ("shape_of", random(2, 3), "i32"),
    ("pad", random(2, 5), ints(0, -1), ints(1, -2), "constant"),
    ("pad", random(2, 5), ints(0, -1), ints(1, 2), "constant", np.array(7, np.float32)),
    *[("pad", random(3, 5), ints(1, 3), ints(2, -1), mode) for mode in ("reflect", "symmetric", "edge", "constant")],
    *[("pad", random(3, 5), ints(1, -3), ints(2, 2), mode) for mode in ("reflect", "symmetric", "edge")],
    ("range", Data(ints(0)[0]), Data(np.array(5.5, np.float32)), Data(ints(2)[0]), "i64"),
    ("range", Data(ints(5)[0]), Data(ints(0)[0]), Data(ints(-2)[0]), "i32"),
    *[
        (name, random(*shape), mode, 2)
        for mode in ("blocks_first", "depth_first")
        for name, shape in (
            ("depth_to_space", (2, 8, 3, 4)),
            ("depth_to_space", (2, 8, 3, 4, 2)),
            ("depth_to_space", (2, 8, 3)),
            ("space_to_depth", (2, 3, 4, 6)),
            ("space_to_depth", (2, 3, 4, 6, 2)),
            ("space_to_depth", (2, 3, 4)),
        )
    ],
]


@pytest.mark.parametrize("case", RESULTS, ids=lambda case: case[0])
def test_results(case):
    same_results(*case)


@pytest.mark.parametrize("step", [0.3, 0.25, -0.5])
def test_range_of_floats(step):
    start, stop = (0, 1) if step > 0 else (1, -1)
    same_results("range", *(Data(np.array(number, np.float32)) for number in (start, stop, step)), "f32")


def test_identity():
    same_results("identity", random(2, 3), opset=16)


def test_squeeze_without_axes():
    same_results("squeeze", random(1, 2, 1), ints())


UNKNOWN_PATTERN = Unknown([2], np.int64)
SHAPES = [
    ("reshape", Unknown([-1, 3, 4]), ints(0, -1), True),
    ("reshape", Unknown([-1, 3, 4]), ints(-1, 12), True),
    ("reshape", Unknown([-1, 3, 4]), ints(-1, 8), True),
    ("reshape", Unknown([(2, 5), 3, 4]), ints(-1, 6), True),
    ("reshape", Unknown("[...]"), ints(0, -1, 4), True),
    ("reshape", Unknown([3]), UNKNOWN_PATTERN, True),
    ("reshape", Unknown([3]), Unknown("[...]", np.int64), True),
    ("squeeze", Unknown([1, -1, 1]), ints(1)),
    ("squeeze", Unknown([1, -1, 3]), ints()),
    ("squeeze", Unknown([1, 2, 1]), UNKNOWN_PATTERN),
    ("squeeze", Unknown("[...]"), ints(1)),
    ("unsqueeze", Unknown([1, 2, 1]), UNKNOWN_PATTERN),
    ("unsqueeze", Unknown([-1, (1, 3)]), ints(1)),
    ("unsqueeze", Unknown("[...]"), ints(1)),
    ("transpose", Unknown([1, (2, 3), -1]), ints(2, 1, 0)),
    ("transpose", Unknown([1, 2]), UNKNOWN_PATTERN),
    ("transpose", Unknown("[...]"), ints(1, 0)),
    ("concat", [Unknown("[...]"), Unknown([2, 3])], -1),
    ("concat", [Unknown("[...]"), Unknown("[...]")], -1),
    ("concat", [Unknown([2, (1, 3)]), Unknown([(1, 4), (0, 5)])], 1),
    ("broadcast", Unknown([-1, 1]), ints(2, 4)),
    ("broadcast", Unknown("[...]"), ints(4)),
    ("broadcast", Unknown([2, 3, 1]), Unknown([1], np.int64), None, "BIDIRECTIONAL"),
    ("broadcast", Unknown([2, -1, (1, 3)]), ints(3, 1), None, "BIDIRECTIONAL"),
    ("broadcast", Unknown([-1]), ints(3, 4), ints(1), "EXPLICIT"),
    ("tile", Unknown([2, -1]), ints(2, 1, 3)),
    ("tile", Unknown([2, (1, 3)]), ints(3)),
    ("tile", Unknown([2, 3]), Unknown([3], np.int64)),
    ("tile", Unknown([2, 3]), ints(2, -1)),
    ("pad", Unknown([2, 5]), UNKNOWN_PATTERN, ints(1, -2), "constant"),
    ("pad", Unknown([(2, 4), -1]), ints(1, 0), ints(1, -2), "edge"),
    ("pad", Unknown("[...]"), ints(0, 1), ints(1, -2), "constant"),
    ("range", Unknown([], np.int64), ints(1)[0], ints(1)[0], "i64"),
    ("range", ints(5)[0], ints(0)[0], ints(2)[0], "i64"),
    ("range", ints(5)[0], ints(0)[0], ints(-2)[0], "i64"),
    ("shape_of", Unknown("[...]")),
    ("shape_of", Unknown([-1, 2])),
    ("depth_to_space", Unknown([-1, (4, 9), 2, 3]), "blocks_first", 2),
    ("space_to_depth", Unknown([-1, 7, (2, 5), 4]), "blocks_first", 2),
]


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case):
    same_shapes(*case)


def test_broadcast_keeps_what_cannot_stretch():
    """OpenVINO infers less here: a length other than 1 must be the length of the output."""
    same_shapes("broadcast", Unknown([3, 1]), Unknown([3], np.int64), expected=["[?,3,?]"])


@pytest.mark.parametrize(
    "case",
    [
        ("reshape", Unknown([3]), ints(3, 0), True),
        ("reshape", Unknown([3]), ints(4), True),
        ("reshape", Unknown([3, 4]), ints(5, -1), True),
        ("reshape", Unknown([3, 4]), ints(-1, -1), True),
        ("squeeze", Unknown([1, 2]), ints(5)),
        ("unsqueeze", Unknown([1, 2]), ints(5)),
        ("transpose", Unknown([1, 2, 3]), ints(0, -1, 1)),
        ("transpose", Unknown([1, 2, 3]), ints(0, 1)),
        ("concat", [Unknown([2, 3]), Unknown([3, 3])], 1),
        ("concat", [Unknown([2, 3]), Unknown([2, 3])], 2),
        ("concat", [Unknown([2, 3]), Unknown([2, 3], np.int32)], 1),
        ("broadcast", Unknown([3, 1]), ints(4)),
        ("broadcast", Unknown([3, 1]), ints(2, 4)),
        ("broadcast", Unknown([4, 3]), ints(3, 4), ints(1, 0), "EXPLICIT"),
        ("broadcast", Unknown([3]), np.zeros(0, np.int64), ints(0), "EXPLICIT"),
        ("pad", Unknown([2, 5]), ints(2, 0), ints(1, -2), "reflect"),
        ("pad", Unknown([2, 5]), ints(3, 0), ints(1, -2), "symmetric"),
        ("pad", Unknown([0, 5]), ints(3, 0), ints(1, -2), "edge"),
        ("pad", Unknown([2, 5]), ints(3), ints(1), "constant"),
        ("range", ints(0)[0], ints(4)[0], ints(0)[0], "i64"),
        ("depth_to_space", Unknown([1, 7, 2, 3]), "blocks_first", 2),
        ("space_to_depth", Unknown([1, 7, 3, 4]), "blocks_first", 2),
    ],
    ids=str,
)
def test_what_cannot_be(case):
    both_refuse(*case)


@pytest.mark.parametrize("length", [Dimension(), Dimension(1, -1), Dimension(2, 9)])
@pytest.mark.parametrize("device", ["TEMPLATE", "GPU"])
def test_reshape_of_nothing_to_an_unknown_length(device, length):
    """Without elements an unknown length of the pattern stays unknown. Expected: numpy.reshape."""
    x = Parameter(Type.f32, PartialShape([-1, length]))
    nothing = ops.Slice(x, ints(0), ints(0), ints(1), ints(0))
    shaped = ops.Reshape(ops.Reshape(nothing, ints(-1), False), ops.ShapeOf(nothing), False)
    compiled = Core().compile_model(Model([shaped, ops.ReduceSum(shaped, ints(0), True)], [x]), device)
    results = compiled([np.ones([4, 3], np.float32)])
    assert [results[index].shape for index in (0, 1)] == [(0, 3), (1, 3)]
