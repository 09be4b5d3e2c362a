"""Operators that ONNX once had on trial and took back, which old files still hold."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.onnx.translators.activation import thresholded_relu
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, per_channel, rank_of, scalar_like
from hetero.graph import Constant, Output

translator("ThresholdedRelu")(thresholded_relu)


def _times(value: Output, factor: float) -> Output:
    return ops.Multiply(value, scalar_like(value, factor)).output(0)


@translator("Affine")
def affine(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    return ops.Add(_times(value, node.get_attribute("alpha", 1.0)), scalar_like(value, node.get_attribute("beta", 0.0)))


@translator("Scale")
def scale(node: OnnxNodeContext) -> Translation:
    return _times(node.get_input(0), node.get_attribute("scale", 1.0))


@translator("ScaledTanh")
def scaled_tanh(node: OnnxNodeContext) -> Translation:
    angle = _times(node.get_input(0), node.get_attribute("beta", 1.0))
    return _times(ops.Tanh(angle).output(0), node.get_attribute("alpha", 1.0))


@translator("ParametricSoftplus")
def parametric_softplus(node: OnnxNodeContext) -> Translation:
    scaled = _times(node.get_input(0), node.get_attribute("beta", 1.0))
    return _times(ops.SoftPlus(scaled).output(0), node.get_attribute("alpha", 1.0))


@translator("ImageScaler")
def image_scaler(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    scaled = _times(value, node.get_attribute("scale", 1.0))
    bias = Constant(np.array(node.get_attribute("bias", (0.0,)), value.element_type.to_dtype())).output(0)
    return ops.Add(scaled, per_channel(bias, rank_of(value)))


@translator("Crop")
def crop(node: OnnxNodeContext) -> Translation:
    """What ``border``, left, top, right and bottom, leaves of an image, or of it the height and width of ``scale``."""
    border, lengths = node.get_attribute("border"), node.get_attribute("scale", None)
    if len(border) != 4 or (lengths is not None and len(lengths) != 2):
        raise FrontendError(f"border must be four numbers and scale two, but they are {border} and {lengths}")
    left, top, right, bottom = border
    if lengths is None:
        pads = ((0, 0, -top, -left), (0, 0, -bottom, -right))
        return ops.Pad(node.get_input(0), *map(int64, pads), "constant")
    ends = int64([top + lengths[0], left + lengths[1]])
    return ops.Slice(node.get_input(0), int64([top, left]), ends, int64([1, 1]), int64([2, 3]))


@translator("MeanVarianceNormalization")
def mean_variance_normalization_of_images(node: OnnxNodeContext) -> Translation:
    value = node.get_input(0)
    axes = range(1 if node.get_attribute("across_channels", 0) else 2, rank_of(value))
    # Over the batch too, as the version that stayed has it by default.
    axes = (0, *axes)
    return ops.MVN(value, int64(axes), bool(node.get_attribute("normalize_variance", 1)), 1e-9, "outside_sqrt")


@translator("DynamicSlice")
def dynamic_slice(node: OnnxNodeContext) -> Translation:
    value, starts, ends = (node.get_input(index) for index in range(3))
    ones = ops.Broadcast(scalar_like(starts, 1), ops.ShapeOf(starts))
    return ops.Slice(value, starts, ends, ones, *([node.get_input(3)] if node.has_input(3) else []))
