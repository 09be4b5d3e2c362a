"""GridSample: interpolation of data at the points of a grid."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation

# OpenVINO's names of the modes of operator set 20; older ONNX names are the same as OpenVINO's.
_MODES = {"linear": "bilinear", "cubic": "bicubic"}


@translator("GridSample", since=16)
def grid_sample(node: OnnxNodeContext) -> Translation:
    mode = node.get_attribute("mode", "bilinear")
    attributes = {
        "align_corners": bool(node.get_attribute("align_corners", 0)),
        "mode": _MODES.get(mode, mode),
        "padding_mode": node.get_attribute("padding_mode", "zeros"),
    }
    return ops.GridSample(node.get_input(0), node.get_input(1), attributes)
