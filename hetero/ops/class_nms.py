"""Suppressions of boxes whose outputs are the boxes themselves: MatrixNms and MulticlassNms."""

from __future__ import annotations

from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import check_type, common_type, merge_dimensions
from hetero.ops.nms import dimensions_of, is_computed_real, least
from hetero.ops.sorting import check_index_type
from hetero.shape import Dimension
from hetero.types import Type

sort_result_choice = choice("none", "classid", "score")


class _ClassSuppression(Op):
    """What both share: boxes ``[batches, boxes, 4]`` and scores ``[batches, classes, boxes]``.

    Of each class at most ``nms_top_k`` boxes are looked at, of each batch at most ``keep_top_k`` are kept; -1 stands
    for all. No box of ``background_class`` is kept. Corners are x1, y1, x2, y2, and belong to the box unless they are
    ``normalized``.
    """

    output_size = 3

    def validate_and_infer_types(self) -> None:
        check_index_type(self, "output_type")
        check_type(self, (0, 1), is_computed_real, "f32, f16 or bf16")
        element_type = common_type(self, (0, 1))
        for name in ("nms_top_k", "keep_top_k", "background_class"):
            if getattr(self, name) < -1:
                self.fail(f"{name} must be -1 or larger, but is {getattr(self, name)}")
        batches, classes, boxes = self.counts()
        most = classes * (boxes if self.nms_top_k == -1 else least(boxes, Dimension(self.nms_top_k)))
        most = most if self.keep_top_k == -1 else least(most, Dimension(self.keep_top_k))
        kept = Dimension(0, (most * batches).max_length)
        self.set_output_type(0, element_type, [kept, 6])
        self.set_output_type(1, self.output_type, [kept, 1])
        self.set_output_type(2, self.output_type, [batches])

    def counts(self) -> tuple[Dimension, Dimension, Dimension]:
        """The numbers of batches, classes and boxes. Raises GraphError where boxes and scores do not fit."""
        boxes = dimensions_of(self, 0, 3, name="boxes")
        scores = dimensions_of(self, 1, 3, name="scores")
        if not boxes[2].compatible(4):
            self.fail(f"boxes must have 4 numbers each, but have the shape {boxes}")
        batches = merge_dimensions(self, (boxes[0], scores[0]), "the batches of boxes and scores")
        return batches, scores[1], merge_dimensions(self, (boxes[1], scores[2]), "the numbers of boxes and scores")


class MatrixNms(_ClassSuppression, opset=8):
    """Scores are made smaller by the overlap with better boxes of the class, all at once; then the best are kept.

    Outputs and attributes are those of MulticlassNms.
    """

    inputs = ("boxes", "scores")
    sort_result_type = Attribute(sort_result_choice, "none")
    sort_result_across_batch = Attribute(bool, False)
    output_type = Attribute(Type, "i64")
    score_threshold = Attribute(float, 0.0)
    nms_top_k = Attribute(int, -1)
    keep_top_k = Attribute(int, -1)
    background_class = Attribute(int, -1)
    decay_function = Attribute(choice("gaussian", "linear"), "linear")
    gaussian_sigma = Attribute(float, 2.0)
    post_threshold = Attribute(float, 0.0)
    normalized = Attribute(bool, True)


class MulticlassNms(_ClassSuppression, opset=9):
    """Of boxes of a class that overlap only the best is kept.

    Outputs: class, score and corners of each box kept; its index in all boxes; the number kept of each batch. With
    ``roisnum`` each class has boxes ``[classes, boxes, 4]`` and scores ``[classes, boxes]`` of its own, those of all
    batches one behind the other, and it tells how many each batch has.
    """

    inputs = ("boxes", "scores", "roisnum?")
    sort_result_type = Attribute(sort_result_choice, "none")
    sort_result_across_batch = Attribute(bool, False)
    output_type = Attribute(Type, "i64")
    iou_threshold = Attribute(float, 0.0)
    score_threshold = Attribute(float, 0.0)
    nms_top_k = Attribute(int, -1)
    keep_top_k = Attribute(int, -1)
    background_class = Attribute(int, -1)
    nms_eta = Attribute(float, 1.0)
    normalized = Attribute(bool, True)

    def counts(self) -> tuple[Dimension, Dimension, Dimension]:
        if not 0 <= self.nms_eta <= 1:
            self.fail(f"nms_eta must be between 0 and 1, but is {self.nms_eta}")
        if self.get_input_size() < 3:
            return super().counts()
        check_type(self, [2], (Type.i32, Type.i64).__contains__, "i32 or i64")
        boxes = dimensions_of(self, 0, 3, name="boxes")
        scores = dimensions_of(self, 1, 2, name="scores")
        rois = dimensions_of(self, 2, 1, name="roisnum")
        if not boxes[2].compatible(4):
            self.fail(f"boxes must have 4 numbers each, but have the shape {boxes}")
        classes = merge_dimensions(self, (boxes[0], scores[0]), "the classes of boxes and scores")
        return rois[0], classes, merge_dimensions(self, (boxes[1], scores[1]), "the numbers of boxes and scores")


class MulticlassNmsV8(MulticlassNms, type_name="MulticlassNms", opset=8):
    """MulticlassNms of boxes that all classes share."""

    inputs = ("boxes", "scores")
