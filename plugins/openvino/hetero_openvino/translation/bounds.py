"""Checks in each inference that numbers are small enough for OpenVINO's model, where that is not proven before.

OpenVINO's model computes in f32, beside an operation, how large its results and what it adds up may be: integers, and
the real values that a model without corrections takes for finite. Bodies have the checks as a further result. All of
them together are one hidden output of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import openvino
from openvino import op

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node
from hetero.passes.bounds.intervals import Interval
from hetero_openvino.memory import constant
from hetero_openvino.translation.corrections import factory, make, scalar
from hetero_openvino.translation.scanned_outputs import carry

# The name of the hidden output.
WITHIN_BOUNDS = "values are within bounds"
#: The largest norm of a real value that is checked. Its square, which networks compute, is far from the end of f32.
LARGEST_CHECKED = 1e10
# The longest sum of numbers of 8 bits that is exact in f32. That of other numbers has an error of less than 1 %.
LONGEST_SUM = 2**24 // 255
_MARGIN = 0.99
Magnitude = Callable[[Node, openvino.Node], openvino.Output]


def bounds_of(node: Node, made: openvino.Node, interval: Interval) -> list[openvino.Output] | None:
    """Return booleans that are true only if the results of a node are in an interval, None if it is not known how.

    ``made``: OpenVINO's equivalent.
    """
    if isinstance(node, (ops.Convert, ops.ConvertLike)):
        return _convertible(made.input_value(0), node.get_output_element_type(0))
    magnitude = _MAGNITUDES.get(node.type_info.name)
    if magnitude is None:
        return None
    if not isinstance(node, (ops.ReduceSum, ops.ReduceL1, ops.CumSum)):
        return [make("Less", magnitude(node, made), scalar(interval.high, Type.f32))]
    limit = scalar(interval.high * _MARGIN, Type.f32)
    return [make("Less", magnitude(node, made), limit), _is_short(made.input_value(0))]


def is_finite(value: openvino.Output) -> openvino.Output:
    """Return whether the norm of a value is small, which it is not if an element is NaN or infinite."""
    real, rank = make("Convert", value, destination_type="f32"), value.get_partial_shape().rank
    if rank.is_dynamic or rank.get_length() == 0:
        real = make("Reshape", real, _vector(-1), special_zero=False)
    axes = constant(np.arange(real.get_partial_shape().rank.get_length()), Type.i64).output(0)
    norm = factory("opset4").create("ReduceL2", [real, axes], {"keep_dims": False}).output(0)
    return make("Less", norm, scalar(LARGEST_CHECKED, norm))


def combined(bounds: Sequence[openvino.Output]) -> openvino.Output:
    """Return whether all elements are true, with the shape [1]."""
    always = constant(np.array([True]), Type.boolean).output(0)  # as the others may have no elements
    vectors = [make("Reshape", value, _vector(-1), special_zero=False) for value in bounds]
    return make("ReduceLogicalAnd", make("Concat", always, *vectors, axis=0), _vector(0), keep_dims=True)


def add_to_loop(
    body: openvino.Model, bounds: Sequence[openvino.Output], condition: int, *place: Any
) -> openvino.Output:
    """Let the body of a loop combine its checks with those of earlier iterations. Return the initial input.

    ``condition``: the index of the result that says whether the loop goes on, -1 for none. It ends where a check fails,
    or else a counter that wraps around might never reach its end.
    """
    initial = constant(np.array([True]), Type.boolean).output(0)
    carry(body, initial, lambda before: make("LogicalAnd", before, combined(bounds)), *place)
    *results, last = body.get_results()
    if condition >= 0 and not isinstance((goes_on := results[condition].input_value(0)).get_node(), op.Constant):
        holds = make("Reshape", last.input_value(0), make("ShapeOf", goes_on), special_zero=False)
        results[condition].input(0).replace_source_output(make("LogicalAnd", goes_on, holds))
    return initial


def add_to_branch(body: openvino.Model, bounds: Sequence[openvino.Output], written: list[Any], output: int) -> None:
    """Add the checks to a branch as a result, the output ``output`` of its operation."""
    written.append(op.util.BodyOutputDescription(len(body.get_results()), output, -1))
    body.add_results([op.Result(combined(bounds))])


def _convertible(value: openvino.Output, kind: Type) -> list[openvino.Output]:
    """Return where numbers have a conversion to an integer of 32 bits."""
    real = make("Convert", value, destination_type="f32")
    bounds = [make("Less", make("Abs", real), scalar(2**31, Type.f32))]
    if not kind.is_signed():
        bounds.append(make("Less", scalar(-1, Type.f32), real))
    return bounds


def _is_short(value: openvino.Output) -> openvino.Output:
    count = make("ReduceProd", make("ShapeOf", value), _vector(0), keep_dims=False)
    return make("Less", count, scalar(LONGEST_SUM, count))


def _absolute(value: openvino.Output) -> openvino.Output:
    return make("Abs", make("Convert", value, destination_type="f32"))


def _vector(number: int) -> openvino.Output:
    return constant(np.array([number]), Type.i64).output(0)


def _of_inputs(combine: Callable[[openvino.Output, openvino.Output], openvino.Output]) -> Magnitude:
    return lambda node, made: combine(*map(_absolute, made.input_values()))


def _reduced(name: str, is_squared: bool = False) -> Magnitude:
    """Return the magnitude of what a reduction computes along the axes that are the second input."""

    def magnitude(node: Node, made: openvino.Node) -> openvino.Output:
        size = _absolute(made.input_value(0))
        if is_squared:
            size = make("Multiply", size, size)
        return make(name, size, made.input_value(1), keep_dims=False)

    return magnitude


def _product(node: Node, made: openvino.Node) -> openvino.Output:
    assert isinstance(node, ops.MatMul)
    sizes = map(_absolute, made.input_values())
    return make("MatMul", *sizes, transpose_a=node.transpose_a, transpose_b=node.transpose_b)


def _sum(a: openvino.Output, b: openvino.Output) -> openvino.Output:
    return make("Add", a, b)


def _squared_sum(a: openvino.Output, b: openvino.Output) -> openvino.Output:
    return make("Multiply", _sum(a, b), _sum(a, b))


def _power(base: openvino.Output, exponent: openvino.Output) -> openvino.Output:
    """Return the power, or the exponent, which decides about the sign."""
    return _sum(make("Power", base, exponent), exponent)


def _result(node: Node, made: openvino.Node) -> openvino.Output:
    return _absolute(made.output(0))


_MAGNITUDES: Mapping[str, Magnitude] = {
    "Add": _of_inputs(_sum),
    "BitwiseAnd": _result,
    "BitwiseNot": _result,
    "BitwiseOr": _result,
    "BitwiseXor": _result,
    "CumSum": _reduced("ReduceSum"),
    "MatMul": _product,
    "MaxPool": lambda node, made: _absolute(made.input_value(0)),
    "Multiply": _of_inputs(lambda a, b: make("Multiply", a, b)),
    "Power": _of_inputs(_power),
    "ReduceL1": _reduced("ReduceSum"),
    "ReduceL2": _reduced("ReduceSum", is_squared=True),
    "ReduceMean": _reduced("ReduceSum"),
    "ReduceProd": _reduced("ReduceProd"),
    "ReduceSum": _reduced("ReduceSum"),
    "SquaredDifference": _of_inputs(_squared_sum),
    "Subtract": _of_inputs(_sum),
}
