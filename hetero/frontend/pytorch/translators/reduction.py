"""Reductions, and running sums."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.numerics.reduction import norm
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.pytorch.translators.functions import log_sum
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, known_length, normalize_axis, rank_of, scalar_like
from hetero.graph import Constant, Node, Output
from hetero.system.errors import FrontendError

_REDUCTIONS = {
    "sum": ops.ReduceSum, "mean": ops.ReduceMean, "prod": ops.ReduceProd, "amax": ops.ReduceMax,
    "amin": ops.ReduceMin,
}  # fmt: skip


def _axes(node: TorchNodeContext, value: Output) -> Constant:
    """Return the axes of a reduction: all by default; a scalar has none."""
    given = node.get_attribute("dim", [])
    axes = [given] if isinstance(given, int) else given
    return int64(axes if axes and rank_of(value) else range(rank_of(value)))


@translator(*(f"aten::{name}" for name in _REDUCTIONS))
def reduction(node: TorchNodeContext) -> Translation:
    (value,) = node.operands("self")
    operation = _REDUCTIONS[node.get_op_type().removeprefix("aten::")]
    found = operation(as_numbers(value), _axes(node, value), node.get_attribute("keepdim", False))
    return convert_to(found.output(0), node.output_type())


def as_numbers(value: Output) -> Output:
    """Return booleans, which have no order in OpenVINO's operations, as u8; other values as they are."""
    return ops.Convert(value, Type.u8).output(0) if value.element_type is Type.boolean else value


@translator("aten::max", "aten::min")
def extreme(node: TorchNodeContext) -> Translation:
    is_max = node.get_op_type() == "aten::max"
    if "other" in node.arguments:
        left, right = (as_numbers(one) for one in node.operands("self", "other"))
        found: Node = (ops.Maximum if is_max else ops.Minimum)(left, right)
        return convert_to(found.output(0), node.output_type())
    value, kind = as_numbers(node.get_input("self")), node.output_type()
    if "dim" not in node.arguments:
        found = (ops.ReduceMax if is_max else ops.ReduceMin)(value, _axes(node, value), False)
        return convert_to(found.output(0), kind)
    axis = node.get_attribute("dim")
    if rank_of(value) == 0:
        return [node.get_input("self"), int64(0)]
    outputs = ops.TopK(value, int64(1), axis, "max" if is_max else "min", "none", "i64").outputs()
    if not node.get_attribute("keepdim", False):
        outputs = [ops.Squeeze(output, int64([axis])).output(0) for output in outputs]
    return [convert_to(outputs[0], kind), outputs[1]]


@translator("aten::argmax", "aten::argmin")
def index_of_extreme(node: TorchNodeContext) -> Translation:
    value, mode = node.get_input("self"), node.get_op_type()[-3:]
    axis = node.get_attribute("dim", None)
    keeps, rank = node.get_attribute("keepdim", False), rank_of(value)
    if axis is None or rank == 0:
        flat = ops.Reshape(value, int64([-1]), False)
        found = ops.TopK(flat, int64(1), 0, mode, "none", "i64").output(1)
        return ops.Reshape(found, int64([1] * rank if keeps else []), False)
    found = ops.TopK(value, int64(1), axis, mode, "none", "i64").output(1)
    return found if keeps else ops.Squeeze(found, int64([axis]))


@translator("aten::var", "aten::std", "aten::var_mean", "aten::std_mean")
def variance(node: TorchNodeContext) -> Translation:
    (value,) = node.operands("self")
    axes, keeps = _axes(node, value), node.get_attribute("keepdim", False)
    correction = node.get_attribute("correction", 1)
    if "unbiased" in node.arguments:
        correction = int(node.get_attribute("unbiased"))
    mean = ops.ReduceMean(value, axes, True)
    squares = ops.ReduceSum(ops.SquaredDifference(value, mean), axes, keeps)
    count = ops.ReduceProd(ops.Gather(ops.ShapeOf(value), axes, int64(0)), int64([0]), False)
    degrees = ops.Maximum(ops.Subtract(ops.Convert(count, value.element_type), scalar_like(value, correction)),
                          scalar_like(value, 0))  # fmt: skip
    result: Node = ops.Divide(squares, degrees)
    if "std" in node.get_op_type():
        result = ops.Sqrt(result)
    return [result, ops.ReduceMean(value, axes, keeps)] if node.get_op_type().endswith("mean") else result


@translator("aten::aminmax")
def extremes(node: TorchNodeContext) -> Translation:
    value, keeps = as_numbers(node.get_input("self")), node.get_attribute("keepdim", False)
    found = [reduce(value, _axes(node, value), keeps) for reduce in (ops.ReduceMin, ops.ReduceMax)]
    return [convert_to(one.output(0), node.output_type()) for one in found]


@translator("aten::count_nonzero")
def count_non_zero(node: TorchNodeContext) -> Translation:
    value = node.converted("self", Type.boolean)
    return ops.ReduceSum(ops.Convert(value, Type.i64), _axes(node, value), False)


@translator("aten::nansum")
def sum_of_numbers(node: TorchNodeContext) -> Translation:
    (value,) = node.operands("self")
    numbers = ops.Select(ops.Equal(value, value), value, scalar_like(value, 0))
    return ops.ReduceSum(numbers, _axes(node, value), node.get_attribute("keepdim", False))


@translator("aten::any", "aten::all")
def logical_reduction(node: TorchNodeContext) -> Translation:
    value = node.converted("self", Type.boolean)
    operation = ops.ReduceLogicalOr if node.get_op_type() == "aten::any" else ops.ReduceLogicalAnd
    found = operation(value, _axes(node, value), node.get_attribute("keepdim", False))
    return convert_to(found.output(0), node.output_type())


@translator("aten::cumsum")
def running_sum(node: TorchNodeContext) -> Translation:
    return ops.CumSum(*node.operands("self"), int64(node.get_attribute("dim")))


@translator("aten::cumprod")
def running_product(node: TorchNodeContext) -> Translation:
    return ops.CumProd(*node.operands("self"), int64(node.get_attribute("dim")))


@translator("aten::logcumsumexp")
def running_log_sum_exp(node: TorchNodeContext) -> Translation:
    """log(exp(x0) + … + exp(xi)), by sums of 2, 4, 8, … elements: one sum at a time for each power of 2."""
    (value,) = node.operands("self")
    rank = rank_of(value)
    if rank == 0:
        return value
    axis = normalize_axis(node.get_attribute("dim"), rank)
    length = value.partial_shape[axis].max_length
    if length == -1:
        raise FrontendError("the maximum length of the axis must be known")
    unit = int64([int(at == axis) for at in range(rank)])
    for distance in (2**power for power in range(max(length - 1, 0).bit_length())):
        # The sums that end this far before each element.
        padding = ops.Multiply(unit, ops.Minimum(int64(distance), axis_length(value, axis)))
        before = ops.Pad(value, padding, ops.Negative(padding), "constant", scalar_like(value, -np.inf))
        value = log_sum(value, before.output(0)).output(0)
    return value


@translator("aten::linalg_vector_norm", "aten::norm")
def vector_norm(node: TorchNodeContext) -> Translation:
    (value,) = node.operands("self")
    order, keeps = node.get_attribute("ord", node.get_attribute("p", 2)), node.get_attribute("keepdim", False)
    return norm(value, order, _axes(node, value).output(0), keeps)


@translator("aten::_cdist_forward", "aten::cdist")
def distances(node: TorchNodeContext) -> Translation:
    """The norms of the differences of each row of x1 ``[…, P, M]`` and each of x2 ``[…, R, M]``."""
    left, right = ops.Unsqueeze(node.get_input("x1"), int64([-2])), ops.Unsqueeze(node.get_input("x2"), int64([-3]))
    return norm(ops.Subtract(left, right).output(0), node.get_attribute("p", 2), int64([-1]).output(0), False)


@translator("aten::_pdist_forward", "aten::pdist")
def distances_of_pairs(node: TorchNodeContext) -> Translation:
    """The norms of the differences of rows i and j, for all i < j."""
    value = node.get_input("self")
    pairs = np.triu_indices(known_length(value, 0, "the number of rows"), 1)
    left, right = (ops.Gather(value, int64(rows), int64(0)) for rows in pairs)
    return norm(ops.Subtract(left, right).output(0), node.get_attribute("p", 2), int64([-1]).output(0), False)
