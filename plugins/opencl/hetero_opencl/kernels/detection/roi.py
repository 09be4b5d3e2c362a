"""Pooling of regions of interest: ROIAlign and its variants, ROIPooling, PSROIPooling and DeformablePSROIPooling."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.system.errors import UnsupportedOperationError
from hetero_opencl.kernels.common.copies import copy_whole
from hetero_opencl.kernels.common.definition import float_type, lowers, source, template, unsupported_types
from hetero_opencl.lowering.lowering import Argument, Lowering

_CORNERS, _ROTATED, _IN_PYRAMID = range(3)


def value_dtype(kind: Type) -> np.dtype:
    """Return the numpy type in which kernels compute with elements of a floating-point type."""
    return float_type(kind).to_dtype()


def sampling_source(name: str, types: Mapping[str, Type], **macros: object) -> str:
    """Return the text of a .cl file that takes bilinear samples of DATA."""
    return source("bilinear", types, **macros) + template(name)


@lowers(ops.ROIAlign, ops.ROIAlignV3, ops.ROIAlignLargestTerm, unsupported=unsupported_types)
def roi_align(lowering: Lowering, node: ops.ROIAlignV3) -> None:
    aligned = node.aligned_mode != "asymmetric"
    box = 0.5 if node.aligned_mode == "half_pixel" else 0, 0.5 if aligned else 0, -np.inf if aligned else 1
    mode = 2 if isinstance(node, ops.ROIAlignLargestTerm) else int(node.mode == "max")
    _align(lowering, node, _CORNERS, mode, box, clockwise=False)


@lowers(ops.ROIAlignRotated, unsupported=unsupported_types)
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


@lowers(ops.ExperimentalDetectronROIFeatureExtractor, unsupported=unsupported_types)
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


@lowers(ops.ROIPooling, unsupported=unsupported_types)
def roi_pooling(lowering: Lowering, node: ops.ROIPooling) -> None:
    _pool(lowering, node, "largest_of_parts" if node.method == "max" else "spread_samples")


@lowers(ops.PSROIPooling, unsupported=unsupported_types)
def psroi_pooling(lowering: Lowering, node: ops.PSROIPooling) -> None:
    if node.mode == "average":
        _pool(lowering, node, "means_of_parts")
    else:
        _pool(lowering, node, "means_of_spread_samples", node.spatial_bins_y, node.spatial_bins_x)


@lowers(ops.DeformablePSROIPooling, unsupported=unsupported_types)
def deformable_psroi_pooling(lowering: Lowering, node: ops.DeformablePSROIPooling) -> None:
    offsets = node.input_value(2 if node.has_input("offsets") else 0)
    classes = offsets.shape[1] // 2 if node.has_input("offsets") else 0
    if node.has_input("offsets") and (
        offsets.shape[0] != node.get_input_shape(1)[0] or not classes or node.output_dim % classes
    ):
        raise UnsupportedOperationError(
            f"{lowering.type_name} '{lowering.name}' has offsets of shape {offsets.shape}; it needs one set per "
            f"region, with a number of classes that divides output_dim {node.output_dim}"
        )
    bins = node.spatial_bins_y, node.spatial_bins_x
    _pool(lowering, node, "means_of_moved_samples", *bins, offsets, classes, node.part_size, np.float32(node.trans_std))


def _pool(
    lowering: Lowering,
    node: ops.ROIPooling | ops.PSROIPooling | ops.DeformablePSROIPooling,
    kernel: str,
    *others: Argument,
) -> None:
    (data, regions), output = node.input_values()[:2], node.output(0)
    arguments: list[Argument] = [data, regions, output, *data.shape, *output.shape[1:]]
    arguments += [np.float32(node.spatial_scale), *others]
    text = sampling_source("roi_pooling", {"DATA": data.element_type})
    lowering.launch_flat(text, kernel, arguments, math.prod(output.shape))
