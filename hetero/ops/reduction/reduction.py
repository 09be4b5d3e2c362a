"""Reductions over axes: sum, mean, product, extremes, norms, logical."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.graph import Attribute, Op
from hetero.ops.checks import AcceptedTypes, check_type, is_boolean, is_number, normalize_axis
from hetero.ops.values import all_fit, exact_value, is_exact, known_values, tidy


class Reduction(Op):
    """Base of reductions over ``reduction_axes``, integers that may be negative or repeated.

    Without axes nothing is reduced. Reduced dimensions become 1 if ``keep_dims`` is set and are removed otherwise.
    The output has the element type of the data.
    """

    input_names = ("node", "reduction_axes")
    shape_inputs = (1,)
    keep_dims = Attribute(bool, False)
    #: The numpy reduction for value propagation, None if values are not propagated.
    combine: Callable | None = None
    #: Whether ``combine`` also works on Dimensions.
    combines_dimensions = False

    #: The accepted element types: a predicate and its description for messages.
    accepted_types: AcceptedTypes = (is_number, "a number")

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), *self.accepted_types)
        check_type(self, (1,), Type.is_integer, "an integer")
        axes = self.get_input_partial_shape(1)
        if not axes.compatible([-1]) and not axes.compatible([]):
            self.fail(f"reduction_axes must have at most one dimension, but have the shape {axes}")
        self.set_output_type(0, self.get_input_element_type(0), self._reduced_shape())

    def axes(self, rank: int) -> tuple[int, ...] | None:
        """Return the sorted non-negative axes without duplicates for data of a rank; None if they are not known."""
        value = exact_value(self.input_value(1))
        if value is None:
            return None
        return tuple(sorted({normalize_axis(self, int(axis), rank) for axis in value.reshape(-1)}))

    def _reduced_shape(self) -> PartialShape:
        shape = self.get_input_partial_shape(0)
        if not shape.has_rank:
            return shape
        axes = self.axes(len(shape))
        if axes is None:
            return PartialShape.dynamic(len(shape) if self.keep_dims else self._rank_left(len(shape)))
        if self.keep_dims:
            return PartialShape([Dimension(1) if i in axes else d for i, d in enumerate(shape)])
        return PartialShape([d for i, d in enumerate(shape) if i not in axes])

    def _rank_left(self, rank: int) -> int | None:
        """Return the rank of the output, None if not known: with several unknown axes, some may be repeated."""
        count = self.get_input_partial_shape(1).element_count()
        return max(0, rank - count.get_length()) if count in (0, 1) else None

    def infer_value(self) -> np.ndarray | None:
        values = known_values(self.input_values())
        if self.combine is None or values is None or not is_exact(values[1]) or not values[0].size:
            return None
        data, dtype = values[0], self.get_output_element_type(0).to_dtype()
        if not is_exact(data) and (not self.combines_dimensions or any(_is_negative(number) for number in data.flat)):
            return None
        reduced = self.combine(data, axis=self.axes(data.ndim) if data.ndim else (), keepdims=self.keep_dims)
        if is_exact(data):
            return np.asarray(reduced, dtype)
        reduced = np.asarray(reduced, object)
        return tidy(reduced) if all_fit(reduced, dtype) else None


class ReduceMean(Reduction, opset=1):
    """Mean over the axes."""


class ReduceSum(Reduction, opset=1):
    """Sum over the axes."""

    combine = staticmethod(np.sum)
    combines_dimensions = True


class ReduceProd(Reduction, opset=1):
    """Product over the axes."""

    combine = staticmethod(np.prod)
    combines_dimensions = True


class ReduceMax(Reduction, opset=1):
    """Maximum over the axes."""

    combine = staticmethod(np.max)


class ReduceMin(Reduction, opset=1):
    """Minimum over the axes."""

    combine = staticmethod(np.min)


class ReduceL1(Reduction, opset=4):
    """Sum of absolute values over the axes."""


class ReduceL2(Reduction, opset=4):
    """Square root of the sum of squares over the axes."""


class _ReduceLogical(Reduction):
    accepted_types = (is_boolean, "boolean")


class ReduceLogicalAnd(_ReduceLogical, opset=1):
    """Logical and over the axes."""


class ReduceLogicalOr(_ReduceLogical, opset=1):
    """Logical or over the axes."""


def _is_negative(number: object) -> bool:
    """Return whether an item is a negative number; a Dimension never is."""
    return isinstance(number, int) and number < 0
