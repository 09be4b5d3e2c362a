"""Operations that order elements, or look up places in what is ordered."""

from __future__ import annotations

from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import check_scalar, check_scalar_or_one, check_type, common_type, is_number, normalize_axis
from hetero.ops.values import exact_value
from hetero.shape import Dimension, PartialShape
from hetero.types import Type

_INDEX_TYPES = (Type.i32, Type.i64)


def check_index_type(node: Op, name: str) -> None:
    """Raises GraphError where an attribute is neither i32 nor i64."""
    if getattr(node, name) not in _INDEX_TYPES:
        node.fail(f"{name} must be i32 or i64, but is {getattr(node, name)}")


class _TopK(Op):
    """The ``k`` largest (mode max) or smallest elements along ``axis`` and their indices; of equal ones the first.

    ``sort`` "value" gives the best first, "index" the order of the data; "none" promises no order.
    """

    inputs = ("data", "k")
    shape_inputs = (1,)
    output_size = 2
    axis = Attribute(int)
    mode = Attribute(choice("max", "min"))
    sort = Attribute(choice("none", "index", "value"))
    index_element_type = Attribute(Type, "i32")

    def validate_and_infer_types(self) -> None:
        check_type(self, [0], is_number, "numbers")
        check_type(self, [1], Type.is_integral, "an integer")
        check_scalar(self, 1)
        check_index_type(self, "index_element_type")
        shape = self.get_input_partial_shape(0)
        if shape.has_rank:
            axis = normalize_axis(self, self.axis, len(shape)) if len(shape) else self.fail("data is a scalar")
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
            self.fail(f"k must be one of 0 to {length}, the elements along the axis, but is {k}")
        return Dimension(int(k))


class TopK(_TopK, opset=11):
    __doc__ = _TopK.__doc__

    stable = Attribute(bool, False)


class TopKV3(_TopK, type_name="TopK", opset=3):
    """TopK that does not promise which of equal elements it takes."""


class TopKV1(_TopK, type_name="TopK", opset=1):
    """TopK whose factory in OpenVINO has no ``index_element_type``."""


class Unique(Op, opset=10):
    """The different elements, or with ``axis`` the different slices along it, sorted or in the order of the data.

    Outputs: they; the index at which each comes first; for each element of the data its place among them; their counts.
    """

    inputs = ("data", "axis?")
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
        all_of, values = data.element_count(), PartialShape.dynamic(1)
        if self.has_input("axis"):
            check_type(self, [1], Type.is_integral, "an integer")
            check_scalar_or_one(self, 1)
            all_of, values = Dimension(), PartialShape.dynamic(data.rank)
            axis = exact_value(self.input_value(1))
            if data.has_rank and not len(data):
                self.fail("it can have an axis only where data has dimensions, but that is a scalar")
            if axis is not None and data.has_rank:
                place = normalize_axis(self, int(axis.reshape(-1)[0]), len(data))
                all_of = data[place]
                values = PartialShape([*data[:place], _at_least_one(all_of), *data[place + 1 :]])
        else:
            values = PartialShape([_at_least_one(all_of)])
        found = PartialShape([_at_least_one(all_of)])
        self.set_output_type(0, self.get_input_element_type(0), values)
        self.set_output_type(1, self.index_element_type, found)
        self.set_output_type(2, self.index_element_type, [all_of])
        self.set_output_type(3, self.count_element_type, found)


def _at_least_one(count: Dimension) -> Dimension:
    """How many different ones there may be among so many."""
    return Dimension(min(count.min_length, 1), count.max_length)


class Bucketize(Op, opset=3):
    """For each element of the data the number of the bucket that it falls into; ``buckets`` are the sorted bounds.

    With a right bound a bucket holds the upper of its bounds, else the lower.
    """

    inputs = ("data", "buckets")
    output_type = Attribute(Type, "i64")
    with_right_bound = Attribute(bool, True)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), is_number, "numbers")
        check_index_type(self, "output_type")
        buckets = self.get_input_partial_shape(1)
        if buckets.has_rank and len(buckets) != 1:
            self.fail(f"buckets must have one dimension, but are {buckets}")
        self.set_output_type(0, self.output_type, self.get_input_partial_shape(0))


class SearchSorted(Op, opset=15):
    """Where each value would have to be inserted into the sorted sequence: before equal elements, or after them.

    The sequence is a vector, or has rows for the rows of the values.
    """

    inputs = ("sorted_sequence", "values")
    right_mode = Attribute(bool, False)
    output_type = Attribute(Type, "i64")

    def validate_and_infer_types(self) -> None:
        common_type(self, (0, 1))
        check_index_type(self, "output_type")
        sequence, values = self.get_input_partial_shape(0), self.get_input_partial_shape(1)
        shape = values
        if sequence.has_rank and not len(sequence):
            self.fail("sorted_sequence must have one or more dimensions, but is a scalar")
        if sequence.has_rank and len(sequence) > 1:
            if not values.has_rank:
                values = PartialShape.dynamic(len(sequence))
            if len(values) != len(sequence) or not values[:-1].compatible(sequence[:-1]):
                self.fail(f"sorted_sequence {sequence} must be a vector or have the rows of values {values}")
            shape = PartialShape([*sequence[:-1].merge(values[:-1]), values[-1]])
        self.set_output_type(0, self.output_type, shape)
