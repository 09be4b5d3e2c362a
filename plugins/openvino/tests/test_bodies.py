"""Operations with bodies whose results OpenVINO keeps in memory that other values use too."""

import numpy as np
import pytest

from hetero import Constant, Core, Model, Parameter, Type, ops

CPU = "OPENVINO.CPU"
X, ROWS, IS_X = (Type.f32, [-1, 2]), (Type.f32, [-1, 2]), (Type.boolean, [])


def parameters():
    return [Parameter(kind, shape) for kind, shape in (X, ROWS, IS_X)]


def chains(x, rows, is_x):
    """Return exp(x or -x), and the sum of the rows and themselves, two chains of unknown lengths."""
    branches = [Parameter(*X) for _ in range(2)]
    chosen = ops.If(is_x)
    bodies = [Model([value], [value], "branch") for value in branches]
    chosen.set_then_body(bodies[0])
    chosen.set_else_body(bodies[1])
    chosen.set_input(x, branches[0], None)
    chosen.set_input(ops.Negative(x).output(0), None, branches[1])
    value = chosen.set_output(bodies[0].results[0], bodies[1].results[0])
    return [ops.Exp(value), ops.ReduceSum(ops.Concat([rows, rows], 0), [0], True)]


def in_loop(*inputs):
    """Return the same out of the body of a loop that runs once."""
    inner = parameters()
    body = Model([*chains(*inner), Constant(np.array(True))], inner, "body")
    loop = ops.Loop(np.int64(1), np.array(True))
    loop.set_function(body)
    loop.set_special_body_ports([-1, 2])
    for parameter, value in zip(inner, inputs):
        loop.set_invariant_input(parameter, value.output(0))
    return [loop.get_iter_value(result, -1) for result in body.results[:2]]


def in_branch(*inputs):
    """Return the same out of a branch."""
    inner, other = parameters(), parameters()
    chosen = ops.If(ops.ReduceLogicalAnd(ops.Greater(ops.ShapeOf(inputs[0], "i64"), np.int64([0, 1])), [0], False))
    bodies = [Model(chains(*inner), inner, "then"), Model([other[0], other[1]], other, "else")]
    chosen.set_then_body(bodies[0])
    chosen.set_else_body(bodies[1])
    for value, then_parameter, else_parameter in zip(inputs, inner, other):
        chosen.set_input(value.output(0), then_parameter, else_parameter)
    return [chosen.set_output(a, b) for a, b in zip(bodies[0].results, bodies[1].results)]


@pytest.mark.parametrize("make", [chains, in_loop, in_branch])
def test_branches_of_growing_length(make):
    inputs = parameters()
    request = Core().compile_model(Model(make(*inputs), inputs, "m"), CPU).create_infer_request()
    for length in (1, 2, 3, 5, 1, 9):
        for is_x in (False, True):
            x, rows = (np.full([length, 2], number, np.float32) for number in (0.75, 2))
            exponential, total = request.infer([x, rows, np.array(is_x)]).to_tuple()
            np.testing.assert_allclose(exponential, np.exp(x if is_x else -x), rtol=1e-5)
            np.testing.assert_array_equal(total, np.full([1, 2], 4 * length))
