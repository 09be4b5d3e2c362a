"""Non-maximum suppression (NMS): of overlapping boxes only the one with the highest score stays."""

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
    common_type,
    exact_number,
    is_computed_real,
    is_index,
    merge_dimensions,
    shape_of_rank,
)


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


class _ClassSuppression(BoxSuppression):
    """Base of suppressions per class: boxes ``[batches, boxes, 4]`` and scores ``[batches, classes, boxes]``.

    At most ``nms_top_k`` boxes per class are considered, and at most ``keep_top_k`` per batch are selected; -1 means
    all. Boxes of ``background_class`` are never selected. Corners are x1, y1, x2, y2; x2 and y2 are inside the box
    unless ``normalized`` is set. Outputs: class, score and corners of each selected box ``[selected, 6]``, its index in
    all boxes ``[selected, 1]``, the number of selected boxes per batch ``[batches]``.

    - ``sort_result_type``: the order of the selected boxes: by class, by score, or any.
    - ``sort_result_across_batch``: whether that is the order of all boxes, instead of those of each batch.
    - ``output_type``: i32 or i64, the element type of the indices and numbers.
    - ``score_threshold``: the least score of a box.
    """

    output_size = 3
    shape_inputs = ()
    sort_result_type = Attribute(choice("none", "classid", "score"), "none")
    sort_result_across_batch = Attribute(bool, False)
    output_type = Attribute(Type, "i64")
    nms_top_k: Any
    keep_top_k: Any

    def validate_and_infer_types(self) -> None:
        check_index_type(self, "output_type")
        check_type(self, (0, 1), is_computed_real, "f32, f16 or bf16")
        element_type = common_type(self, (0, 1))
        for name in ("nms_top_k", "keep_top_k", "background_class"):
            if getattr(self, name) < -1:
                self.fail(f"{name} must be -1 or larger, but is {getattr(self, name)}")
        batches, classes, boxes = self.batches_classes_boxes()
        per_batch = classes * (boxes if self.nms_top_k == -1 else minimum_length(boxes, Dimension(self.nms_top_k)))
        per_batch = per_batch if self.keep_top_k == -1 else minimum_length(per_batch, Dimension(self.keep_top_k))
        selected = Dimension(0, (per_batch * batches).max_length)
        self.set_output_type(0, element_type, [selected, 6])
        self.set_output_type(1, self.output_type, [selected, 1])
        self.set_output_type(2, self.output_type, [batches])


class MatrixNms(_ClassSuppression, opset=8):
    """Parallel soft NMS: the score of each box decays with its overlaps with better boxes of its class.

    - ``decay_function``: gaussian decays by ``exp(gaussian_sigma · (m² - IoU²))``, linear by ``(1 - IoU) / (1 - m)``,
      where m is the largest overlap of the better box with one that is better still.
    - ``gaussian_sigma``: the factor in the exponent.
    - ``post_threshold``: the score that a box needs after the decay.
    """

    input_names = ("boxes", "scores")
    score_threshold = Attribute(float, 0.0)
    nms_top_k = Attribute(int, -1)
    keep_top_k = Attribute(int, -1)
    background_class = Attribute(int, -1)
    decay_function = Attribute(choice("gaussian", "linear"), "linear")
    gaussian_sigma = Attribute(float, 2.0)
    post_threshold = Attribute(float, 0.0)
    normalized = Attribute(bool, True)


class MulticlassNms(_ClassSuppression, opset=9):
    """NMS per class by IoU. If ``nms_eta`` < 1, each selected box multiplies an IoU threshold above 0.5 by it.

    With ``roisnum`` each class has its own boxes ``[classes, boxes, 4]`` and scores ``[classes, boxes]``. They are
    concatenated over the batches, and ``roisnum`` has the number of boxes in each batch.

    - ``iou_threshold``: the IoU with a better box of its class above which a box is dropped.
    """

    input_names: tuple[str, ...] = ("boxes", "scores", "roisnum?")
    iou_threshold = Attribute(float, 0.0)
    score_threshold = Attribute(float, 0.0)
    nms_top_k = Attribute(int, -1)
    keep_top_k = Attribute(int, -1)
    background_class = Attribute(int, -1)
    nms_eta = Attribute(float, 1.0)
    normalized = Attribute(bool, True)

    def batches_classes_boxes(self) -> tuple[Dimension, Dimension, Dimension]:
        if not 0 <= self.nms_eta <= 1:
            self.fail(f"nms_eta must be between 0 and 1, but is {self.nms_eta}")
        if self.get_input_size() < 3:
            return super().batches_classes_boxes()
        check_type(self, [2], is_index, "i32 or i64")
        boxes = shape_of_rank(self, 0, 3)
        scores = shape_of_rank(self, 1, 2)
        rois = shape_of_rank(self, 2, 1)
        if not boxes[2].compatible(4):
            self.fail(f"boxes must have 4 numbers each, but have the shape {boxes}")
        classes = merge_dimensions(self, (boxes[0], scores[0]), "the classes of boxes and scores")
        return rois[0], classes, merge_dimensions(self, (boxes[1], scores[1]), "the numbers of boxes and scores")


class MulticlassNmsV8(MulticlassNms, type_name="MulticlassNms", opset=8):
    """MulticlassNms without ``roisnum``: all classes have the same boxes."""

    input_names = ("boxes", "scores")
