"""Reductions, running sums, norms, sorting and searching."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.reduction import log_sum_exp, norm, search_sorted
from hetero.frontend.pytorch.node_context import TorchNodeContext, promoted, rows, translator
from hetero.frontend.pytorch.promotion import promoted_type
from hetero.frontend.pytorch.translators.elementwise import log_sum
from hetero.frontend.translation.translators import Attr, Row, Translation, Translator, as_outputs
from hetero.frontend.translation.values import (
    axis_length,
    convert_to,
    int64,
    known_length,
    normalize_axis,
    rank_of,
    scalar_like,
)
from hetero.graph import Constant, Node, Output
from hetero.system.errors import FrontendError

_KEEPS = Attr("keepdim", False)


def _axes(node: TorchNodeContext, value: Output) -> Constant:
    """Return the axes of a reduction: all by default; a scalar has none."""
    axes = node.get_attribute("dim", [])
    axes = [axes] if isinstance(axes, int) else axes
    return int64(axes if axes and rank_of(value) else range(rank_of(value)))


def _as_numbers(value: Output) -> Output:
    """Return booleans, which have no order in OpenVINO's operations, as u8; other values as they are."""
    return ops.Convert(value, Type.u8).output(0) if value.element_type is Type.boolean else value


def _reduced(operand: Callable[[TorchNodeContext], Output]) -> Callable[[Row], Translator]:
    """Return the convention of rows that reduce an operand along ``dim`` and convert the results to their types."""

    def convention(row: Row) -> Translator:
        def translate(node: TorchNodeContext) -> Translation:
            value = operand(node)
            results = as_outputs(row.make(node, [value, _axes(node, value).output(0)]))
            return [convert_to(result, node.output_type(index)) for index, result in enumerate(results)]

        return translate

    return convention


def _numbers(node: TorchNodeContext) -> Output:
    return _as_numbers(*node.operands("self"))


def _booleans(node: TorchNodeContext) -> Output:
    return node.converted("self", Type.boolean)


rows({
    "aten::sum": Row(ops.ReduceSum, keep_dims=_KEEPS), "aten::mean": Row(ops.ReduceMean, keep_dims=_KEEPS),
    "aten::prod": Row(ops.ReduceProd, keep_dims=_KEEPS), "aten::amax": Row(ops.ReduceMax, keep_dims=_KEEPS),
    "aten::amin": Row(ops.ReduceMin, keep_dims=_KEEPS),
    "aten::nansum": Row(
        lambda value, axes, keep_dims: ops.ReduceSum(
            ops.Select(ops.Equal(value, value), value, scalar_like(value, 0)), axes, keep_dims
        ),
        keep_dims=_KEEPS,
    ),
    "aten::aminmax": Row(
        lambda value, axes, keeps: [ops.ReduceMin(value, axes, keeps), ops.ReduceMax(value, axes, keeps)], keeps=_KEEPS
    ),
    "aten::logsumexp": Row(log_sum_exp, keeps_axes=_KEEPS),
    "aten::linalg_vector_norm": Row(norm, order=Attr("ord", 2), keeps_axes=_KEEPS),
    "aten::norm": Row(norm, order=Attr("p", 2), keeps_axes=_KEEPS),
}, _reduced(_numbers))  # fmt: skip
rows({
    "aten::any": Row(ops.ReduceLogicalOr, keep_dims=_KEEPS), "aten::all": Row(ops.ReduceLogicalAnd, keep_dims=_KEEPS),
    "aten::count_nonzero": Row(lambda value, axes: ops.ReduceSum(ops.Convert(value, Type.i64), axes, False)),
}, _reduced(_booleans))  # fmt: skip


def _running_log_sum_exp(value: Output, axis: int) -> Output:
    """Return log(exp(x0) + … + exp(xi)), by sums of 2, 4, 8, … elements: one sum at a time for each power of 2."""
    rank = rank_of(value)
    if rank == 0:
        return value
    axis = normalize_axis(axis, rank)
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


def _cosine_similarity(x: Output, y: Output, axis: int, epsilon: float) -> Node:
    sizes = [ops.Maximum(ops.ReduceL2(vector, [axis], False), scalar_like(x, epsilon)) for vector in (x, y)]
    return ops.Divide(ops.ReduceSum(ops.Multiply(x, y), [axis], False), ops.Multiply(*sizes))


rows({
    "aten::cumsum": Row(ops.CumSum, "self", axis=Attr("dim")),
    "aten::cumprod": Row(ops.CumProd, "self", axis=Attr("dim")),
    "aten::logcumsumexp": Row(_running_log_sum_exp, "self", axis=Attr("dim")),
    "aten::cosine_similarity": Row(
        _cosine_similarity, "x1", "x2", axis=Attr("dim", 1), epsilon=Attr("eps", 1e-8)
    ),
}, promoted)  # fmt: skip


def _distances(left: Output, right: Output, order: float) -> Node:
    """Return the norms of the differences of each row of ``[…, P, M]`` and each of ``[…, R, M]``."""
    difference = ops.Subtract(ops.Unsqueeze(left, [-2]), ops.Unsqueeze(right, [-3]))
    return norm(difference.output(0), int64([-1]).output(0), order, False)


def _distances_of_pairs(value: Output, order: float) -> Node:
    """Return the norms of the differences of rows i and j, for all i < j."""
    pairs = np.triu_indices(known_length(value, 0, "the number of rows"), 1)
    left, right = (ops.Gather(value, int64(indices), 0) for indices in pairs)
    return norm(ops.Subtract(left, right).output(0), int64([-1]).output(0), order, False)


rows({
    "aten::_cdist_forward": Row(_distances, "x1", "x2", order=Attr("p", 2)),
    "aten::cdist": Row(_distances, "x1", "x2", order=Attr("p", 2)),
    "aten::_pdist_forward": Row(_distances_of_pairs, "self", order=Attr("p", 2)),
    "aten::pdist": Row(_distances_of_pairs, "self", order=Attr("p", 2)),
})  # fmt: skip


@translator("aten::max", "aten::min")
def extreme(node: TorchNodeContext) -> Translation:
    is_max = node.get_op_type() == "aten::max"
    if "other" in node.arguments:
        left, right = (_as_numbers(operand) for operand in node.operands("self", "other"))
        result: Node = (ops.Maximum if is_max else ops.Minimum)(left, right)
        return convert_to(result.output(0), node.output_type())
    value, kind = _as_numbers(node.get_input("self")), node.output_type()
    if "dim" not in node.arguments:
        result = (ops.ReduceMax if is_max else ops.ReduceMin)(value, _axes(node, value), False)
        return convert_to(result.output(0), kind)
    axis = node.get_attribute("dim")
    if rank_of(value) == 0:
        return [node.get_input("self"), int64(0)]
    outputs = ops.TopK(value, 1, axis, "max" if is_max else "min", "none", "i64").outputs()
    if not node.get_attribute("keepdim", False):
        outputs = [ops.Squeeze(output, [axis]).output(0) for output in outputs]
    return [convert_to(outputs[0], kind), outputs[1]]


@translator("aten::argmax", "aten::argmin")
def index_of_extreme(node: TorchNodeContext) -> Translation:
    value, mode = node.get_input("self"), node.get_op_type()[-3:]
    axis = node.get_attribute("dim", None)
    keeps, rank = node.get_attribute("keepdim", False), rank_of(value)
    if axis is None or rank == 0:
        flat = ops.Reshape(value, [-1], False)
        index = ops.TopK(flat, 1, 0, mode, "none", "i64").output(1)
        return ops.Reshape(index, int64([1] * rank if keeps else []), False)
    index = ops.TopK(value, 1, axis, mode, "none", "i64").output(1)
    return index if keeps else ops.Squeeze(index, [axis])


@translator("aten::var", "aten::std", "aten::var_mean", "aten::std_mean")
def variance(node: TorchNodeContext) -> Translation:
    (value,) = node.operands("self")
    axes, keeps = _axes(node, value), node.get_attribute("keepdim", False)
    correction = node.get_attribute("correction", 1)
    if "unbiased" in node.arguments:
        correction = int(node.get_attribute("unbiased"))
    mean = ops.ReduceMean(value, axes, True)
    squares = ops.ReduceSum(ops.SquaredDifference(value, mean), axes, keeps)
    count = ops.ReduceProd(ops.Gather(ops.ShapeOf(value), axes, 0), [0], False)
    degrees = ops.Maximum(ops.Subtract(ops.Convert(count, value.element_type), scalar_like(value, correction)),
                          scalar_like(value, 0))  # fmt: skip
    result: Node = ops.Divide(squares, degrees)
    if "std" in node.get_op_type():
        result = ops.Sqrt(result)
    return [result, ops.ReduceMean(value, axes, keeps)] if node.get_op_type().endswith("mean") else result


def _sorted(value: Output, axis: int, is_descending: bool = False) -> list[Output]:
    """Return the elements along an axis in order, equal ones as they were, and their indices."""
    mode = "max" if is_descending else "min"
    return ops.TopK(value, axis_length(value, axis), axis, mode, "value", "i64", True).outputs()


@translator("aten::sort", "aten::argsort")
def sort(node: TorchNodeContext) -> Translation:
    value, count = node.get_input("self"), node.get_output_size()
    if rank_of(value) == 0:
        return [value, int64(0).output(0)][-count:]
    values, indices = _sorted(
        _as_numbers(value), node.get_attribute("dim", -1), node.get_attribute("descending", False)
    )
    return [convert_to(values, value.element_type), indices][-count:]


rows({"aten::msort": lambda node: convert_to(_sorted(_as_numbers(node.get_input("self")), 0)[0], node.output_type())})


@translator("aten::topk")
def top_k(node: TorchNodeContext) -> Translation:
    is_largest = node.get_attribute("largest", True)
    if rank_of(node.get_input("self")) == 0:
        return [node.get_input("self"), int64(0)]
    return ops.TopK(
        node.get_input("self"), node.get_input("k"), node.get_attribute("dim", -1), "max" if is_largest else "min",
        "value" if node.get_attribute("sorted", True) else "none", "i64",
    )  # fmt: skip


@translator("aten::kthvalue")
def kth_value(node: TorchNodeContext) -> Translation:
    """The k-th smallest element along an axis, and its index."""
    value, axis = node.get_input("self"), node.get_attribute("dim", -1)
    if rank_of(value) == 0:
        return [value, int64(0)]
    rank = node.get_attribute("k") - 1
    at = int64([rank] if node.get_attribute("keepdim", False) else rank)
    return [ops.Gather(result, at, axis) for result in _sorted(value, axis)]


@translator("aten::median")
def median(node: TorchNodeContext) -> Translation:
    """The element in the middle of the sorted ones along an axis, the first of two, and its index; NaN if any is."""
    value, axis = node.get_input("self"), node.get_attribute("dim", 0)
    if "dim" not in node.arguments:
        value = ops.Reshape(value, [-1], False).output(0)
    if rank_of(value) == 0:
        return [value, int64(0)]
    length = axis_length(value, [axis])
    number_count = ops.ReduceSum(ops.Convert(ops.Equal(value, value), Type.i64), [axis], True)
    middle = ops.Divide(ops.Subtract(length, 1), 2)
    # NaNs are sorted to the end.
    index = ops.Select(ops.Less(number_count, length), number_count, middle)
    results: list[Node] = [ops.GatherElements(result, index, axis) for result in _sorted(value, axis)]
    if not node.get_attribute("keepdim", False):
        results = [ops.Squeeze(result, [axis]) for result in results]
    return results[: node.get_output_size()]


@translator("aten::searchsorted", "aten::bucketize")
def search(node: TorchNodeContext) -> Translation:
    """The index of each number in sorted numbers, before or, with ``right``, after those that are equal."""
    if node.has_input("sorter"):
        raise FrontendError("a sorter is not supported")
    limits = node.get_input("sorted_sequence" if "sorted_sequence" in node.arguments else "boundaries")
    value = node.converted("input" if "input" in node.arguments else "self", limits.element_type)
    right = node.get_attribute("right", False) or node.get_attribute("side", None) == "right"
    return search_sorted(limits, value, right, node.output_type().to_string())


@translator("aten::_unique2", "aten::unique_dim")
def unique(node: TorchNodeContext) -> Translation:
    """The different elements, or slices along an axis, sorted; where each element is among them, and their counts."""
    value = node.get_input("self")
    inputs = [value, int64(node.get_attribute("dim"))] if node.has_attribute("dim") else [value]
    values, _, inverse, counts = ops.Unique(*inputs, sorted=True).outputs()
    if len(inputs) == 1:
        inverse = ops.Reshape(inverse, ops.ShapeOf(value), False).output(0)
    return [values, inverse, counts]


@translator("aten::isin")
def is_in(node: TorchNodeContext) -> Translation:
    """True for each element that is one of the others."""
    names = tuple(node.arguments)[:2]
    kind = promoted_type([node.arguments[name] for name in names])
    elements, others = (node.converted(name, kind) for name in names)
    row = ops.Reshape(others, int64([-1]), False)
    is_found = ops.ReduceLogicalOr(ops.Equal(ops.Unsqueeze(elements, [-1]), row), [-1], False)
    return ops.LogicalNot(is_found) if node.get_attribute("invert", False) else is_found
