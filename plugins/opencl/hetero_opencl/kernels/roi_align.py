"""ROIAlign and its variants: regions divided into bins that pool bilinear samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.types import Type
from hetero_opencl.kernels.movement import copy_whole
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import element_macros, float_type, template, unsupported_types

if TYPE_CHECKING:
    from hetero_opencl.lowering import Argument, Lowering

_CORNERS, _ROTATED, _IN_PYRAMID = range(3)


def value_dtype(kind: Type) -> np.dtype:
    """Return the numpy type in which kernels compute with elements of a floating-point type."""
    return float_type(kind).to_dtype()


def sampling_source(name: str, types: Mapping[str, Type], **macros: object) -> str:
    """Return the text of a .cl file that takes bilinear samples of DATA."""
    defines = "".join(f"#define {key} {value}\n" for key, value in macros.items())
    return element_macros(types) + defines + template("bilinear") + template(name)


@lowers(ops.ROIAlign, ops.ROIAlignV3, ops.ROIAlignLargestTerm, unless=unsupported_types)
def roi_align(lowering: Lowering, node: ops.ROIAlignV3) -> None:
    aligned = node.aligned_mode != "asymmetric"
    box = 0.5 if node.aligned_mode == "half_pixel" else 0, 0.5 if aligned else 0, -np.inf if aligned else 1
    mode = 2 if isinstance(node, ops.ROIAlignLargestTerm) else int(node.mode == "max")
    _align(lowering, node, _CORNERS, mode, box, clockwise=False)


@lowers(ops.ROIAlignRotated, unless=unsupported_types)
def roi_align_rotated(lowering: Lowering, node: ops.ROIAlignRotated) -> None:
    _align(lowering, node, _ROTATED, 0, (0, 0, 0), node.clockwise_mode)


def _align(
    lowering: Lowering,
    node: ops.ROIAlignV3 | ops.ROIAlignRotated,
    region: int,
    mode: int,
    box: tuple[float, float, float],
    clockwise: bool,
) -> None:
    """Launch one work-item per bin. ``box``: offsets before and after scaling, and the minimum side length."""
    data, regions, images = node.input_values()
    types = {"DATA": data.element_type, "INDEX": images.element_type}
    number = value_dtype(data.element_type).type
    sizes = (*data.shape, node.pooled_h, node.pooled_w, node.sampling_ratio)
    arguments: list[Argument] = [data, regions, images, node.output(0), *sizes]
    arguments += [number(node.spatial_scale), *map(number, box), clockwise]
    text = sampling_source("roi_align", types, MODE=mode, REGION=region)
    lowering.launch_flat(text, "roi_align", arguments, math.prod(node.get_output_shape(0)))


@lowers(ops.ExperimentalDetectronROIFeatureExtractor, unless=unsupported_types)
def roi_feature_extractor(lowering: Lowering, node: ops.ExperimentalDetectronROIFeatureExtractor) -> None:
    boxes, *maps = node.input_values()
    kind = boxes.element_type
    number, text = value_dtype(kind).type, sampling_source("roi_align", {"DATA": kind}, MODE=0, REGION=_IN_PYRAMID)
    for index, (features, scale) in enumerate(zip(maps, node.pyramid_scales)):
        sizes = (index, len(maps), *features.shape[1:], node.pooled_size, node.sampling_ratio)
        arguments: list[Argument] = [features, boxes, node.output(0), *sizes]
        # As in the reference, the scale is rounded to f32 for every type.
        arguments += number(np.float32(1 / scale)), number(0.5 if node.aligned else 0)
        lowering.launch_flat(text, "pool_from_level", arguments, math.prod(node.get_output_shape(0)))
    copy_whole(lowering, lowering.buffer(boxes), boxes, lowering.buffer(node.output(1)))
