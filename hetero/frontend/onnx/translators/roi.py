"""Region-of-interest pooling."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation


@translator("MaxRoiPool")
def max_roi_pool(node: OnnxNodeContext) -> Translation:
    scale = node.get_attribute("spatial_scale", 1.0)
    return ops.ROIPooling(node.get_input(0), node.get_input(1), node.get_attribute("pooled_shape"), scale, "max")


@translator("RoiAlign", since=10)
def roi_align(node: OnnxNodeContext) -> Translation:
    # ONNX's half_pixel shifts by 0.5 only after the scale, which OpenVINO calls half_pixel_for_nn.
    default = "half_pixel" if node.get_opset_version() >= 16 else "output_half_pixel"
    is_half_pixel = node.get_attribute("coordinate_transformation_mode", default) == "half_pixel"
    mode = node.get_attribute("mode", "avg")
    operation = ops.ROIAlign if mode == "avg" else ops.ROIAlignLargestTerm
    return operation(
        node.get_input(0),
        node.get_input(1),
        node.get_input(2),
        pooled_h=node.get_attribute("output_height", 1),
        pooled_w=node.get_attribute("output_width", 1),
        sampling_ratio=node.get_attribute("sampling_ratio", 0),
        spatial_scale=node.get_attribute("spatial_scale", 1.0),
        mode=mode,
        aligned_mode="half_pixel_for_nn" if is_half_pixel else "asymmetric",
    )
