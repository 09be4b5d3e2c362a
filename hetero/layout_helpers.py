"""A module that exists because OpenVINO has ``openvino.layout_helpers``. Its functions are in core and graph."""

from hetero.core.layout import (
    batch_idx,
    channels_idx,
    depth_idx,
    has_batch,
    has_channels,
    has_depth,
    has_height,
    has_width,
    height_idx,
    width_idx,
)
from hetero.graph.layouts import get_layout, set_layout

__all__ = [
    "batch_idx", "channels_idx", "depth_idx", "get_layout", "has_batch", "has_channels", "has_depth", "has_height",
    "has_width", "height_idx", "set_layout", "width_idx",
]  # fmt: skip
