"""Experimental operators that ONNX has removed, which old files still contain."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import register_direct, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, multiply_by, per_channel, rank_of, scalar_like
from hetero.graph import Constant, Op, Output
from hetero.system.errors import FrontendError


def _affine(value: Output, alpha: float, beta: float) -> Op:
    return ops.Add(multiply_by(value, alpha), scalar_like(value, beta))


def _scaled_tanh(value: Output, alpha: float, beta: float) -> Output:
    return multiply_by(ops.Tanh(multiply_by(value, beta)), alpha)


def _parametric_softplus(value: Output, alpha: float, beta: float) -> Output:
    return multiply_by(ops.SoftPlus(multiply_by(value, beta)), alpha)


register_direct({"Affine": _affine}, 1, alpha=1.0, beta=0.0)
register_direct({"Scale": multiply_by}, 1, scale=1.0)
register_direct({"ScaledTanh": _scaled_tanh, "ParametricSoftplus": _parametric_softplus}, 1, alpha=1.0, beta=1.0)


@translator("ImageScaler")
def image_scaler(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    scaled = multiply_by(value, node.get_attribute("scale", 1.0))
    bias = Constant(np.array(node.get_attribute("bias", (0.0,)), value.element_type.to_dtype())).output(0)
    return ops.Add(scaled, per_channel(bias, rank_of(value)))


@translator("Crop")
def crop(node: OnnxNodeContext) -> Translation:
    """Remove ``border`` (left, top, right, bottom) from an image, or keep a part of size ``scale`` at left and top."""
    border, size = node.get_attribute("border"), node.get_attribute("scale", None)
    if len(border) != 4 or (size is not None and len(size) != 2):
        raise FrontendError(f"border must be four numbers and scale two, but they are {border} and {size}")
    left, top, right, bottom = border
    if size is None:
        pads = ((0, 0, -top, -left), (0, 0, -bottom, -right))
        return ops.Pad(node.get_input(0), *map(int64, pads), "constant")
    ends = int64([top + size[0], left + size[1]])
    return ops.Slice(node.get_input(0), int64([top, left]), ends, int64([1, 1]), int64([2, 3]))


@translator("MeanVarianceNormalization")
def mean_variance_normalization_1(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    # Over the batch axis too, like the default of version 9.
    axes = (0, *range(1 if node.get_attribute("across_channels", 0) else 2, rank_of(value)))
    return ops.MVN(value, int64(axes), bool(node.get_attribute("normalize_variance", 1)), 1e-9, "outside_sqrt")


@translator("DynamicSlice")
def dynamic_slice(node: OnnxNodeContext) -> Translation:
    value, starts, ends = (node.get_input(index) for index in range(3))
    ones = ops.Broadcast(scalar_like(starts, 1), ops.ShapeOf(starts))
    return ops.Slice(value, starts, ends, ones, node.get_optional_input(3))
