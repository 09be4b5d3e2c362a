"""Region proposals of two-stage detectors: Proposal, GenerateProposals and the operations of Detectron."""

from __future__ import annotations

import numpy as np

from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.graph import Attribute, Op, floats, integers
from hetero.ops.checks import check_index_type, check_type, common_type, input_name, merge_dimensions, shape_of_rank

# Limit of the logarithmic size offsets.
LARGEST_GROWTH = np.float32(np.log(1000 / 16))


class Proposal(Op, opset=4):
    """The best boxes of each image: image index and corners, ``[images * post_nms_topn, 5]``, and their scores.

    Inputs: scores ``[images, 2 * anchors, height, width]``, whose second half is for objects; offsets ``[images,
    4 * anchors, height, width]``; the image's height, width and one or two scales. The anchors are boxes of all ratios
    and scales around each cell. Unused rows are 0; the first of them has the image index -1.

    - ``class_probs``: the scores.
    - ``bbox_deltas``: the offsets.
    - ``image_shape``: height, width and scales of the image.
    - ``base_size``: the side of the square from which the anchors are made.
    - ``pre_nms_topn``: the number of best boxes of an image before the suppression.
    - ``nms_thresh``: the IoU with a better box above which a box is dropped.
    - ``feat_stride``: the distance of cells in pixels.
    - ``min_size``: the smallest width and height of a box, times the scale of the image.
    - ``ratio``, ``scale``: the aspect ratios and the factors of the anchors.
    - ``clip_before_nms``, ``clip_after_nms``: whether boxes are clipped to the image before and after the suppression.
    - ``normalize``: whether boxes are output as fractions of the image.
    - ``box_size_scale``, ``box_coordinate_scale``: the numbers by which the offsets of sizes and of centers are
      divided.
    - ``framework``: "tensorflow" for its order of coordinates and its anchors.
    """

    input_names = ("class_probs", "bbox_deltas", "image_shape")
    attributes_in = "attrs"
    output_size = 2
    base_size = Attribute(int)
    pre_nms_topn = Attribute(int)
    post_nms_topn = Attribute(int)
    nms_thresh = Attribute(float)
    feat_stride = Attribute(int)
    min_size = Attribute(int)
    ratio = Attribute(floats)
    scale = Attribute(floats)
    clip_before_nms = Attribute(bool, True)
    clip_after_nms = Attribute(bool, False)
    normalize = Attribute(bool, False)
    box_size_scale = Attribute(float, 1.0)
    box_coordinate_scale = Attribute(float, 1.0)
    framework = Attribute(str, "")

    @property
    def is_tensorflow(self) -> bool:
        """Whether boxes follow TensorFlow: their far corner is outside of the box, and x is the row."""
        return self.framework == "tensorflow"

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1, 2), Type.is_real, "a floating-point type")
        scores = shape_of_rank(self, 0, 4)
        offsets = shape_of_rank(self, 1, 4)
        image = shape_of_rank(self, 2, 1)
        if not image[0].compatible(3) and not image[0].compatible(4):
            self.fail(f"image_shape must have 3 or 4 numbers, but has {image[0]}")
        if not offsets[1].compatible(scores[1] * 2):
            self.fail(f"there must be 4 offsets for each 2 scores, but are {offsets[1]} for {scores[1]}")
        images = merge_dimensions(self, (scores[0], offsets[0]), "the images of scores and offsets")
        merge_dimensions(self, (scores[2], offsets[2]), "the rows of scores and offsets")
        merge_dimensions(self, (scores[3], offsets[3]), "the columns of scores and offsets")
        rows = images * self.post_nms_topn if images.is_static else Dimension()
        self.set_output_type(0, self.get_input_element_type(0), [rows, 5])
        if self.output_size == 2:
            self.set_output_type(1, self.get_input_element_type(0), [rows])


class ProposalV1(Proposal, type_name="Proposal", opset=1):
    """Proposal without the scores."""

    output_size = 1


def anchors_of_cells(node: Proposal, height: int, width: int) -> np.ndarray:
    """Return the anchors of all cells ``[height, width, ratios * scales, 4]``."""
    border, ratios = 0 if node.is_tensorflow else 1, np.array(node.ratio, np.float32)
    widths = np.sqrt(np.float32(node.base_size**2) / ratios)
    heights = widths * ratios
    if not node.is_tensorflow:
        widths = np.floor(widths + np.float32(0.5))
        heights = np.floor(widths * ratios + np.float32(0.5))
    sides = (np.stack([widths, heights], axis=-1)[:, None] * np.array(node.scale, np.float32)[:, None]).reshape(-1, 2)
    center = 0 if node.is_tensorflow else (node.base_size - 1) / 2
    half = (sides - border) / 2
    base_anchors = np.concatenate([center - half, center + half], axis=-1)
    y, x = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    cells = np.stack([y, x, y, x] if node.is_tensorflow else [x, y, x, y], axis=-1) * node.feat_stride
    return (cells[:, :, None] + base_anchors).astype(np.float32)


class GenerateProposals(Op, opset=9):
    """The best boxes of all images ``[boxes, 4]``, their scores ``[boxes]``, and their number per image ``[images]``.

    Inputs: height, width and scales of each image ``[images, 3 or 4]``, the anchors ``[height, width, anchors, 4]``,
    offsets ``[images, 4 * anchors, height, width]`` and scores ``[images, anchors, height, width]``.

    - ``im_info``: ``[images, 3 or 4]``, height, width and scales.
    - ``deltas``: the offsets.
    - ``min_size``: the smallest width and height of a box, times the scale of the image.
    - ``nms_threshold``: the IoU with a better box above which a box is dropped.
    - ``pre_nms_count``, ``post_nms_count``: the number of best boxes of an image before and after the suppression.
    - ``normalized``: whether the far corners of boxes are outside of them; else they are their last pixels.
    - ``nms_eta``: a number less than 1 multiplies a threshold above 0.5 after each selected box.
    - ``roi_num_type``: i32 or i64, the element type of the third output.
    """

    input_names = ("im_info", "anchors", "deltas", "scores")
    output_size = 3
    min_size = Attribute(float)
    nms_threshold = Attribute(float)
    pre_nms_count = Attribute(int)
    post_nms_count = Attribute(int)
    normalized = Attribute(bool, True)
    nms_eta = Attribute(float, 1.0)
    roi_num_type = Attribute(Type, "i64")

    def validate_and_infer_types(self) -> None:
        check_index_type(self, "roi_num_type")
        check_type(self, range(4), Type.is_real, "a floating-point type")
        common_type(self, range(4))
        if self.pre_nms_count < 1 or self.post_nms_count < 1:
            self.fail(f"pre_nms_count {self.pre_nms_count} and post_nms_count {self.post_nms_count} must be positive")
        image = shape_of_rank(self, 0, 2)
        anchors = shape_of_rank(self, 1, 4)
        offsets = shape_of_rank(self, 2, 4)
        scores = shape_of_rank(self, 3, 4)
        if not image[1].compatible(3) and not image[1].compatible(4):
            self.fail(f"im_info must have 3 or 4 numbers for an image, but has {image[1]}")
        if not anchors[3].compatible(4) or not anchors[2].compatible(scores[1]):
            self.fail(f"anchors {anchors} must have 4 numbers each, and one for each of {scores[1]} scores of a cell")
        if not offsets[1].compatible(scores[1] * 4):
            self.fail(f"there must be 4 offsets for each score, but are {offsets[1]} for {scores[1]}")
        merge_dimensions(self, (anchors[0], offsets[2], scores[2]), "the rows of anchors, offsets and scores")
        merge_dimensions(self, (anchors[1], offsets[3], scores[3]), "the columns of anchors, offsets and scores")
        images = merge_dimensions(self, (image[0], offsets[0], scores[0]), "the images of all inputs")
        rows = Dimension(0, (images * self.post_nms_count).max_length)
        self.set_output_type(0, self.get_input_element_type(0), [rows, 4])
        self.set_output_type(1, self.get_input_element_type(0), [rows])
        self.set_output_type(2, self.roi_num_type, [images])


class _Detectron(Op):
    """Base of Detectron operations: all inputs have one floating-point type."""

    def check_types(self) -> Type:
        check_type(self, range(self.get_input_size()), Type.is_real, "a floating-point type")
        return common_type(self, range(self.get_input_size()))

    def check_boxes(self, index: int) -> Dimension:
        """Return the number of boxes of an input ``[boxes, 4]``."""
        shape = shape_of_rank(self, index, 2)
        if not shape[1].compatible(4):
            self.fail(f"{input_name(self, index)} must have 4 numbers each, but the shape is {shape}")
        return shape[0]


class ExperimentalDetectronPriorGridGenerator(_Detectron, opset=6):
    """The priors ``[priors, 4]`` moved to the center of each cell of a grid: ``[height, width, priors, 4]``.

    With ``flatten`` the output is ``[height * width * priors, 4]``. Grid size ``h``, ``w`` and cell distance
    ``stride_x``, ``stride_y`` default to those of the feature map in the image, both ``[1, channels, height, width]``.

    - ``feature_map``, ``im_data``: only their shapes are used.
    """

    input_names = ("priors", "feature_map", "im_data")
    flatten = Attribute(bool, True)
    h = Attribute(int, 0)
    w = Attribute(int, 0)
    stride_x = Attribute(float, 0.0)
    stride_y = Attribute(float, 0.0)

    def validate_and_infer_types(self) -> None:
        if self.h < 0 or self.w < 0:
            self.fail(f"h and w must not be negative, but are {self.h} and {self.w}")
        element_type = self.check_types()
        count = self.check_boxes(0)
        features = shape_of_rank(self, 1, 4)
        image = shape_of_rank(self, 2, 4)
        merge_dimensions(self, (features[0], image[0]), "the batches of features and images")
        grid = PartialShape([self.h or features[2], self.w or features[3], count])
        self.set_output_type(0, element_type, [grid.element_count(), 4] if self.flatten else [*grid, 4])


class ExperimentalDetectronTopKROIs(_Detectron, opset=6):
    """The ``max_rois`` boxes with the largest probabilities, best first. Inputs ``[boxes, 4]`` and ``[boxes]``.

    - ``input_rois``: ``[boxes, 4]``.
    - ``rois_probs``: ``[boxes]``.
    """

    input_names = ("input_rois", "rois_probs")
    max_rois = Attribute(int, 0)

    def validate_and_infer_types(self) -> None:
        element_type = self.check_types()
        count = self.check_boxes(0)
        probabilities = shape_of_rank(self, 1, 1)
        merge_dimensions(self, (count, probabilities[0]), "the numbers of boxes and probabilities")
        self.set_output_type(0, element_type, [self.max_rois, 4])


class ExperimentalDetectronGenerateProposalsSingleImage(_Detectron, opset=6):
    """The best boxes of an image ``[post_nms_count, 4]`` and their scores, padded with zeros.

    Inputs: the image's height, width and scale; anchors ``[height * width * anchors, 4]``; offsets ``[anchors * 4,
    height, width]``; scores ``[anchors, height, width]``.

    - ``im_info``: ``[3]``, height, width and scale of the image.
    - ``deltas``: the offsets.
    - ``min_size``: the smallest width and height of a box, times the scale of the image.
    - ``nms_threshold``: the IoU with a better box above which a box is dropped.
    - ``pre_nms_count``: the number of best boxes that are considered.
    """

    input_names = ("im_info", "anchors", "deltas", "scores")
    output_size = 2
    min_size = Attribute(float)
    nms_threshold = Attribute(float)
    pre_nms_count = Attribute(int)
    post_nms_count = Attribute(int)

    def validate_and_infer_types(self) -> None:
        element_type = self.check_types()
        image = shape_of_rank(self, 0, 1)
        self.check_boxes(1)
        offsets = shape_of_rank(self, 2, 3)
        scores = shape_of_rank(self, 3, 3)
        if not image[0].compatible(3):
            self.fail(f"im_info must have 3 numbers, but has {image[0]}")
        if not offsets[0].compatible(scores[0] * 4):
            self.fail(f"there must be 4 offsets for each score, but are {offsets[0]} for {scores[0]}")
        merge_dimensions(self, (offsets[1], scores[1]), "the rows of offsets and scores")
        merge_dimensions(self, (offsets[2], scores[2]), "the columns of offsets and scores")
        self.set_output_type(0, element_type, [self.post_nms_count, 4])
        self.set_output_type(1, element_type, [self.post_nms_count])


class ExperimentalDetectronDetectionOutput(_Detectron, opset=6):
    """The best ``max_detections_per_image`` boxes of an image, their classes (i32) and scores, padded with zeros.

    Class 0 is the background. Inputs: boxes ``[boxes, 4]``; their offsets for each class ``[boxes, classes * 4]``,
    which are divided by ``deltas_weights``; scores ``[boxes, classes]``; the image's height, width, scale ``[1, 3]``.

    - ``rois``: ``[boxes, 4]``, the corners of the boxes.
    - ``deltas``: ``[boxes, classes * 4]``, the offsets.
    - ``im_info``: ``[1, 3]``, height, width and scale of the image.
    - ``score_threshold``: the score that a box must exceed.
    - ``nms_threshold``: the IoU with a better box of its class above which a box is dropped.
    - ``max_delta_log_wh``: the largest logarithm of the growth of a box.
    - ``num_classes``: the number of classes, with the background.
    - ``post_nms_count``: the number of best boxes of a class that are kept.
    - ``class_agnostic_box_regression``: has no effect.
    """

    input_names = ("rois", "deltas", "scores", "im_info")
    output_size = 3
    score_threshold = Attribute(float)
    nms_threshold = Attribute(float)
    max_delta_log_wh = Attribute(float)
    num_classes = Attribute(int)
    post_nms_count = Attribute(int)
    max_detections_per_image = Attribute(int)
    class_agnostic_box_regression = Attribute(bool, False)
    deltas_weights = Attribute(floats)

    def validate_and_infer_types(self) -> None:
        element_type = self.check_types()
        if len(self.deltas_weights) != 4:
            self.fail(f"deltas_weights must be 4 numbers, but are {len(self.deltas_weights)}")
        count = self.check_boxes(0)
        offsets = shape_of_rank(self, 1, 2)
        scores = shape_of_rank(self, 2, 2)
        if not self.get_input_partial_shape(3).compatible([1, 3]):
            self.fail(f"im_info must have the shape [1,3], but has {self.get_input_partial_shape(3)}")
        if not offsets[1].compatible(self.num_classes * 4) or not scores[1].compatible(self.num_classes):
            self.fail(f"deltas {offsets} and scores {scores} must be of {self.num_classes} classes")
        merge_dimensions(self, (count, offsets[0], scores[0]), "the numbers of boxes, offsets and scores")
        rows = self.max_detections_per_image
        self.set_output_type(0, element_type, [rows, 4])
        self.set_output_type(1, Type.i32, [rows])
        self.set_output_type(2, element_type, [rows])


class ExperimentalDetectronROIFeatureExtractor(_Detectron, opset=6):
    """ROIAlign on a feature pyramid: features ``[boxes, channels, pooled_size, pooled_size]``, and the boxes unchanged.

    Inputs: boxes ``[boxes, 4]`` and feature maps ``[1, channels, height, width]``. Larger boxes use later maps; the
    distance of a map's elements in pixels is its value in ``pyramid_scales``.

    - ``sampling_ratio``: the number of samples per bin and axis; 0 for the length of the bin, rounded up.
    - ``aligned``: whether coordinates are shifted by half an element.
    """

    input_names = ("*inputs",)
    output_size = 2
    pooled_size = Attribute(int, ir="output_size")  # Node.output_size is the number of outputs
    sampling_ratio = Attribute(int)
    pyramid_scales = Attribute(integers)
    aligned = Attribute(bool, False)

    def validate_and_infer_types(self) -> None:
        element_type = self.check_types()
        if self.get_input_size() < 2:
            self.fail("it needs boxes and one or more feature maps")
        if len(self.pyramid_scales) < self.get_input_size() - 1:
            self.fail(f"there are {self.get_input_size() - 1} maps, but {len(self.pyramid_scales)} pyramid_scales")
        count = self.check_boxes(0)
        maps = [shape_of_rank(self, index, 4) for index in range(1, self.get_input_size())]
        if not all(shape[0].compatible(1) for shape in maps):
            self.fail(f"features must be of one image, but have the shapes {', '.join(map(str, maps))}")
        channels = merge_dimensions(self, (shape[1] for shape in maps), "the channels of all features")
        self.set_output_type(0, element_type, [count, channels, self.pooled_size, self.pooled_size])
        self.set_output_type(1, element_type, [count, 4])
