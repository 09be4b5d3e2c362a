"""StableHLO's SORT."""

from __future__ import annotations

from collections.abc import Sequence

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.quantization import converted
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.stablehlo.bodies import ScalarGraph, alike
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, length_of, normalize_axis, rank_of
from hetero.graph import Output
from hetero.types import Type

# The longest axis that is sorted by comparing all pairs.
_MOST_COMPARED = 4096
_ORDERS = {ops.Less: "min", ops.LessEqual: "min", ops.Greater: "max", ops.GreaterEqual: "max"}


@translator("STABLEHLO_SORT")
def sort(node: TfliteNodeContext) -> Translation:
    """Tensors put in one order along an axis, by a graph that says whether elements come before others."""
    values = node.get_inputs()
    axis = normalize_axis(node.get_attribute("dimension"), rank_of(values[0]))
    before = ScalarGraph(node, [value.element_type for value in values for _ in range(2)], 1)
    places = _order_by_key(values, axis, before) or _order_by_pairs(values, axis, before)
    return [ops.GatherElements(value, places, axis).output(0) for value in values]


def _order_by_key(values: Sequence[Output], axis: int, before: ScalarGraph) -> Output | None:
    """Where each element comes from, if the graph compares what one function makes of both elements; else None."""
    comparison = before.results[0].node
    if type(comparison) not in _ORDERS:
        return None
    first, second = before.inputs[::2], before.inputs[1::2]
    falls, (left, right) = _ORDERS[type(comparison)], comparison.input_values()
    if alike(left, right, dict(zip(second, first))):
        # The right one is that which is said to come after.
        falls = "max" if falls == "min" else "min"
    elif not alike(left, right, dict(zip(first, second))):
        return None
    # Of whole tensors both sides are the key.
    key = before([value for value in values for _ in range(2)])[0].node.input_value(0)
    if key.partial_shape != values[0].partial_shape:
        return None
    if key.element_type is Type.boolean:
        key = converted(key, Type.u8)
    length = length_of(values[0], axis)
    return ops.TopK(key, length, axis, falls, "value", Type.i64, True).output(1)


def _order_by_pairs(values: Sequence[Output], axis: int, before: ScalarGraph) -> Output:
    """The same for any graph: an element's place is the number of those that come before it, of equal ones the first
    in the order that they had."""
    length = values[0].partial_shape[axis]
    if length.is_dynamic or length.get_length() > _MOST_COMPARED:
        raise FrontendError(
            f"an axis of {length} elements cannot be sorted by its graph, which does not compare one key of both "
            f"elements: {_MOST_COMPARED} can"
        )
    # Those that may come before are on the axis, those that they may come before on the next one.
    others = [ops.Unsqueeze(value, int64(axis + 1)).output(0) for value in values]
    elements = [ops.Unsqueeze(value, int64(axis)).output(0) for value in values]
    (comes_before,) = before([value for pair in zip(others, elements) for value in pair])
    (comes_after,) = before([value for pair in zip(elements, others) for value in pair])
    number = ops.Range(int64(0), int64(length.get_length()), int64(1), Type.i64)
    behind = [1] * (rank_of(values[0]) - axis - 1)
    earlier = ops.Less(
        ops.Reshape(number, int64([-1, 1, *behind]), False), ops.Reshape(number, int64([-1, *behind]), False)
    )
    precedes = ops.LogicalOr(comes_before, ops.LogicalAnd(ops.LogicalNot(comes_after), earlier))
    place = ops.ReduceSum(ops.Convert(precedes, Type.i64), int64([-len(behind) - 2]), False)
    place = ops.Broadcast(place, ops.ShapeOf(values[0]))
    return ops.TopK(place, int64(length.get_length()), axis, "min", "value", Type.i64, True).output(1)
