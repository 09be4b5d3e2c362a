"""Value propagation through arithmetic: the same numbers as evaluation, or intervals of lengths."""

import numpy as np
import pytest

import hetero
from hetero import ops, opset13
from hetero.reference import evaluate

LEAST, MOST = -(2**31), 2**31 - 1


def i32(*values):
    return np.int32(values[0] if len(values) == 1 else values)


EXACT = [
    ("add", [i32(MOST), i32(1)], LEAST), ("add", [np.int64(2**63 - 1), np.int64(1)], -(2**63)),
    ("subtract", [i32(LEAST), i32(1)], MOST), ("subtract", [np.uint8(3), np.uint8(5)], 254),
    ("multiply", [i32(MOST), i32(3)], MOST - 2), ("divide", [i32(7, -7), i32(-2)], [-4, 3]),
    ("divide", [i32(LEAST), i32(-1)], LEAST), ("maximum", [i32(3, 4), i32(4)], [4, 4]),
    ("minimum", [i32(3, 4), i32([[1], [9]])], [[1, 1], [3, 4]]), ("mod", [i32(-7), i32(2)], -1),
    ("floor_mod", [i32(-7), i32(2)], 1), ("equal", [i32(3), i32(3)], True),
    ("less", [i32(1, 4), i32(3)], [True, False]),
    ("logical_not", [np.array([True, False])], [False, True]), ("convert", [np.int64(2**40 + 7), "i32"], 7),
    ("convert", [np.int64(-1), "u8"], 255), ("convert", [np.array([True, False]), "i64"], [1, 0]),
    ("convert", [i32(0, 5), "boolean"], [False, True]),
    ("select", [np.array([True, False]), i32(1, 2), i32(3, 4)], [1, 4]),
    ("reduce_prod", [i32(MOST, 2, 3), np.int64([0])], -6), ("reduce_sum", [i32(MOST, 1), np.int64([0]), True], [LEAST]),
    ("reduce_max", [i32(1, 9, 3), np.int64([0])], 9), ("reduce_min", [i32(4, -9), np.int64(0)], -9),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "expected"), EXACT, ids=str)
def test_exact_contents(name, arguments, expected):
    node = getattr(opset13, name)(*arguments)
    value = node.output(0).value
    result = evaluate(node, [output.node.data for output in node.input_values()])[0]
    assert isinstance(value, np.ndarray)
    assert value.dtype == result.dtype == node.output(0).element_type.to_dtype()
    assert value.tolist() == result.tolist() == expected


SHAPE = "[2,?,4..8]"
LENGTHS = [
    ("add", 1, "3 1.. 5..9"), ("multiply", 2, "4 ? 8..16"), ("multiply", 0, "0 0 0"), ("divide", 2, "1 ? 2..4"),
    # A result that may be negative or wrap around is not propagated.
    ("add", -1, None), ("subtract", 1, None), ("multiply", -1, None), ("divide", -2, None), ("divide", 0, None),
    ("add", 2**63 - 1, None), ("maximum", 1, None), ("mod", 2, None), ("equal", 2, None), ("power", 2, None),
]  # fmt: skip


def contents(node):
    value = node.output(0).value
    return None if value is None else " ".join(str(item) for item in value)


@pytest.mark.parametrize(("name", "number", "expected"), LENGTHS)
def test_contents_that_are_lengths(name, number, expected):
    shape = opset13.shape_of(ops.Parameter(hetero.Type.f32, hetero.PartialShape(SHAPE)), "i64")
    assert contents(getattr(opset13, name)(shape, np.int64([number]))) == expected
    if name in ("add", "multiply"):
        assert contents(getattr(opset13, name)(np.int64([number]), shape)) == expected


def test_lengths_chosen_and_converted():
    shape = opset13.shape_of(ops.Parameter(hetero.Type.f32, hetero.PartialShape(SHAPE)), "i64")
    chosen = opset13.select(np.array([True, False, True]), shape, np.int64([3]))
    assert contents(chosen) == "2 3 4..8"
    assert contents(opset13.convert(chosen, "i32")) == "2 3 4..8"
    assert contents(opset13.convert(chosen, "f32")) is None


def test_lengths_too_large_for_their_type():
    shape = opset13.shape_of(ops.Parameter(hetero.Type.f32, hetero.PartialShape("[300,?]")), "i64")
    assert contents(opset13.convert(shape, "u8")) is None
    assert contents(opset13.multiply(opset13.convert(shape, "i32"), np.int32([2**30, 1]))) is None
