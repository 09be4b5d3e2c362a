"""Reductions over axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero.graph import Attribute, Op
from hetero.ops.checks import check_type, is_number, normalize_axis
from hetero.ops.conversion import all_fit
from hetero.ops.values import exact_value, is_exact, known_values, tidy
from hetero.shape import Dimension, PartialShape
from hetero.types import Type


class Reduction(Op):
    """Combines all numbers along the axes into one. Without axes nothing is reduced; naming one twice is naming it."""

    inputs = ("node", "reduction_axes")
    shape_inputs = (1,)
    keep_dims = Attribute(bool, False)
    #: How known values are reduced; None where they are not carried on.
    combine: Callable | None = None
    #: Whether they are where only the intervals of numbers are known.
    combines_lengths = False

    #: The element types that can be reduced, as a test and in words.
    reduces = (is_number, "a number")

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), *self.reduces)
        check_type(self, (1,), Type.is_integral, "an integer")
        axes = self.get_input_partial_shape(1)
        if not axes.compatible([-1]) and not axes.compatible([]):
            self.fail(f"reduction_axes must have at most one dimension, but have the shape {axes}")
        self.set_output_type(0, self.get_input_element_type(0), self._reduced_shape())

    def axes(self, rank: int) -> tuple[int, ...] | None:
        """The axes from the front, each once, for data of a rank; None while they are not known."""
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
        """The rank without the axes, where it is known how many there are: of several, one may be named twice."""
        count = self.get_input_partial_shape(1).element_count()
        return max(0, rank - count.get_length()) if count in (0, 1) else None

    def infer_value(self) -> np.ndarray | None:
        values = known_values(self.input_values())
        if self.combine is None or values is None or not is_exact(values[1]) or not values[0].size:
            return None
        data, dtype = values[0], self.get_output_element_type(0).to_dtype()
        if not is_exact(data) and (not self.combines_lengths or any(_is_negative(number) for number in data.flat)):
            return None
        found = self.combine(data, axis=self.axes(data.ndim) if data.ndim else (), keepdims=self.keep_dims)
        if is_exact(data):
            return np.asarray(found, dtype)
        found = np.asarray(found, object)
        return tidy(found) if all_fit(found, dtype) else None


class ReduceMean(Reduction, opset=1):
    """The mean."""


class ReduceSum(Reduction, opset=1):
    """The sum."""

    combine = staticmethod(np.sum)
    combines_lengths = True


class ReduceProd(Reduction, opset=1):
    """The product."""

    combine = staticmethod(np.prod)
    combines_lengths = True


class ReduceMax(Reduction, opset=1):
    """The largest."""

    combine = staticmethod(np.max)


class ReduceMin(Reduction, opset=1):
    """The smallest."""

    combine = staticmethod(np.min)


class ReduceL1(Reduction, opset=4):
    """The sum of the absolute values."""


class ReduceL2(Reduction, opset=4):
    """The root of the sum of squares."""


class _ReduceLogical(Reduction):
    reduces = (lambda element_type: element_type is Type.boolean, "boolean")


class ReduceLogicalAnd(_ReduceLogical, opset=1):
    """Whether all are true."""


class ReduceLogicalOr(_ReduceLogical, opset=1):
    """Whether one is true."""


def _is_negative(number: object) -> bool:
    """Of a number or the interval of one, which is never negative."""
    return isinstance(number, int) and number < 0
