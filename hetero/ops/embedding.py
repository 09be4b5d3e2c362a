"""Embedding lookups combined over bags and segments, SegmentMax and SparseFillEmptyRows."""

from __future__ import annotations

from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import check_scalar, check_scalar_or_one, check_type, common_type, is_number, merge_dimensions
from hetero.ops.values import exact_value
from hetero.shape import Dimension, PartialShape, concatenate
from hetero.types import Type


class _Embedding(Op):
    """Base of operations that look up rows of ``emb_table`` by ``indices``, weight and combine them."""

    reduction = "sum"

    def check_inputs(self, vectors: tuple[int, ...]) -> PartialShape:
        """Return the shape of a row of the table. Raises GraphError if the shape of an input is invalid."""
        table = self.get_input_partial_shape(0)
        if table.has_rank and not len(table):
            self.fail("emb_table must have one or more dimensions, but is a scalar")
        for index in vectors:
            shape = self.get_input_partial_shape(index)
            if shape.has_rank and len(shape) != 1:
                self.fail(f"{self.input_names[index].strip('?')} must have one dimension, but has the shape {shape}")
        if self.has_input("per_sample_weights"):
            weights = self.get_input_partial_shape(self.input_index("per_sample_weights"))
            if not weights.compatible(self.get_input_partial_shape(1)):
                self.fail(f"per_sample_weights {weights} must have the shape of indices "
                          f"{self.get_input_partial_shape(1)}")  # fmt: skip
            if self.reduction != "sum":
                self.fail(f"per_sample_weights need the reduction sum, but it is {self.reduction}")
        return PartialShape(table[1:]) if table.has_rank else PartialShape.dynamic()

    def set_bags(self, bags: Dimension, row: PartialShape) -> None:
        floats = [0, self.input_index("per_sample_weights")] if self.has_input("per_sample_weights") else [0]
        shape = concatenate([bags], row) if row.has_rank else PartialShape.dynamic()
        self.set_output_type(0, common_type(self, floats), shape)


class _EmbeddingBagOffsets(_Embedding):
    input_names = ("emb_table", "indices", "offsets", "default_index?", "per_sample_weights?")

    def validate_and_infer_types(self) -> None:
        check_type(self, (1, 2), Type.is_integral, "integers")
        integers = (1, 2, 3) if self.has_input("default_index") else (1, 2)
        common_type(self, integers)
        if self.has_input("default_index"):
            check_scalar(self, 3)
        row = self.check_inputs((1, 2))
        offsets = self.get_input_partial_shape(2)
        self.set_bags(offsets[0] if offsets.has_rank else Dimension(), row)


class EmbeddingBagOffsets(_EmbeddingBagOffsets, opset=15):
    """The sum or mean of the rows of each bag: ``indices[offsets[i]:offsets[i + 1]]``.

    An empty bag gets the row ``default_index``, or zeros if that is missing or -1. The output is ``[bags, row…]``.
    """

    reduction = Attribute(choice("sum", "mean"), "sum")


class EmbeddingBagOffsetsSum(_EmbeddingBagOffsets, opset=3):
    """EmbeddingBagOffsets with reduction sum."""


class _EmbeddingBagPacked(_Embedding):
    input_names = ("emb_table", "indices", "per_sample_weights?")

    def validate_and_infer_types(self) -> None:
        check_type(self, [1], Type.is_integral, "integers")
        indices = self.get_input_partial_shape(1)
        if indices.has_rank and len(indices) != 2:
            self.fail(f"indices must have two dimensions, but are {indices}")
        row = self.check_inputs(())
        if self.has_input("per_sample_weights"):
            weights = self.get_input_partial_shape(2)
            if weights.has_rank and len(weights) != 2:
                self.fail(f"per_sample_weights must have two dimensions, but are {weights}")
            indices = indices.merge(weights)
        self.set_bags(indices[0] if indices.has_rank else Dimension(), row)


class EmbeddingBagPacked(_EmbeddingBagPacked, opset=15):
    """The sum or mean of the rows of each bag, where each row of ``indices [bags, count]`` is a bag."""

    reduction = Attribute(choice("sum", "mean"), "sum")


class EmbeddingBagPackedSum(_EmbeddingBagPacked, opset=3):
    """EmbeddingBagPacked with reduction sum."""


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
        check_type(self, integers, Type.is_integral, "integers")
        common_type(self, integers)
        for index in integers[2:]:
            check_scalar(self, index)
        row = self.check_inputs((1, 2))
        if not self.get_input_partial_shape(1).compatible(self.get_input_partial_shape(2)):
            self.fail("indices and segment_ids must have the same length")
        self.set_bags(segment_count(self, 3), row)


def segment_count(node: Op, index: int) -> Dimension:
    """Return the number of segments in an input, as far as it is known."""
    count = exact_value(node.input_value(index))
    if count is None:
        return Dimension()
    number = int(count.reshape(-1)[0])
    if number < 0:
        node.fail(f"num_segments must not be negative, but is {number}")
    return Dimension(number)


class SegmentMax(Op, opset=16):
    """The element-wise maximum of the rows of each segment; ``segment_ids`` must be sorted.

    Empty segments are filled with zeros or with the lowest number of the type. ``num_segments`` is by default the
    last segment id plus one.
    """

    input_names = ("data", "segment_ids", "num_segments?")
    shape_inputs = (2,)
    fill_mode = Attribute(choice("zero", "lowest"), None)

    def validate_and_infer_types(self) -> None:
        if self.fill_mode is None:
            self.fail("fill_mode must be zero or lowest")
        check_type(self, [0], is_number, "numbers")
        check_type(self, range(1, self.get_input_size()), Type.is_integral, "integers")
        data, ids = self.get_input_partial_shape(0), self.get_input_partial_shape(1)
        if data.has_rank and not len(data):
            self.fail("data must have one or more dimensions, but is a scalar")
        if ids.has_rank and len(ids) != 1:
            self.fail(f"segment_ids must have one dimension, but has the shape {ids}")
        if data.has_rank and ids.has_rank:
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
    """

    input_names = ("values", "dense_shape", "indices", "default_value")
    shape_inputs = (1,)
    output_size = 3

    def validate_and_infer_types(self) -> None:
        element_type = common_type(self, (0, 3))
        check_type(self, (1, 2), Type.is_integral, "integers")
        index_type = common_type(self, (1, 2))
        values, dense, indices, default = (self.get_input_partial_shape(index) for index in range(4))
        if values.has_rank and len(values) != 1:
            self.fail(f"values must have one dimension, but have the shape {values}")
        if not dense.compatible([2]):
            self.fail(f"dense_shape must have two elements, but has the shape {dense}")
        if not indices.compatible([-1, 2]):
            self.fail(f"indices must have the shape [?,2], but have {indices}")
        if not default.compatible([]):
            self.fail(f"default_value must be a scalar, but has the shape {default}")
        if values.has_rank and indices.has_rank:
            merge_dimensions(self, (values[0], indices[0]), "values and indices")
        shape = exact_value(self.input_value(1))
        rows = Dimension() if shape is None else Dimension(int(shape.reshape(-1)[0]))
        self.set_output_type(0, index_type, [Dimension(), 2])
        self.set_output_type(1, element_type, [Dimension()])
        self.set_output_type(2, Type.boolean, [rows])
