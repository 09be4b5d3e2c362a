"""The ends of single-shot detectors: DetectionOutput, RegionYolo and ReorgYolo."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, Op, accepts, floats, integers
from hetero.ops.checks import check_type, merge_dimensions, normalize_axis, shape_of_rank
from hetero.ops.movement.movement import divide_exactly

CORNER, CENTER_SIZE = "caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE"

Length = TypeVar("Length", int, Dimension)


@accepts(f"{CORNER} or {CENTER_SIZE}")
def code_type(value: str) -> str:
    """Check the encoding of box offsets: for the corners, or for the center and the size."""
    if value not in (CORNER, CENTER_SIZE):
        raise ValueError
    return value


class _Counts(NamedTuple):
    images: Dimension
    priors: Dimension
    classes: Dimension


class DetectionOutput(Op, opset=8):
    """The boxes detected by a single-shot detector, ``[1, 1, boxes, 7]``: image, class, score and corners of each.

    Inputs:

    - ``box_logits [images, priors * location classes * 4]``: the offsets.
    - ``class_preds [images, priors * classes]``: the scores.
    - ``proposals [1 or images, 2, priors * 4]``: the priors and their variances. Each prior has 5 numbers if it is not
      ``normalized``, the first of which is ignored. With ``variance_encoded_in_target`` there are no variances.
    - ``aux_class_preds [images, priors * 2]`` and ``aux_box_preds``: scores and offsets of the first stage, for
      two-stage detectors.

    The row after the last box has -1 for the image.

    - ``background_label_id``: the class that is never output; -1 for none.
    - ``top_k``: the number of best boxes of a class that are considered; -1 for all.
    - ``keep_top_k``: the number of boxes of an image that are output, -1 for all. It is a list, of which the first
      number counts, as in OpenVINO.
    - ``code_type``: whether offsets move the corners of a prior or its center and size.
    - ``share_location``: whether all classes have the same boxes.
    - ``nms_threshold``: the IoU with a better box above which a box is dropped.
    - ``confidence_threshold``: the score that a box needs.
    - ``clip_before_nms``, ``clip_after_nms``: whether boxes are clipped to the image, 0 to 1, before and after the
      suppression.
    - ``decrease_label_id``: whether a prior is considered for its best class only, and classes are output less 1.
    - ``input_height``, ``input_width``: the size of the image, by which priors that are not normalized are divided.
    - ``objectness_score``: the score of the first stage below which a prior is background.
    """

    input_names = ("box_logits", "class_preds", "proposals", "aux_class_preds?", "aux_box_preds?")
    attributes_in = "attrs"
    parameter_order = ("box_logits", "class_preds", "proposals", "attrs", "aux_class_preds", "aux_box_preds")
    background_label_id = Attribute(int, 0)
    top_k = Attribute(int, -1)
    variance_encoded_in_target = Attribute(bool, False)
    keep_top_k = Attribute(integers)
    code_type = Attribute(code_type, CORNER)
    share_location = Attribute(bool, True)
    nms_threshold = Attribute(float)
    confidence_threshold = Attribute(float, 0.0)
    clip_after_nms = Attribute(bool, False)
    clip_before_nms = Attribute(bool, False)
    decrease_label_id = Attribute(bool, False)
    normalized = Attribute(bool, False)
    input_height = Attribute(int, 1)
    input_width = Attribute(int, 1)
    objectness_score = Attribute(float, 0.0)

    @property
    def prior_size(self) -> int:
        return 4 if self.normalized else 5

    def validate_and_infer_types(self) -> None:
        check_type(self, range(self.get_input_size()), Type.is_real, "a floating-point type")
        if not self.keep_top_k:
            self.fail("keep_top_k must be a number, but is empty")
        if self.get_input_size() == 4:
            self.fail("aux_class_preds must come with aux_box_preds")
        images, priors, classes = self.counts()
        rows = self.rows(images, priors, classes)
        # As in OpenVINO, the number of rows is unknown unless it is static.
        self.set_output_type(0, self.get_input_element_type(0), [1, 1, rows if rows.is_static else Dimension(), 7])

    def rows(self, images: Length, priors: Length, classes: Length) -> Length:
        """Return the number of rows of the output."""
        if self.keep_top_k[0] > 0:
            return images * self.keep_top_k[0]
        return images * classes * (self.top_k if self.keep_top_k[0] == -1 and self.top_k > 0 else priors)

    def counts(self) -> _Counts:
        """Return the numbers of images, priors and classes. Raises GraphError if the inputs are inconsistent."""
        offsets = shape_of_rank(self, 0, 2)
        scores = shape_of_rank(self, 1, 2)
        proposals = shape_of_rank(self, 2, 3)
        priors = self._whole_part(proposals[2], self.prior_size, "proposals")
        classes = self.known_classes(scores, priors)
        if priors.is_dynamic and (self.share_location or classes.is_static):
            sides = 4 * (1 if self.share_location else classes.get_length())
            priors = self._whole_part(offsets[1], sides, "box_logits")
            classes = self.known_classes(scores, priors)
        locations = Dimension(1) if self.share_location else classes
        images = [offsets[0], scores[0]]
        lengths = [(0, offsets[1], priors * locations * 4), (1, scores[1], priors * classes)]
        if self.get_input_size() == 5:
            aux_scores = shape_of_rank(self, 3, 2)
            aux_offsets = shape_of_rank(self, 4, 2)
            images += [aux_scores[0], aux_offsets[0]]
            lengths += [(3, aux_scores[1], priors * 2), (4, aux_offsets[1], priors * locations * 4)]
        for index, length, expected in lengths:
            if not length.compatible(expected):
                self.fail(f"input {index} must have rows of {expected} numbers, but they have {length}")
        count = merge_dimensions(self, images, "the images of all inputs")
        if not proposals[0].compatible(1) and not proposals[0].compatible(count):
            self.fail(f"proposals must be for one image or all {count}, but are for {proposals[0]}")
        rows = 1 if self.variance_encoded_in_target else 2
        if not proposals[1].compatible(rows):
            self.fail(f"proposals must have {rows} rows for an image, but have {proposals[1]}")
        return _Counts(count, priors, classes)

    def known_classes(self, scores: PartialShape, priors: Dimension) -> Dimension:
        """Return the number of classes, computed from the number of scores per prior."""
        if priors.is_dynamic or priors == 0:
            return Dimension()
        return self._whole_part(scores[1], priors.get_length(), "class_preds")

    def _whole_part(self, length: Dimension, size: int, name: str) -> Dimension:
        if length.is_static and length.get_length() % size:
            self.fail(f"the rows of {name} must be multiples of {size} long, but are {length}")
        return length // size


class DetectionOutputV1(DetectionOutput, type_name="DetectionOutput", opset=1):
    """DetectionOutput with the number of classes as an attribute.

    - ``num_classes``: the number of classes, with the background.
    """

    num_classes = Attribute(int)

    def known_classes(self, scores: PartialShape, priors: Dimension) -> Dimension:
        return Dimension(self.num_classes)


class RegionYolo(Op, opset=1):
    """Activations of the last feature map ``[images, boxes * (coords + 1 + classes), height, width]``.

    The logistic function is applied to x, y and the confidence of each box. With ``do_softmax``, a softmax is applied
    to its classes, a cell has ``num`` boxes, and the dimensions ``axis`` to ``end_axis`` are flattened. Without it,
    the logistic function is applied to the classes too, and a cell has one box for each element of ``mask``.
    ``anchors`` has no effect.

    - ``input``: the feature map.
    """

    input_names = ("input",)
    coords = Attribute(int)
    classes = Attribute(int)
    num = Attribute(int)
    do_softmax = Attribute(bool)
    mask = Attribute(integers)
    axis = Attribute(int)
    end_axis = Attribute(int)
    anchors = Attribute(floats, None)

    @property
    def box_size(self) -> int:
        """The number of channels of a box."""
        return self.coords + 1 + self.classes

    @property
    def boxes(self) -> int:
        """The number of boxes in a cell."""
        return self.num if self.do_softmax else len(self.mask)

    def validate_and_infer_types(self) -> None:
        check_type(self, [0], Type.is_real, "a floating-point type")
        self.anchors = self.anchors or ()
        element_type = self.get_input_element_type(0)
        if not self.get_input_partial_shape(0).has_rank:
            self.set_output_type(0, element_type, PartialShape.dynamic())
            return
        shape = shape_of_rank(self, 0, 4)
        if not shape[1].compatible(Dimension.interval(self.boxes * self.box_size, None)):
            self.fail(f"data must have {self.boxes * self.box_size} channels or more, but has the shape {shape}")
        if self.do_softmax:
            begin, end = (normalize_axis(self, axis, 4) for axis in (self.axis, self.end_axis))
            if begin < end:
                shape = concatenate(shape[:begin], [shape[begin : end + 1].element_count()], shape[end + 1 :])
        else:
            shape = concatenate(shape[:1], [self.boxes * self.box_size], shape[2:])
        self.set_output_type(0, element_type, shape)


class ReorgYolo(Op, opset=2):
    """YOLO v2's reorganization of spatial elements into channels, including its unusual order.

    The data ``[N, C, H, W]`` is reinterpreted as ``[N, C / stride², H * stride, W * stride]`` and divided into blocks
    of ``stride`` by ``stride`` elements. Elements at the same position in their blocks are grouped; the result is
    reinterpreted as ``[N, C * stride², H / stride, W / stride]``.

    - ``input``: the data.
    """

    input_names = ("input",)
    stride = Attribute(integers)

    def validate_and_infer_types(self) -> None:
        if not self.stride or self.stride[0] < 1:
            self.fail(f"stride must be a positive number, but is {self.stride}")
        shape = self.get_input_partial_shape(0)
        if shape.has_rank:
            stride = self.stride[0]
            batch, channels, height, width = shape_of_rank(self, 0, 4)
            divide_exactly(self, channels, stride**2)
            spatial = (divide_exactly(self, length, stride) for length in (height, width))
            shape = PartialShape([batch, channels * stride**2, *spatial])
        self.set_output_type(0, self.get_input_element_type(0), shape)
