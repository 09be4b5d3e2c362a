"""Numbers and tensors as text; the cases of tests/frameworks/tensorflow compare them with TensorFlow."""

import numpy as np
import pytest

from hetero import Constant, HeteroError, Parameter, Type, ops
from hetero.reference import evaluate


@pytest.mark.parametrize(
    ("format", "number", "expected"),
    [
        ("%f", 0.1, "0.100000"),
        ("%-9.2f", -1.5, "-1.50    "),
        ("%09.1e", np.inf, "      inf"),
        ("%+g", 1e10, "+1e+10"),
        ("%05d", -7, "-0007"),
        ("%d", 2**63, "9223372036854775808"),
    ],
)
def test_numbers_as_printf_formats_them(format, number, expected):
    data = np.array([number])
    (found,) = evaluate(ops.FormatNumber(Constant(data), format), [data])
    assert found.tolist() == [expected]


def test_tensors_in_a_template():
    inputs = [np.arange(8).reshape(8, 1), np.array("ö\n"), np.array([True, False])]
    node = ops.StringFormat(list(map(Constant, inputs)), "{}: {} {}", "{}", 1)
    (found,) = evaluate(node, inputs)
    assert found.item() == '[[0]\n ...\n [7]]: "ö\\n" [1 0]'


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: ops.FormatNumber(Parameter(Type.f32, []), "%d"), "format '%d' must be one of printf's for f32"),
        (lambda: ops.FormatNumber(Parameter(Type.i32, []), "%f"), "format '%f' must be one of printf's for i32"),
        (lambda: ops.FormatNumber(Parameter(Type.f32, []), "%1000f"), "numbers of up to three digits"),
        (lambda: ops.FormatNumber(Parameter(Type.f32, []), "%f%f"), "must be one of printf's"),
        (lambda: ops.FormatNumber(Parameter(Type.string, []), "%f"), "input 0 must be numbers"),
        (lambda: ops.StringFormat([Parameter(Type.f32, [])], "a"), "0 placeholders '%s' for 1 inputs"),
        (lambda: ops.StringFormat([], "a", ""), "placeholder must not be empty"),
    ],
)
def test_refused(make, problem):
    with pytest.raises(HeteroError, match=problem):
        make()
