"""Non-maximum suppression that outputs the selected boxes themselves: MatrixNms and MulticlassNms."""

from __future__ import annotations

from typing import Any

from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.graph import Attribute, choice
from hetero.ops.checks import (
    check_index_type,
    check_type,
    common_type,
    is_computed_real,
    is_index,
    merge_dimensions,
    shape_of_rank,
)
from hetero.ops.detection.nms import BoxSuppression, minimum_length


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
