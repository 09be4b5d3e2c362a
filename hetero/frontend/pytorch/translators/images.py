"""Images: interpolation, padding by their own elements, sampling at coordinates, shuffles of pixels and channels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.frontend.pytorch.node_context import TorchNodeContext, rows, translator
from hetero.frontend.pytorch.translators.convolution import batched
from hetero.frontend.pytorch.translators.movement import pad_lengths
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import int64, rank_of
from hetero.graph import Node, Op, Output
from hetero.system.errors import FrontendError

_MODES = {"nearest": "nearest", "linear": "linear_onnx", "bilinear": "linear_onnx", "trilinear": "linear_onnx",
          "bicubic": "cubic"}  # fmt: skip


_KINDS = [f"upsample_{mode}{count}d" for mode, count in (
    ("nearest", 1), ("nearest", 2), ("nearest", 3), ("linear", 1), ("bilinear", 2), ("trilinear", 3), ("bicubic", 2)
)] + [f"_upsample_nearest_exact{count}d" for count in (1, 2, 3)]  # fmt: skip


@translator(*(f"aten::{name}" for name in _KINDS))
def upsample(node: TorchNodeContext) -> Translation:
    name = node.get_op_type().removeprefix("aten::").removeprefix("_").removeprefix("upsample_")
    mode, count = name[:-2].removesuffix("_exact"), int(name[-2])
    value = node.get_input("self" if "self" in node.arguments else "input")
    scales = node.get_attribute("scale_factors", None)
    if scales is None:
        by_axis = [node.get_attribute(key, None) for key in ("scales_d", "scales_h", "scales_w", "scales")]
        scales = [scale for scale in by_axis if scale is not None][:count]
    aligned = node.get_attribute("align_corners", False)
    options: dict[str, Any] = {
        "coordinate_transformation_mode":
            "asymmetric" if mode == "nearest" else "align_corners" if aligned else "pytorch_half_pixel",
        "nearest_mode": "floor", "cube_coeff": -0.75,
    }  # fmt: skip
    if "exact" in name:
        options |= {"coordinate_transformation_mode": "half_pixel", "nearest_mode": "round_prefer_ceil"}
    axes = int64(range(2, 2 + count))
    if node.arguments.get("output_size") is not None:
        return ops.Interpolate(value, node.integers("output_size"), _MODES[mode], "sizes", axes=axes, **options)
    return ops.Interpolate(value, np.float32(scales), _MODES[mode], "scales", axes=axes, **options)


@translator("aten::grid_sampler_2d", "aten::grid_sampler")
def grid_sample(node: TorchNodeContext) -> Translation:
    mode = ("bilinear", "nearest", "bicubic")[node.get_attribute("interpolation_mode")]
    padding = ("zeros", "border", "reflection")[node.get_attribute("padding_mode")]
    grid = node.converted("grid", node.output_type())
    attributes = {"align_corners": node.get_attribute("align_corners"), "mode": mode, "padding_mode": padding}
    return ops.GridSample(node.get_input("input"), grid, attributes)


def _padded(value: Output, padding: int | Sequence[int], mode: str, count: int) -> Node:
    """Pad ``count`` axes by the image's own elements."""
    begin, end = pad_lengths([padding] * (2 * count) if isinstance(padding, int) else padding, rank_of(value))
    return ops.Pad(value, int64(begin), int64(end), mode)


def _shuffled(operation: type[Op]) -> Callable[[Output, int], Output]:
    """Return the function that moves elements between the channels and the axes of images [N, C, H, W] or [C, H, W]."""

    def apply(value: Output, factor: int) -> Output:
        value, restored = batched(value, 2)
        if rank_of(value) != 4:
            raise FrontendError("it shuffles images [N, C, H, W] or [C, H, W]")
        return restored(operation(value, "depth_first", factor).output(0))

    return apply


rows({
    **{
        f"aten::{name}_pad{count}d": Row(_padded, "self", padding=Attr("padding"), mode=mode, count=count)
        for name, mode in (("reflection", "reflect"), ("replication", "edge"))
        for count in (1, 2, 3)
    },
    "aten::pixel_shuffle": Row(_shuffled(ops.DepthToSpace), "self", factor=Attr("upscale_factor")),
    "aten::pixel_unshuffle": Row(_shuffled(ops.SpaceToDepth), "self", factor=Attr("downscale_factor")),
    "aten::channel_shuffle": Row(ops.ShuffleChannels, "self", axis=1, group=Attr("groups")),
})  # fmt: skip
