"""Object detection, region-of-interest pooling and image decoding."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import register_direct, translator
from hetero.frontend.translation.node_context import REQUIRED
from hetero.frontend.translation.translators import Translation

register_direct({"MaxRoiPool": ops.ROIPooling}, 2, pooled_shape=REQUIRED, spatial_scale=1.0)
register_direct({"ImageDecoder": ops.ImageDecoder}, 1, since=20, pixel_format="RGB")


@translator("NonMaxSuppression", since=10)
def non_max_suppression(node: OnnxNodeContext) -> Translation:
    boxes, scores, count, overlap = (node.get_optional_input(index) for index in range(4))
    # Without score_threshold every box may be selected.
    threshold = node.get_input(4) if node.has_input(4) else np.array(-np.inf, np.float32)
    encoding = "center" if node.get_attribute("center_point_box", 0) else "corner"
    return ops.NonMaxSuppression(
        boxes, scores, count, overlap, threshold, box_encoding=encoding, sort_result_descending=False
    ).output(0)


@translator("RoiAlign", since=10)
def roi_align(node: OnnxNodeContext) -> Translation:
    # ONNX's half_pixel shifts by 0.5 only after the scale, which OpenVINO calls half_pixel_for_nn.
    default = "half_pixel" if node.get_opset_version() >= 16 else "output_half_pixel"
    is_half_pixel = node.get_attribute("coordinate_transformation_mode", default) == "half_pixel"
    mode = node.get_attribute("mode", "avg")
    operation = ops.ROIAlign if mode == "avg" else ops.ROIAlignLargestTerm
    return operation(
        *(node.get_input(index) for index in range(3)),
        pooled_h=node.get_attribute("output_height", 1),
        pooled_w=node.get_attribute("output_width", 1),
        sampling_ratio=node.get_attribute("sampling_ratio", 0),
        spatial_scale=node.get_attribute("spatial_scale", 1.0),
        mode=mode,
        aligned_mode="half_pixel_for_nn" if is_half_pixel else "asymmetric",
    )
