"""Embedding lookups combined over bags and segments, SegmentMax and SparseFillEmptyRows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, Constant, Op, Output, choice
from hetero.ops.checks import (
    check_scalar,
    check_scalar_or_one,
    check_type,
    common_type,
    exact_length,
    exact_number,
    exact_value,
    is_number,
    merge_dimensions,
    non_scalar_shape,
    shape_of_rank,
)


class _Embedding(Op):
    """Base of operations that look up rows of ``emb_table`` by ``indices``, weight and combine them.

    - ``per_sample_weights``: the factor of each looked-up row; 1 by default.
    - ``default_index``: an integer scalar, the row of an empty bag.
    - ``offsets``: ``[bags]``, the position in ``indices`` where each bag starts.
    - ``num_segments``: an integer scalar, the number of segments.
    """

    reduction = "sum"

    def check_inputs(self, vectors: tuple[int, ...]) -> PartialShape:
        """Return the shape of a row of the table. Raises GraphError if the shape of an input is invalid."""
        table = non_scalar_shape(self, 0)
        for index in vectors:
            shape_of_rank(self, index, 1)
        if self.has_input("per_sample_weights"):
            weights = self.get_input_partial_shape(self.input_index("per_sample_weights"))
            if not weights.compatible(self.get_input_partial_shape(1)):
                self.fail(f"per_sample_weights {weights} must have the shape of indices "
                          f"{self.get_input_partial_shape(1)}")  # fmt: skip
            if self.reduction != "sum":
                self.fail(f"per_sample_weights need the reduction sum, but it is {self.reduction}")
        return table[1:] if table.has_rank else table

    def set_bags(self, bags: Dimension, row: PartialShape) -> None:
        floats = [0, self.input_index("per_sample_weights")] if self.has_input("per_sample_weights") else [0]
        shape = concatenate([bags], row) if row.has_rank else PartialShape.dynamic()
        self.set_output_type(0, common_type(self, floats), shape)


class EmbeddingBagOffsetsSum(_Embedding, opset=3):
    """EmbeddingBagOffsets with reduction sum."""

    input_names = ("emb_table", "indices", "offsets", "default_index?", "per_sample_weights?")

    def validate_and_infer_types(self) -> None:
        check_type(self, (1, 2), Type.is_integer, "integers")
        integers = (1, 2, 3) if self.has_input("default_index") else (1, 2)
        common_type(self, integers)
        if self.has_input("default_index"):
            check_scalar(self, 3)
        row = self.check_inputs((1, 2))
        self.set_bags(shape_of_rank(self, 2, 1)[0], row)


class EmbeddingBagOffsets(EmbeddingBagOffsetsSum, opset=15):
    """The sum or mean of the rows of each bag: ``indices[offsets[i]:offsets[i + 1]]``.

    An empty bag gets the row ``default_index``, or zeros if that is missing or -1. The output is ``[bags, row…]``.

    - ``reduction``: sum or mean.
    """

    reduction = Attribute(choice("sum", "mean"), "sum")

    @classmethod
    def inputs_before(cls, name: str, given: Sequence[Output]) -> list[Output]:
        """Return -1 as the default index of weighted bags, as OpenVINO's factory does."""
        return [Constant(np.array(-1, given[1].element_type.to_dtype())).output(0)]


class EmbeddingBagPackedSum(_Embedding, opset=3):
    """EmbeddingBagPacked with reduction sum."""

    input_names = ("emb_table", "indices", "per_sample_weights?")

    def validate_and_infer_types(self) -> None:
        check_type(self, [1], Type.is_integer, "integers")
        indices = shape_of_rank(self, 1, 2)
        row = self.check_inputs(())
        if self.has_input("per_sample_weights"):
            indices = indices.merge(shape_of_rank(self, 2, 2))
        self.set_bags(indices[0], row)


class EmbeddingBagPacked(EmbeddingBagPackedSum, opset=15):
    """The sum or mean of the rows of each bag, where each row of ``indices [bags, count]`` is a bag.

    - ``reduction``: sum or mean.
    """

    reduction = Attribute(choice("sum", "mean"), "sum")


class EmbeddingSegmentsSum(_Embedding, opset=3):
    """The sum of the rows of each segment; ``segment_ids`` has the segment of each index.

    An empty segment gets the row ``default_index``, or zeros if that is missing or -1.
    """

    input_names = ("emb_table", "indices", "segment_ids", "num_segments?", "default_index?", "per_sample_weights?")
    shape_inputs = (3,)

    def validate_and_infer_types(self) -> None:
        if not self.has_input("num_segments"):
            self.fail("num_segments must be given")  # optional only in the signature of OpenVINO's factory
        integers = (1, 2, 3, 4) if self.has_input("default_index") else (1, 2, 3)
        check_type(self, integers, Type.is_integer, "integers")
        common_type(self, integers)
        for index in integers[2:]:
            check_scalar(self, index)
        row = self.check_inputs((1, 2))
        if not self.get_input_partial_shape(1).compatible(self.get_input_partial_shape(2)):
            self.fail("indices and segment_ids must have the same length")
        self.set_bags(segment_count(self, 3), row)


def segment_count(node: Op, index: int) -> Dimension:
    """Return the number of segments in an input, as far as it is known."""
    count = exact_number(node.input_value(index))
    if count is not None and count < 0:
        node.fail(f"num_segments must not be negative, but is {count}")
    return exact_length(node.input_value(index))


class SegmentMax(Op, opset=16):
    """The element-wise maximum of the rows of each segment; ``segment_ids`` must be sorted.

    Empty segments are filled with zeros or with the lowest number of the type. ``num_segments`` is by default the
    last segment id plus one.

    - ``fill_mode``: whether an empty segment is filled with zeros or with the lowest number.
    """

    input_names = ("data", "segment_ids", "num_segments?")
    shape_inputs = (2,)
    fill_mode = Attribute(choice("zero", "lowest"), None)

    def validate_and_infer_types(self) -> None:
        if self.fill_mode is None:
            self.fail("fill_mode must be zero or lowest")
        check_type(self, [0], is_number, "numbers")
        check_type(self, range(1, self.get_input_size()), Type.is_integer, "integers")
        data, ids = non_scalar_shape(self, 0), shape_of_rank(self, 1, 1)
        if data.has_rank:
            merge_dimensions(self, (data[0], ids[0]), "rows of data and segment_ids")
        self._check_order()
        shape = concatenate([self._segments()], data[1:]) if data.has_rank else PartialShape.dynamic()
        self.set_output_type(0, self.get_input_element_type(0), shape)

    def _check_order(self) -> None:
        ids = exact_value(self.input_value(1))
        if ids is not None and (ids[1:] < ids[:-1]).any():
            self.fail("segment_ids must be sorted")

    def _segments(self) -> Dimension:
        if self.has_input("num_segments"):
            check_scalar_or_one(self, 2)
            return segment_count(self, 2)
        ids = exact_value(self.input_value(1))
        return Dimension() if ids is None or not ids.size else Dimension(int(ids[-1]) + 1)


class SparseFillEmptyRows(Op, opset=16):
    """A sparse matrix with ``default_value`` added in column 0 of each empty row.

    Outputs: the indices ``[count, 2]`` and the values ``[count]``, sorted by row; whether each row was empty.

    - ``dense_shape``: ``[2]``, the shape of the matrix.
    """

    input_names = ("values", "dense_shape", "indices", "default_value")
    shape_inputs = (1,)
    output_size = 3

    def validate_and_infer_types(self) -> None:
        element_type = common_type(self, (0, 3))
        check_type(self, (1, 2), Type.is_integer, "integers")
        index_type = common_type(self, (1, 2))
        (count,) = shape_of_rank(self, 0, 1)
        dense, indices = self.get_input_partial_shape(1), shape_of_rank(self, 2, 2)
        if not dense.compatible([2]):
            self.fail(f"dense_shape must have two elements, but has the shape {dense}")
        if not indices[1].compatible(2):
            self.fail(f"indices must have the shape [?,2], but have {indices}")
        check_scalar(self, 3)
        merge_dimensions(self, (count, indices[0]), "values and indices")
        self.set_output_type(0, index_type, [Dimension(), 2])
        self.set_output_type(1, element_type, [Dimension()])
        self.set_output_type(2, Type.boolean, [exact_length(self.input_value(1))])
