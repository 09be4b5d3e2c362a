"""Resize and its predecessor Upsample, as Interpolate-11 if that is equivalent, else as hetero's own Resize."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, rank_of
from hetero.graph import Constant, Output
from hetero.ops.values import exact_value
from hetero.system.errors import FrontendError

_MODES = {"nearest": "nearest", "linear": "linear_onnx", "bilinear": "linear_onnx", "cubic": "cubic"}


@translator("Upsample")
def upsample(node: OnnxNodeContext) -> Translation:
    names = ("height_scale", "width_scale")
    scales = node.get_attribute("scales", None) or (1, 1, *(node.get_attribute(name) for name in names))
    return _interpolate(node, Constant(np.array(scales, np.float32)).output(0), "scales", "asymmetric", "floor")


@translator("Upsample", since=9)
@translator("Resize", since=10)
def resize_10(node: OnnxNodeContext) -> Translation:
    return _interpolate(node, node.get_input(1), "scales", "asymmetric", "floor")


@translator("Resize", since=11)
def resize(node: OnnxNodeContext) -> Translation:
    # An empty tensor means an omitted input.
    has_scales = node.has_input(2) and node.get_input(2).partial_shape != [0]
    calculation, target = ("scales", node.get_input(2)) if has_scales else ("sizes", node.get_input(3))
    coordinates = node.get_attribute("coordinate_transformation_mode", "half_pixel")
    rounding = node.get_attribute("nearest_mode", "round_prefer_floor")
    if _is_interpolate(node, calculation, target, coordinates):
        return _interpolate(node, target, calculation, coordinates, rounding)
    roi = node.get_input(1) if coordinates == "tf_crop_and_resize" else None
    return ops.Resize(
        node.get_input(0),
        target,
        roi,
        axes=_axes(node),
        mode=node.get_attribute("mode", "nearest"),
        shape_calculation_mode=calculation,
        coordinate_transformation_mode=coordinates,
        nearest_mode=rounding,
        antialias=bool(node.get_attribute("antialias", 0)),
        cube_coeff=node.get_attribute("cubic_coeff_a", -0.75),
        exclude_outside=bool(node.get_attribute("exclude_outside", 0)),
        extrapolation_value=node.get_attribute("extrapolation_value", 0.0),
        keep_aspect_ratio_policy=node.get_attribute("keep_aspect_ratio_policy", "stretch"),
    )


def _axes(node: OnnxNodeContext) -> list[int]:
    rank = rank_of(node.get_input(0))
    return [axis % rank for axis in node.get_attribute("axes", tuple(range(rank)))]


def _is_interpolate(node: OnnxNodeContext, calculation: str, target: Output, coordinates: str) -> bool:
    """Return whether OpenVINO's Interpolate, which other devices know too, computes the same."""
    if any(node.get_attribute(name, 0) for name in ("antialias", "exclude_outside")):
        return False
    if node.get_attribute("keep_aspect_ratio_policy", "stretch") != "stretch":
        return False
    if coordinates == "align_corners" and calculation == "scales":
        return _has_integral_sizes(node.get_input(0), _axes(node), target)
    return coordinates not in ("tf_crop_and_resize", "half_pixel_symmetric")


def _has_integral_sizes(value: Output, axes: list[int], scales: Output) -> bool:
    """Return whether lengths times scales are known to be integers. Else ONNX aligns corners with fractional sizes."""
    known, lengths = exact_value(scales), [value.partial_shape[axis] for axis in axes]
    if known is None or known.size != len(axes):
        return False
    return all(
        float(scale).is_integer() or (length.is_static and float(length.get_length() * scale).is_integer())
        for length, scale in zip(lengths, known)
    )


def _interpolate(
    node: OnnxNodeContext, target: Output, calculation: str, coordinates: str, rounding: str
) -> Translation:
    value, mode = node.get_input(0), node.get_attribute("mode", "nearest")
    if mode not in _MODES:
        raise FrontendError(f"mode must be one of {', '.join(_MODES)}, but is {mode}")
    axes, target = _changed_axes(value, _axes(node), target, calculation)
    if not axes:
        return value
    return ops.Interpolate(
        value,
        target,
        _MODES[mode],
        calculation,
        coordinate_transformation_mode=coordinates,
        nearest_mode=rounding,
        cube_coeff=node.get_attribute("cubic_coeff_a", -0.75),
        axes=int64(axes),
    )


def _changed_axes(value: Output, axes: list[int], target: Output, calculation: str) -> tuple[list[int], Output]:
    """Return the axes without those that are known to keep their length, and the scales or sizes of these axes."""
    known = exact_value(target)
    if known is None:
        return axes, target
    if known.shape != (len(axes),):
        raise FrontendError(f"there are {known.size} {calculation} for {len(axes)} axes")
    identity = [1] * len(axes) if calculation == "scales" else [value.partial_shape[axis] for axis in axes]
    changed = [index for index, number in enumerate(known) if identity[index] != number.item()]
    return [axes[index] for index in changed], Constant(known[changed]).output(0)
