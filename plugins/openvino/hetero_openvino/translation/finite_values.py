"""The values that are finite for ordinary inputs, so that they need no corrections, which stop OpenVINO's fusions."""

from __future__ import annotations

import math
from collections.abc import Set

from hetero.graph import Model, Output, walk_nested
from hetero.passes.value_bounds import LARGEST, value_bounds
from hetero_openvino.translation.corrections import corrected_data

#: The largest norm of an ordinary input.
LARGEST_INPUT = 2.0**24
# The largest bound of values of deep networks, whose bounds by the worst case grow in each layer.
_LARGEST_OF_TRAINED = 1e24


def finite_values(model: Model) -> Set[Output]:
    """Return the values that are finite for ordinary inputs; none if that saves no correction.

    A variable may keep what is not finite.
    """
    corrected = [data for node in walk_nested(model.get_ordered_ops()) if (data := corrected_data(node))]
    if model.variables or not corrected:
        return frozenset()
    finite = _bounded(value_bounds(model, LARGEST_INPUT, limit=LARGEST))
    if not all(finite.issuperset(data) for data in corrected):
        finite |= _bounded(value_bounds(model, LARGEST_INPUT, limit=_LARGEST_OF_TRAINED, is_trained=True))
    return finite if any(finite.issuperset(data) for data in corrected) else frozenset()


def _bounded(bounds: dict[Output, float]) -> set[Output]:
    return {value for value, bound in bounds.items() if bound < math.inf}
