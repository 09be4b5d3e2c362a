"""Image decoding and non-maximum suppression."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation


@translator("NonMaxSuppression", since=10)
def non_max_suppression(node: OnnxNodeContext) -> Translation:
    boxes, scores, *numbers = (node.get_optional_input(i) for i in range(5))
    if numbers[2] is None:
        numbers[2] = np.array(-np.inf, np.float32)  # without score_threshold every box may be selected
    encoding = "center" if node.get_attribute("center_point_box", 0) else "corner"
    selected = ops.NonMaxSuppression(boxes, scores, *numbers, box_encoding=encoding, sort_result_descending=False)
    return selected.output(0)


@translator("ImageDecoder", since=20)
def image_decoder(node: OnnxNodeContext) -> Translation:
    return ops.ImageDecoder(node.get_input(0), node.get_attribute("pixel_format", "RGB"))
