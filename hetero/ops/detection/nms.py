"""Non-maximum suppression (NMS) of boxes common to all classes: of overlapping boxes only the best is selected."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import (
    check_index_type,
    check_scalar,
    check_scalar_or_one,
    check_type,
    is_computed_real,
    merge_dimensions,
    shape_of_rank,
)
from hetero.ops.values import exact_number


def minimum_length(a: Dimension, b: Dimension) -> Dimension:
    """Return the possible lengths of the minimum of two lengths."""
    bounds = [d.max_length for d in (a, b) if d.max_length != -1]
    return Dimension.interval(min(a.min_length, b.min_length), min(bounds, default=None))


class BoxSuppression(Op):
    """Base of suppressions with boxes ``[batches, boxes, numbers]`` and scores ``[batches, classes, boxes]``.

    - ``max_output_boxes_per_class``: an integer scalar, the number of best boxes of a class that are selected.
    - ``iou_threshold``: a scalar, the IoU with a selected box above which a box is dropped.
    - ``score_threshold``: a scalar; only boxes with a higher score are selected.
    - ``box_encoding``: corner for y1, x1, y2, x2; center for the center's x and y, width and height.
    - ``sort_result_descending``: whether boxes are sorted by score over all classes and batches.
    - ``output_type``: i32 or i64, the element type of the indices.
    """

    shape_inputs: tuple[int, ...] = (2,)
    box_numbers = 4
    output_type: Any

    def batches_classes_boxes(self) -> tuple[Dimension, Dimension, Dimension]:
        """Return the numbers of batches, classes and boxes. Raises GraphError if boxes and scores are inconsistent."""
        boxes = shape_of_rank(self, 0, 3)
        scores = shape_of_rank(self, 1, 3)
        if not boxes[2].compatible(self.box_numbers):
            self.fail(f"boxes must have {self.box_numbers} numbers each, but have the shape {boxes}")
        batches = merge_dimensions(self, (boxes[0], scores[0]), "the batches of boxes and scores")
        count = merge_dimensions(self, (boxes[1], scores[2]), "the numbers of boxes and scores")
        return batches, scores[1], count

    def max_per_class(self, boxes: Dimension) -> Dimension:
        """Return the maximum number of selected boxes per class."""
        limit = exact_number(self.input_value(2)) if self.get_input_size() > 2 else 0
        return Dimension(0, boxes.max_length) if limit is None else minimum_length(boxes, Dimension(max(0, limit)))


class _WithDefaults(BoxSuppression):
    """Base of suppressions with optional limits and thresholds; as in OpenVINO, Constants replace missing ones."""

    input_names: tuple[str, ...] = (
        "boxes",
        "scores",
        "max_output_boxes_per_class?",
        "iou_threshold?",
        "score_threshold?",
    )
    defaults: ClassVar[dict[str, Any]] = {
        "max_output_boxes_per_class": np.array(0, np.int64),
        "iou_threshold": np.array(0, np.float32),
        "score_threshold": np.array(0, np.float32),
    }
    box_encoding = Attribute(choice("corner", "center"), "corner")
    sort_result_descending = Attribute(bool, True)

    @classmethod
    def bind(cls, *arguments: Any, **keywords: Any) -> dict[str, Any]:
        bound = super().bind(*arguments, **keywords)
        return {name: cls.defaults.get(name) if value is None else value for name, value in bound.items()}


class NonMaxSuppression(_WithDefaults, opset=9):
    """Non-maximum suppression per class, by descending score.

    Boxes whose IoU with a selected box is above ``iou_threshold`` are dropped; with ``soft_nms_sigma``, the scores of
    overlapping boxes are multiplied by ``exp(-IoU² / 2 sigma)`` instead. Outputs: batch, class and index of each
    selected box ``[boxes, 3]``; batch, class and score of each, f32 ``[boxes, 3]``; the number of boxes ``[1]``.
    """

    input_names = (*_WithDefaults.input_names, "soft_nms_sigma?")
    defaults: ClassVar[dict[str, Any]] = _WithDefaults.defaults | {"soft_nms_sigma": np.array(0, np.float32)}
    output_size = 3
    output_type = Attribute(Type, "i64")

    def validate_and_infer_types(self) -> None:
        check_index_type(self, "output_type")
        check_type(self, (0, 1, *range(3, self.get_input_size())), is_computed_real, "f32, f16 or bf16")
        for index in range(2, self.get_input_size()):
            check_scalar_or_one(self, index)
        set_selection_types(self)


class NonMaxSuppressionV5(NonMaxSuppression, type_name="NonMaxSuppression", opset=5):
    """NonMaxSuppression without a default Constant for ``soft_nms_sigma``."""

    defaults: ClassVar[dict[str, Any]] = _WithDefaults.defaults


def set_selection_types(node: BoxSuppression) -> None:
    """Set the output types and shapes of a suppression: selected indices, selected scores, and their number."""
    batches, classes, boxes = node.batches_classes_boxes()
    count = node.max_per_class(boxes) * batches * classes
    selected = PartialShape([Dimension(0, count.max_length), 3])
    node.set_output_type(0, node.output_type, selected)
    node.set_output_type(1, Type.f32, selected)
    node.set_output_type(2, node.output_type, [1])


class NonMaxSuppressionV4(_WithDefaults, type_name="NonMaxSuppression", opset=4):
    """NonMaxSuppression with the maximum number of rows; unused rows are -1. Only the indices are output."""

    output_type = Attribute(Type, "i64")

    def validate_and_infer_types(self) -> None:
        check_index_type(self, "output_type")
        for index in range(2, self.get_input_size()):
            check_scalar(self, index)
        batches, classes, boxes = self.batches_classes_boxes()
        rows = self.max_per_class(boxes) * classes
        self.set_output_type(0, self.output_type, [self.rows_of_batches(rows, batches), 3])

    def rows_of_batches(self, rows: Dimension, batches: Dimension) -> Dimension:
        return rows * batches


class NonMaxSuppressionV3(NonMaxSuppressionV4, type_name="NonMaxSuppression", opset=3):
    """NonMaxSuppression with the maximum number of rows of one batch, for any number of batches."""

    def rows_of_batches(self, rows: Dimension, batches: Dimension) -> Dimension:
        return rows


class NonMaxSuppressionV1(_WithDefaults, type_name="NonMaxSuppression", opset=1):
    """NonMaxSuppression-3 with i64 indices."""

    validate_and_infer_types = NonMaxSuppressionV3.validate_and_infer_types
    rows_of_batches = NonMaxSuppressionV3.rows_of_batches
    output_type = Type.i64


class NMSRotated(BoxSuppression, opset=13):
    """NonMaxSuppression of rotated boxes: x and y of the center, width, height and an angle in radians.

    Angles are clockwise if ``clockwise`` is set, with y pointing down.
    """

    input_names = ("boxes", "scores", "max_output_boxes_per_class", "iou_threshold", "score_threshold")
    box_numbers = 5
    output_size = 3
    sort_result_descending = Attribute(bool, True)
    output_type = Attribute(Type, "i64")
    clockwise = Attribute(bool, True)

    def validate_and_infer_types(self) -> None:
        check_index_type(self, "output_type")
        check_type(self, (0, 1, 3, 4), Type.is_real, "a floating-point type")
        check_type(self, [2], Type.is_integer, "an integer")
        for index in (2, 3, 4):
            check_scalar_or_one(self, index)
        set_selection_types(self)
