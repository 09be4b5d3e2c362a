"""StableHLO SORT."""

from __future__ import annotations

from collections.abc import Sequence

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.stablehlo.bodies import ScalarBody, same_function
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length, int64, normalize_axis, rank_of
from hetero.graph import Node, Output
from hetero.system.errors import FrontendError

# Maximum length of an axis that is sorted by comparing all pairs of elements.
_MAX_PAIRWISE_LENGTH = 4096
_ORDERS: dict[type[Node], str] = {ops.Less: "min", ops.LessEqual: "min", ops.Greater: "max", ops.GreaterEqual: "max"}


@translator("STABLEHLO_SORT")
def sort(node: TfliteNodeContext) -> Translation:
    """Sort tensors together along an axis. The comparator graph returns whether the first element precedes the second.

    Its inputs are two elements of each tensor.
    """
    values = node.get_inputs()
    axis = normalize_axis(node.get_attribute("dimension"), rank_of(values[0]))
    precedes = ScalarBody(node, [value.element_type for value in values for _ in range(2)], 1)
    indices = _sort_by_key(values, axis, precedes) or _sort_pairwise(values, axis, precedes)
    return [ops.GatherElements(value, indices, axis).output(0) for value in values]


def _sort_by_key(values: Sequence[Output], axis: int, precedes: ScalarBody) -> Output | None:
    """Return the sorting indices if the comparator compares one key function of both elements; else None."""
    comparison = precedes.results[0].node
    if type(comparison) not in _ORDERS:
        return None
    first, second = precedes.inputs[::2], precedes.inputs[1::2]
    mode, (left, right) = _ORDERS[type(comparison)], comparison.input_values()
    if same_function(left, right, dict(zip(second, first))):
        # The operands are swapped: key(second) < key(first).
        mode = "max" if mode == "min" else "min"
    elif not same_function(left, right, dict(zip(first, second))):
        return None
    # With the same tensors as both elements, either operand of the comparison is the key.
    key = precedes([value for value in values for _ in range(2)])[0].node.input_value(0)
    if key.partial_shape != values[0].partial_shape:
        return None
    if key.element_type is Type.boolean:
        key = convert_to(key, Type.u8)
    length = axis_length(values[0], axis)
    return ops.TopK(key, length, axis, mode, "value", Type.i64, True).output(1)


def _sort_pairwise(values: Sequence[Output], axis: int, precedes: ScalarBody) -> Output:
    """Return the sorting indices for any comparator by comparing all pairs of elements.

    The rank of an element is the number of elements that precede it; equal elements keep their order.
    """
    length = values[0].partial_shape[axis]
    if length.is_dynamic or length.get_length() > _MAX_PAIRWISE_LENGTH:
        raise FrontendError(
            f"an axis of {length} elements cannot be sorted by its graph: a graph that does not compare one key of "
            f"both elements is supported up to {_MAX_PAIRWISE_LENGTH} elements"
        )
    # Two axes take the place of the sorted one: that of the other elements, then that of the elements themselves.
    others = [ops.Unsqueeze(value, int64(axis + 1)).output(0) for value in values]
    elements = [ops.Unsqueeze(value, int64(axis)).output(0) for value in values]
    (other_first,) = precedes([value for pair in zip(others, elements) for value in pair])
    (element_first,) = precedes([value for pair in zip(elements, others) for value in pair])
    index = ops.Range(int64(0), int64(length.get_length()), int64(1), Type.i64)
    ones = [1] * (rank_of(values[0]) - axis - 1)
    smaller_index = ops.Less(
        ops.Reshape(index, int64([-1, 1, *ones]), False), ops.Reshape(index, int64([-1, *ones]), False)
    )
    stable_order = ops.LogicalOr(other_first, ops.LogicalAnd(ops.LogicalNot(element_first), smaller_index))
    count = ops.ReduceSum(ops.Convert(stable_order, Type.i64), int64([-len(ones) - 2]), False)
    rank = ops.Broadcast(count, ops.ShapeOf(values[0]))
    return ops.TopK(rank, int64(length.get_length()), axis, "min", "value", Type.i64, True).output(1)
