"""Object detection: boxes, their suppression, and pooling of regions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.movement import stack
from hetero.frontend.paddle.node_context import PaddleNodeContext, translator
from hetero.frontend.translation.translators import ConversionResult
from hetero.frontend.translation.values import (
    arange,
    axis_length,
    int64,
    known_length,
    multiply_by,
    rank_of,
    scalar_like,
)
from hetero.graph import Constant, Node, Op, Output
from hetero.system.errors import FrontendError


@translator("multiclass_nms3", "multiclass_nms2", "multiclass_nms", "matrix_nms")
def suppress(node: PaddleNodeContext) -> ConversionResult:
    """The selected boxes of all images as class, score and corners; their places; their number in each image."""
    boxes, scores, is_matrix = node.get_input("BBoxes"), node.get_input("Scores"), node.get_op_type() == "matrix_nms"
    common = {
        "output_type": "i32",
        "score_threshold": node.get_attribute("score_threshold"),
        "nms_top_k": node.get_attribute("nms_top_k"),
        "keep_top_k": node.get_attribute("keep_top_k"),
        "background_class": node.get_attribute("background_label", 0),
        "normalized": node.get_attribute("normalized", True),
    }
    selection: Op
    if is_matrix:
        selection = ops.MatrixNms(
            boxes, scores, sort_result_type="score", post_threshold=node.get_attribute("post_threshold", 0.0),
            decay_function="gaussian" if node.get_attribute("use_gaussian", False) else "linear",
            gaussian_sigma=node.get_attribute("gaussian_sigma", 2.0), **common,
        )  # fmt: skip
    else:
        inputs = [boxes, scores]
        if node.has_input("RoisNum"):
            # Each box has one place for each class.
            inputs = [ops.Transpose(boxes, int64([1, 0, 2])).output(0), ops.Transpose(scores, int64([1, 0])).output(0)]
            inputs.append(node.get_input("RoisNum"))
        selection = ops.MulticlassNms(
            *inputs, sort_result_type="classid", iou_threshold=node.get_attribute("nms_threshold", 0.3),
            nms_eta=node.get_attribute("nms_eta", 1.0), **common,
        )  # fmt: skip
    selected, index, counts = selection.outputs()
    return {"Out": selected, "Index": index, "RoisNum" if is_matrix else "NmsRoisNum": counts}


@translator("prior_box")
def prior_box(node: PaddleNodeContext) -> ConversionResult:
    """Boxes around each place of a feature map, in fractions of the image; and the variances."""
    features, image = node.get_input("Input"), node.get_input("Image")
    sizes = _prior_sizes(node)
    centers, lengths = [], []
    steps = [node.get_attribute(name, 0.0) for name in ("step_w", "step_h")]
    for axis, step in zip((3, 2), steps):
        length = _as_real(axis_length(image, axis))
        stride = np.float32(step) if all(steps) else ops.Divide(length, _as_real(axis_length(features, axis)))
        places = ops.Add(_as_real(arange(axis_length(features, axis))), np.float32(node.get_attribute("offset", 0.5)))
        centers.append(ops.Divide(ops.Multiply(places, stride), length))
        lengths.append(length)
    shape = ops.Concat([axis_length(features, [2, 3]), int64([len(sizes)])], 0)
    halves = [ops.Divide(np.array(side, np.float32) / 2, length) for side, length in zip(zip(*sizes), lengths)]
    x, y = ops.Unsqueeze(centers[0], int64([0, 2])), ops.Unsqueeze(centers[1], int64([1, 2]))
    corners = [operation(center, half) for operation in (ops.Subtract, ops.Add) for center, half in zip((x, y), halves)]
    boxes: Node = stack((ops.Broadcast(corner, shape) for corner in corners), 3)
    if node.get_attribute("clip", False):
        boxes = ops.Clamp(boxes, 0.0, 1.0)
    variances = np.array(node.get_attribute("variances", [0.1, 0.1, 0.2, 0.2]), np.float32)
    return {"Boxes": boxes, "Variances": ops.Broadcast(variances, ops.ShapeOf(boxes))}


def _prior_sizes(node: PaddleNodeContext) -> list[tuple[float, float]]:
    """Return the width and the height of each box of a place."""
    ratios = [1.0]
    for ratio in node.get_attribute("aspect_ratios", []):
        if all(abs(ratio - known) > 1e-6 for known in ratios):
            ratios += [ratio, 1 / ratio] if node.get_attribute("flip", False) else [ratio]
    largest, sizes = list(node.get_attribute("max_sizes", [])), []
    for index, side in enumerate(node.get_attribute("min_sizes")):
        middle = [((side * largest[index]) ** 0.5,) * 2] if largest else []
        others = [(side * ratio**0.5, side / ratio**0.5) for ratio in ratios[1:]]
        in_order = node.get_attribute("min_max_aspect_ratios_order", False)
        sizes += [(side, side), *(middle + others if in_order else others + middle)]
    return sizes


def _as_real(value: Output | Node) -> Op:
    return ops.Convert(value, Type.f32)


@translator("box_coder")
def box_coder(node: PaddleNodeContext) -> ConversionResult:
    """Boxes as offsets from prior boxes, or the other way round."""
    prior, target = node.get_input("PriorBox"), node.get_input("TargetBox")
    extra = 0.0 if node.get_attribute("box_normalized", True) else 1.0
    axis, is_decoding = node.get_attribute("axis", 0), node.get_attribute("code_type") == "decode_center_size"
    width, height, x, y = _centered(prior, extra)
    variance = _variances(node)
    if not is_decoding:
        target_width, target_height = (ops.Unsqueeze(length, int64([1])) for length in _centered(target, extra)[:2])
        # The centers of targets do not have the extra length.
        target_x, target_y = (ops.Unsqueeze(center, int64([1])) for center in _centered(target, 0.0)[2:])
        offsets: list[Node] = [
            ops.Divide(ops.Subtract(target_x, x), width),
            ops.Divide(ops.Subtract(target_y, y), height),
            ops.Log(ops.Abs(ops.Divide(target_width, width))),
            ops.Log(ops.Abs(ops.Divide(target_height, height))),
        ]
        coded = stack(offsets, -1)
        return ops.Divide(coded, variance) if variance is not None else coded
    along = int64([0 if axis == 0 else 1])
    width, height, x, y = (ops.Unsqueeze(part, along) for part in (width, height, x, y))
    if variance is not None:
        is_matrix = len(variance.partial_shape) == 2
        target = ops.Multiply(target, ops.Unsqueeze(variance, along) if is_matrix else variance).output(0)
    tx, ty, tw, th = (ops.Gather(target, int64(index), int64(-1)) for index in range(4))
    new_x, new_y = ops.Add(ops.Multiply(tx, width), x), ops.Add(ops.Multiply(ty, height), y)
    half_width, half_height = (
        multiply_by(ops.Multiply(ops.Exp(logarithm), side), 0.5) for logarithm, side in ((tw, width), (th, height))
    )  # fmt: skip
    last = scalar_like(target, extra)
    corners = [
        ops.Subtract(new_x, half_width), ops.Subtract(new_y, half_height),
        ops.Subtract(ops.Add(new_x, half_width), last), ops.Subtract(ops.Add(new_y, half_height), last),
    ]  # fmt: skip
    return stack(corners, -1)


def _variances(node: PaddleNodeContext) -> Output | None:
    if node.has_input("PriorBoxVar"):
        return node.get_input("PriorBoxVar")
    variances = node.get_attribute("variance", [])
    return Constant(np.array(variances, np.float32)).output(0) if variances else None


def _centered(boxes: Output, extra: float) -> tuple[Node, Node, Node, Node]:
    """Return widths, heights and centers of boxes, which are corners."""
    left, top, right, bottom = (ops.Gather(boxes, int64(index), int64(-1)) for index in range(4))
    width, height = (
        ops.Add(ops.Subtract(end, begin), scalar_like(boxes, extra)) for begin, end in ((left, right), (top, bottom))
    )
    half = scalar_like(boxes, 0.5)
    return width, height, ops.Add(left, ops.Multiply(width, half)), ops.Add(top, ops.Multiply(height, half))


@translator("yolo_box")
def yolo_box(node: PaddleNodeContext) -> ConversionResult:
    """Boxes and scores of classes from the features of a YOLO head; those of low confidence are zero."""
    value, anchors = node.get_input("X"), np.array(node.get_attribute("anchors"), np.float32).reshape(-1, 2)
    count, classes = len(anchors), node.get_attribute("class_num")
    height, width = (known_length(value, axis, "the size of the features") for axis in (2, 3))
    overlap = None
    if node.get_attribute("iou_aware", False):
        parts = ops.VariadicSplit(value, int64(1), int64([count, -1])).outputs()
        overlap = ops.Sigmoid(ops.Reshape(parts[0], int64([0, count, height * width]), True))
        value = parts[1]
    grouped = ops.Reshape(value, int64([0, count, 5 + classes, height * width]), True)
    parts = ops.VariadicSplit(grouped, int64(2), int64([1, 1, 1, 1, 1, classes])).outputs()
    x, y, w, h, confidence = (ops.Squeeze(part, int64([2])).output(0) for part in parts[:5])
    sure: Node = ops.Sigmoid(confidence)
    if overlap is not None:
        factor = node.get_attribute("iou_aware_factor", 0.5)
        sure = ops.Multiply(ops.Power(sure, np.float32(1 - factor)), ops.Power(overlap, np.float32(factor)))
    is_kept = ops.Convert(ops.GreaterEqual(sure, np.float32(node.get_attribute("conf_thresh", 0.01))), Type.f32)
    size = ops.Convert(node.get_input("ImgSize"), Type.f32)
    image_height, image_width = (ops.Gather(size, int64([[at]]), int64(1)) for at in (0, 1))
    ratio = node.get_attribute("downsample_ratio")
    rows, columns = (grid.reshape(-1).astype(np.float32) for grid in np.mgrid[:height, :width])
    scale = node.get_attribute("scale_x_y", 1.0)
    corners: list[list[Node]] = [[], []]
    for center, side, place, cells, image, anchor in (
        (x, w, columns, width, image_width, anchors[:, 0]), (y, h, rows, height, image_height, anchors[:, 1]),
    ):  # fmt: skip
        side_length = ops.Reshape(image, int64([-1, 1, 1]), False)
        moved = ops.Add(multiply_by(ops.Sigmoid(center), scale), np.float32(-0.5 * (scale - 1)) + place)
        middle = ops.Multiply(moved, ops.Divide(side_length, np.float32(cells)))
        relative = (anchor / np.float32(ratio * cells)).reshape(1, -1, 1)
        half = multiply_by(ops.Multiply(ops.Multiply(ops.Exp(side), relative), side_length), 0.5)
        begin: Node = ops.Subtract(middle, half)
        end: Node = ops.Add(middle, half)
        if node.get_attribute("clip_bbox", True):
            begin = ops.Maximum(begin, np.float32(0))
            end = ops.Minimum(end, ops.Subtract(side_length, np.float32(1)))
        corners[0].append(begin)
        corners[1].append(end)
    kept = ops.Unsqueeze(is_kept, int64([3]))
    boxes = stack((*corners[0], *corners[1]), 3)
    scores = ops.Multiply(ops.Transpose(ops.Sigmoid(parts[5]), int64([0, 1, 3, 2])), ops.Unsqueeze(sure, int64([3])))
    return {
        "Boxes": ops.Reshape(ops.Multiply(boxes, kept), int64([0, -1, 4]), True),
        "Scores": ops.Reshape(ops.Multiply(scores, kept), int64([0, -1, classes]), True),
    }


@translator("roi_align")
def roi_align(node: PaddleNodeContext) -> ConversionResult:
    return ops.ROIAlign(
        node.get_input("X"), node.get_input("ROIs"), _images(node, node.get_input("ROIs")),
        pooled_h=node.get_attribute("pooled_height", 1), pooled_w=node.get_attribute("pooled_width", 1),
        sampling_ratio=max(node.get_attribute("sampling_ratio", -1), 0),
        spatial_scale=node.get_attribute("spatial_scale", 1.0), mode="avg",
        aligned_mode="half_pixel_for_nn" if node.get_attribute("aligned", False) else "asymmetric",
    )  # fmt: skip


def _images(node: PaddleNodeContext, regions: Output) -> Op:
    """Return the image that each region belongs to: regions are in the order of the images."""
    if not node.has_input("RoisNum"):
        raise FrontendError("the number of regions in each image must be an input")
    ends = ops.CumSum(ops.Convert(node.get_input("RoisNum"), Type.i64), int64(0))
    places = ops.Unsqueeze(arange(axis_length(regions, 0)), int64([1]))
    is_after = ops.GreaterEqual(places, ops.Unsqueeze(ends, int64([0])))
    return ops.ReduceSum(ops.Convert(is_after, Type.i64), int64([1]), False)


@translator("generate_proposals_v2")
def generate_proposals(node: PaddleNodeContext) -> ConversionResult:
    deltas, scores, anchors = (node.get_input(name) for name in ("BboxDeltas", "Scores", "Anchors"))
    shape = axis_length(scores, [2, 3, 1])
    anchors, variances = (
        ops.Reshape(value, ops.Concat([shape, int64([4])], 0), False).output(0)
        for value in (anchors, node.get_input("Variances"))
    )
    factors = ops.Reshape(ops.Transpose(variances, int64([2, 3, 0, 1])), axis_length(deltas, [1, 2, 3]), False)
    sizes = node.get_input("ImShape")
    images = ops.Pad(sizes, int64([0, 0]), int64([0, 1]), "constant", scalar_like(sizes, 1))
    boxes, probabilities, counts = ops.GenerateProposals(
        images, anchors, ops.Multiply(deltas, factors), scores, min_size=node.get_attribute("min_size"),
        nms_threshold=node.get_attribute("nms_thresh"), pre_nms_count=node.get_attribute("pre_nms_topN"),
        post_nms_count=node.get_attribute("post_nms_topN"), nms_eta=node.get_attribute("eta", 1.0),
        normalized=not node.get_attribute("pixel_offset", True), roi_num_type="i32",
    ).outputs()  # fmt: skip
    return {"RpnRois": boxes, "RpnRoiProbs": ops.Unsqueeze(probabilities, int64([1])), "RpnRoisNum": counts}


@translator("distribute_fpn_proposals")
def distribute_proposals(node: PaddleNodeContext) -> ConversionResult:
    """The regions of each level of a pyramid, by their size; and the place of each region in all of these."""
    regions = node.get_input("FpnRois")
    low, high = node.get_attribute("min_level"), node.get_attribute("max_level")
    if high - low >= node.output_count("MultiFpnRois"):
        raise FrontendError(f"it has no outputs for the levels {low} to {high}")
    extra = 1.0 if node.get_attribute("pixel_offset", True) else 0.0
    width, height, _, _ = _centered(regions, extra)
    size = ops.Divide(ops.Sqrt(ops.Multiply(width, height)), scalar_like(regions, node.get_attribute("refer_scale")))
    logarithm = multiply_by(ops.Log(ops.Add(size, scalar_like(regions, 1e-6))), 1 / np.log(2))
    level = ops.Clamp(ops.Add(ops.Floor(logarithm), scalar_like(regions, node.get_attribute("refer_level"))), low, high)
    places = [
        ops.Squeeze(ops.NonZero(ops.Equal(level, scalar_like(regions, number)), "i64"), int64([0]))
        for number in range(low, high + 1)
    ]
    joined = ops.Concat(places, 0)
    order = ops.TopK(joined, axis_length(joined, 0), 0, "min", "value", "i32", True).output(1)
    results: dict[str, Sequence[Node] | Node] = {
        "MultiFpnRois": [ops.Gather(regions, place, int64(0)) for place in places],
        "RestoreIndex": ops.Unsqueeze(order, int64([1])),
    }
    if node.has_input("RoisNum"):
        images = _images(node, regions)
        each = ops.Unsqueeze(arange(axis_length(node.get_input("RoisNum"), 0)), int64([0]))
        counts = [ops.Equal(ops.Unsqueeze(ops.Gather(images, place, int64(0)), int64([1])), each) for place in places]
        results["MultiLevelRoIsNum"] = [
            ops.Convert(ops.ReduceSum(ops.Convert(count, Type.i64), int64([0]), False), Type.i32) for count in counts
        ]
    return results


@translator("box_clip")
def box_clip(node: PaddleNodeContext) -> ConversionResult:
    """Clip boxes to the image before it was scaled."""
    boxes, info = node.get_input("Input"), node.get_input("ImInfo")
    scale = ops.Gather(info, int64([2]), int64(1))
    sizes = ops.Round(ops.Divide(ops.Gather(info, int64([1, 0, 1, 0]), int64(1)), scale))
    most: Node = ops.Subtract(sizes, scalar_like(info, 1))
    if rank_of(boxes) == 3:
        most = ops.Unsqueeze(most, int64([1]))
    return ops.Maximum(ops.Minimum(boxes, most), scalar_like(boxes, 0))
