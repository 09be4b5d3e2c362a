"""Reductions, cumulative operations, sorting and searching."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import (
    AcceptedTypes,
    all_fit,
    check_index_type,
    check_scalar,
    check_scalar_or_one,
    check_type,
    common_type,
    exact_value,
    is_boolean,
    is_exact,
    is_number,
    known_axis,
    known_values,
    non_scalar_shape,
    normalize_axis,
    shape_of_rank,
    tidy,
)


class Reduction(Op):
    """Base of reductions over ``reduction_axes``, integers that may be negative or repeated.

    Without axes nothing is reduced. Reduced dimensions become 1 if ``keep_dims`` is set and are removed otherwise.
    The output has the element type of the data.
    """

    input_names = ("node", "reduction_axes")
    shape_inputs = (1,)
    keep_dims = Attribute(bool, False)
    #: The numpy reduction for value propagation, None if values are not propagated.
    combine: Callable[..., Any] | None = None
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


class CumSum(Op, opset=3):
    """Cumulative sum along the axis, from the end if ``reverse`` is set.

    With ``exclusive`` an element is not part of its own sum. The output has the element type and shape of ``arg``.
    """

    input_names = ("arg", "axis")
    shape_inputs = (1,)
    exclusive = Attribute(bool, False)
    reverse = Attribute(bool, False)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), is_number, "a number")
        check_type(self, (1,), Type.is_integer, "an integer")
        check_scalar_or_one(self, 1)
        known_axis(self, 1, self.get_input_partial_shape(0))
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


class CumProd(CumSum):
    """Cumulative product, with the attributes of CumSum. In ONNX, not in OpenVINO."""


class TopKV1(Op, type_name="TopK", opset=1):
    """The ``k`` largest (mode max) or smallest elements along ``axis``, and their indices; on ties the first elements.

    ``sort``: "value" orders by value, best first, "index" by index; "none" guarantees no order.

    - ``k``: an integer scalar.
    - ``index_element_type``: i32 or i64, the element type of the indices.
    - ``mode``: max or min.
    """

    input_names = ("data", "k")
    shape_inputs = (1,)
    output_size = 2
    axis = Attribute(int)
    mode = Attribute(choice("max", "min"))
    sort = Attribute(choice("none", "index", "value"))
    index_element_type = Attribute(Type, "i32")

    def validate_and_infer_types(self) -> None:
        check_type(self, [0], is_number, "numbers")
        check_type(self, [1], Type.is_integer, "an integer")
        check_scalar(self, 1)
        check_index_type(self, "index_element_type")
        shape = self.get_input_partial_shape(0)
        if shape.has_rank:
            axis = normalize_axis(self, self.axis, len(non_scalar_shape(self, 0)))
            dimensions = list(shape)
            dimensions[axis] = self._count(shape[axis])
            shape = PartialShape(dimensions)
        self.set_output_type(0, self.get_input_element_type(0), shape)
        self.set_output_type(1, self.index_element_type, shape)

    def _count(self, length: Dimension) -> Dimension:
        value = self.input_value(1).value
        if value is None:
            return Dimension(0, length.max_length)
        k = value.reshape(-1)[0]
        if isinstance(k, Dimension):
            return k
        if k < 0 or (length.max_length != -1 and k > length.max_length):
            self.fail(f"k must be from 0 to {length}, the length of the axis, but is {k}")
        return Dimension(int(k))


class TopKV3(TopKV1, type_name="TopK", opset=3):
    """TopK-1; OpenVINO's factory for that has no ``index_element_type``."""


class TopK(TopKV3, opset=11):
    """TopK-3 with ``stable``, which has no effect: on ties the first elements are always selected."""

    stable = Attribute(bool, False)


class Unique(Op, opset=10):
    """The unique elements of the data, or with ``axis`` its unique slices, sorted or in order of first occurrence.

    Outputs: the unique values; the index of the first occurrence of each; for each element of the data the index of
    its unique value; the number of occurrences of each.

    - ``axis``: an integer scalar.
    - ``index_element_type``: i32 or i64, the element type of the second and third output.
    - ``count_element_type``: i32 or i64, the element type of the fourth output.
    - ``sorted``: whether unique elements are sorted, else in order of first occurrence.
    """

    input_names = ("data", "axis?")
    shape_inputs = (1,)
    output_size = 4
    sorted = Attribute(bool, True)
    index_element_type = Attribute(Type, "i64")
    count_element_type = Attribute(Type, "i64")
    parameter_order = ("data", "axis", "sorted", "index_element_type", "count_element_type")

    def validate_and_infer_types(self) -> None:
        check_index_type(self, "index_element_type")
        check_index_type(self, "count_element_type")
        data = self.get_input_partial_shape(0)
        total = data.element_count()
        if self.has_input("axis"):
            check_type(self, [1], Type.is_integer, "an integer")
            check_scalar_or_one(self, 1)
            total, values = Dimension(), PartialShape.dynamic(data.rank)
            axis = known_axis(self, 1, non_scalar_shape(self, 0))
            if axis is not None:
                total = data[axis]
                values = concatenate(data[:axis], [_unique_count(total)], data[axis + 1 :])
        else:
            values = PartialShape([_unique_count(total)])
        counts = PartialShape([_unique_count(total)])
        self.set_output_type(0, self.get_input_element_type(0), values)
        self.set_output_type(1, self.index_element_type, counts)
        self.set_output_type(2, self.index_element_type, [total])
        self.set_output_type(3, self.count_element_type, counts)


def _unique_count(count: Dimension) -> Dimension:
    """Return the possible numbers of unique elements among ``count``."""
    return Dimension(min(count.min_length, 1), count.max_length)


class Bucketize(Op, opset=3):
    """The index of the bucket of each element of the data; ``buckets`` is a vector of the sorted bounds.

    A bucket contains its upper bound if ``with_right_bound`` is set, else its lower bound.

    - ``output_type``: i32 or i64, the element type of the output, which has the shape of the data.
    """

    input_names = ("data", "buckets")
    output_type = Attribute(Type, "i64")
    with_right_bound = Attribute(bool, True)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), is_number, "numbers")
        check_index_type(self, "output_type")
        shape_of_rank(self, 1, 1)
        self.set_output_type(0, self.output_type, self.get_input_partial_shape(0))


class SearchSorted(Op, opset=15):
    """The position at which to insert each value into the sorted sequence.

    That is after equal elements if ``right_mode`` is set, else before them. The sequence is a vector, or has one row
    for each row of the values.

    - ``sorted_sequence``: ``[L]`` or ``[…, L]``, ascending.
    - ``output_type``: i32 or i64, the element type of the output, which has the shape of the values.
    """

    input_names = ("sorted_sequence", "values")
    right_mode = Attribute(bool, False)
    output_type = Attribute(Type, "i64")

    def validate_and_infer_types(self) -> None:
        common_type(self, (0, 1))
        check_index_type(self, "output_type")
        sequence, values = non_scalar_shape(self, 0), self.get_input_partial_shape(1)
        shape = values
        if sequence.has_rank and len(sequence) > 1:
            values = shape_of_rank(self, 1, len(sequence))
            if not values[:-1].compatible(sequence[:-1]):
                self.fail(f"sorted_sequence {sequence} must be a vector or have the rows of values {values}")
            shape = PartialShape([*sequence[:-1].merge(values[:-1]), values[-1]])
        self.set_output_type(0, self.output_type, shape)
