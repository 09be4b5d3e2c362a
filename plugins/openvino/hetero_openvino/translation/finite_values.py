"""The values that are finite for ordinary inputs, so that they need no corrections, which stop OpenVINO's fusions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from hetero import ops
from hetero.graph import Model, Output, topological_order, walk_nested
from hetero.passes.bounds.value_bounds import LARGEST, ValueBounds, value_bounds
from hetero_openvino.translation.bounds import LARGEST_CHECKED
from hetero_openvino.translation.corrections import CONVOLUTIONS, corrected_data

#: The largest norm of an ordinary input.
LARGEST_INPUT = 2.0**24
# The largest bound of values of deep networks, whose bounds by the worst case grow in each layer.
_LARGEST_OF_TRAINED = 1e24
# Operations into which OpenVINO fuses others.
_PRODUCTS = (*CONVOLUTIONS, ops.MatMul)
# Operations that may give NaN or infinity for numbers. None is fused into a product, so that a further reader of their
# results costs little.
_PARTIAL = (ops.Divide, ops.Log, ops.Sqrt)
# Each check reads a value once more; with many of them, the corrections may cost less.
_MOST_CHECKS = 4


class FiniteValues(NamedTuple):
    """Values that are finite for ordinary inputs, provided that those in ``checked`` turn out to be in an inference."""

    values: Set[Output]
    checked: Sequence[Output] = ()


def finite_values(model: Model) -> FiniteValues:
    """Return the values that are finite for ordinary inputs; none if that saves no correction.

    A variable may keep what is not finite.
    """
    corrected = [data for node in walk_nested(model.get_ordered_ops()) if (data := corrected_data(node))]
    if model.variables or not corrected:
        return FiniteValues(frozenset())
    finite, checked = _bounded(value_bounds(model, LARGEST_INPUT, limit=LARGEST)), list[Output]()
    if not all(map(finite.issuperset, corrected)):
        finite |= _bounded(value_bounds(model, LARGEST_INPUT, limit=_LARGEST_OF_TRAINED, is_trained=True))
    if unproven := [data for data in corrected if not finite.issuperset(data)]:
        more, checked = _finite_by_checks(model, [value for data in unproven for value in data])
        if len(checked) <= _MOST_CHECKS and any(map(more.issuperset, unproven)):
            finite |= more
        else:
            checked = []
    return FiniteValues(finite if any(map(finite.issuperset, corrected)) else frozenset(), checked)


def _finite_by_checks(model: Model, unproven: Sequence[Output]) -> tuple[set[Output], list[Output]]:
    """Return the values that are finite if some before products are, on which the unproven ones depend; and these.

    Where the readers of a quotient are Selects, which may replace 0 / 0, their results are checked instead.
    """
    bounds = ValueBounds(LARGEST_INPUT, limit=_LARGEST_OF_TRAINED, is_trained=True)
    checked, selected = list[Output](), set[Output]()
    products = [node for node in topological_order(value.node for value in unproven) if isinstance(node, _PRODUCTS)]
    relevant = set(topological_order(products))
    for node in model.get_ordered_ops():
        bounds.add_node(node)
        if not (isinstance(node, (*_PARTIAL, ops.Select)) and node in relevant):
            continue
        result = node.output(0)
        unbounded = {value for value in (*node.input_values(), result) if bounds.largest[value] == math.inf}
        if result not in unbounded or not unbounded <= {result, *selected}:
            continue
        if isinstance(node, _PARTIAL) and all(isinstance(to.node, ops.Select) for to in result.get_target_inputs()):
            selected.add(result)
        else:
            checked.append(result)
            bounds.set(result, LARGEST_CHECKED)
    return _bounded(bounds.largest), checked


def _bounded(bounds: Mapping[Output, float]) -> set[Output]:
    return {value for value, bound in bounds.items() if bound < math.inf}
