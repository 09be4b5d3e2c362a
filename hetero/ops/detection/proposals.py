"""Region proposals of two-stage detectors: Proposal and GenerateProposals."""

from __future__ import annotations

import numpy as np

from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.graph import Attribute, Op, floats
from hetero.ops.checks import check_index_type, check_type, common_type, merge_dimensions, shape_of_rank

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
