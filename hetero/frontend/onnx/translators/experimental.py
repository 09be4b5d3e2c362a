"""Experimental operators that ONNX has removed, which old files still contain."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.onnx.translators.activation import thresholded_relu
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, multiply_by, per_channel, rank_of, scalar_like
from hetero.graph import Constant

translator("ThresholdedRelu")(thresholded_relu)


@translator("Affine")
def affine(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    product = multiply_by(value, node.get_attribute("alpha", 1.0))
    return ops.Add(product, scalar_like(value, node.get_attribute("beta", 0.0)))


@translator("Scale")
def scale(node: OnnxNodeContext) -> Translation:
    return multiply_by(node.get_input(0), node.get_attribute("scale", 1.0))


@translator("ScaledTanh")
def scaled_tanh(node: OnnxNodeContext) -> Translation:
    scaled = multiply_by(node.get_input(0), node.get_attribute("beta", 1.0))
    return multiply_by(ops.Tanh(scaled), node.get_attribute("alpha", 1.0))


@translator("ParametricSoftplus")
def parametric_softplus(node: OnnxNodeContext) -> Translation:
    scaled = multiply_by(node.get_input(0), node.get_attribute("beta", 1.0))
    return multiply_by(ops.SoftPlus(scaled), node.get_attribute("alpha", 1.0))


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
    axes = range(1 if node.get_attribute("across_channels", 0) else 2, rank_of(value))
    # Over the batch axis too, like the default of version 9.
    axes = (0, *axes)
    return ops.MVN(value, int64(axes), bool(node.get_attribute("normalize_variance", 1)), 1e-9, "outside_sqrt")


@translator("DynamicSlice")
def dynamic_slice(node: OnnxNodeContext) -> Translation:
    value, starts, ends = (node.get_input(index) for index in range(3))
    ones = ops.Broadcast(scalar_like(starts, 1), ops.ShapeOf(starts))
    return ops.Slice(value, starts, ends, ones, *([node.get_input(3)] if node.has_input(3) else []))
