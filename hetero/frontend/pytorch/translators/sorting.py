"""Sorting, searching, and selection of elements by their value."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.promotion import promoted_type
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.pytorch.translators.reduction import as_numbers
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, rank_of
from hetero.graph import Node, Output
from hetero.system.errors import FrontendError


@translator("aten::sort", "aten::argsort")
def sort(node: TorchNodeContext) -> Translation:
    value, axis = as_numbers(node.get_input("self")), node.get_attribute("dim", -1)
    if rank_of(value) == 0:
        return [node.get_input("self"), int64(0).output(0)][-node.get_output_size() :]
    mode = "max" if node.get_attribute("descending", False) else "min"
    values, indices = ops.TopK(value, axis_length(value, axis), axis, mode, "value", "i64", True).outputs()
    return [convert_to(values, node.get_input("self").element_type), indices][-node.get_output_size() :]


@translator("aten::msort")
def sort_rows(node: TorchNodeContext) -> Translation:
    value = as_numbers(node.get_input("self"))
    found = ops.TopK(value, axis_length(value, 0), 0, "min", "value", "i64", True)
    return convert_to(found.output(0), node.output_type())


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
    found = ops.TopK(value, axis_length(value, axis), axis, "min", "value", "i64", True).outputs()
    at = int64([rank] if node.get_attribute("keepdim", False) else rank)
    return [ops.Gather(one, at, int64(axis)) for one in found]


@translator("aten::median")
def median(node: TorchNodeContext) -> Translation:
    """The element in the middle of the sorted ones along an axis, the first of two, and its index; NaN if any is."""
    value, axis = node.get_input("self"), node.get_attribute("dim", 0)
    if "dim" not in node.arguments:
        value = ops.Reshape(value, int64([-1]), False).output(0)
    if rank_of(value) == 0:
        return [value, int64(0)]
    length = axis_length(value, [axis])
    found = ops.TopK(value, axis_length(value, axis), axis, "min", "value", "i64", True).outputs()
    number_count = ops.ReduceSum(ops.Convert(ops.Equal(value, value), Type.i64), int64([axis]), True)
    middle = ops.Divide(ops.Subtract(length, int64(1)), int64(2))
    # NaNs are sorted to the end.
    index = ops.Select(ops.Less(number_count, length), number_count, middle)
    results: list[Node] = [ops.GatherElements(one, index, axis) for one in found]
    if not node.get_attribute("keepdim", False):
        results = [ops.Squeeze(result, int64([axis])) for result in results]
    return results[: node.get_output_size()]


@translator("aten::searchsorted", "aten::bucketize")
def search_sorted(node: TorchNodeContext) -> Translation:
    """The index of each number in sorted numbers, before or, with ``right``, after those that are equal."""
    if node.has_input("sorter"):
        raise FrontendError("a sorter is not supported")
    limits = node.get_input("sorted_sequence" if "sorted_sequence" in node.arguments else "boundaries")
    value = node.converted("input" if "input" in node.arguments else "self", limits.element_type)
    right = node.get_attribute("right", False) or node.get_attribute("side", None) == "right"
    if rank_of(limits) == 1:
        return ops.Bucketize(value, limits, node.output_type().to_string(), not right)
    return ops.SearchSorted(limits, value, right, node.output_type().to_string())


@translator("aten::_unique2", "aten::unique_dim")
def unique(node: TorchNodeContext) -> Translation:
    """The different elements, or slices along an axis, sorted; where each element is among them, and their counts."""
    value = node.get_input("self")
    inputs = [value, int64(node.get_attribute("dim"))] if node.has_attribute("dim") else [value]
    values, _, inverse, counts = ops.Unique(*inputs, sorted=True).outputs()
    if len(inputs) == 1:
        inverse = ops.Reshape(inverse, ops.ShapeOf(value), False).output(0)
    return [values, inverse, counts]


@translator("aten::masked_select")
def masked_select(node: TorchNodeContext) -> Translation:
    value, mask = _broadcast(node.get_input("self"), node.get_input("mask"))
    if rank_of(value) == 0:
        value, mask = (ops.Reshape(one, int64([1]), False).output(0) for one in (value, mask))
    return ops.GatherND(value, ops.Transpose(ops.NonZero(mask), int64([1, 0])))


@translator("aten::isin")
def is_in(node: TorchNodeContext) -> Translation:
    """Whether each element is one of the others."""
    names = tuple(node.arguments)[:2]
    kind = promoted_type([node.arguments[name] for name in names])
    elements, others = (node.converted(name, kind) for name in names)
    row = ops.Reshape(others, int64([-1]), False)
    found = ops.ReduceLogicalOr(ops.Equal(ops.Unsqueeze(elements, int64([-1])), row), int64([-1]), False)
    return ops.LogicalNot(found) if node.get_attribute("invert", False) else found


@translator("aten::repeat_interleave")
def repeat_interleave(node: TorchNodeContext) -> Translation:
    """Repeat each slice along an axis, by one number or by one for each slice."""
    if "self" not in node.arguments:
        return _repeated(node.get_input("repeats"))
    value, axis = node.get_input("self"), node.get_attribute("dim", None)
    if axis is None:
        value, axis = ops.Reshape(value, int64([-1]), False).output(0), 0
    repeats = node.integers("repeats") if not isinstance(node.arguments["repeats"], Output) else (
        ops.Reshape(node.get_input("repeats"), int64([-1]), False).output(0)
    )  # fmt: skip
    counts = ops.Broadcast(repeats, axis_length(value, [axis]))
    return ops.Gather(value, _repeated(counts.output(0)), int64(axis))


def _repeated(counts: Output) -> Output:
    """Return 0, 1, …, each as often as its count says."""
    ends = ops.CumSum(ops.Convert(counts, Type.i64), int64(0))
    total = ops.ReduceSum(ops.Convert(counts, Type.i64), int64([0]), False)
    return ops.Bucketize(ops.Range(int64(0), total, int64(1), "i64"), ends, "i64", False).output(0)


def _broadcast(left: Output, right: Output) -> tuple[Output, Output]:
    left = ops.Broadcast(left, ops.ShapeOf(right), broadcast_spec="BIDIRECTIONAL").output(0)
    return left, ops.Broadcast(right, ops.ShapeOf(left)).output(0)
