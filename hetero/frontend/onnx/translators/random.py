"""Random number generators and Dropout, which sets random elements to zero in training mode."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.onnx.node_context import OnnxNodeContext, rows, translator
from hetero.frontend.translation.translators import Row, Translation
from hetero.frontend.translation.values import int64, scalar_like
from hetero.graph import Constant, Output
from hetero.ops.checks import exact_value


def _shape_and_type(node: OnnxNodeContext) -> tuple[Output, Type]:
    """Return the shape and element type of the result, of the attributes or of the input of the "Like" operators."""
    if not node.has_input(0):
        return int64(node.get_attribute("shape")).output(0), node.get_type_attribute("dtype", Type.f32)
    like = node.get_input(0)
    return ops.ShapeOf(like).output(0), node.get_type_attribute("dtype", like.element_type)


def _seed(node: OnnxNodeContext) -> int:
    """Return the bits of the float seed with bit 32 set, so that it is not 0; 0, a random seed, without a seed."""
    if not node.has_attribute("seed"):
        return 0
    return int(np.float32(node.get_attribute("seed")).view(np.uint32)) | 1 << 32


def _uniform(node: OnnxNodeContext, shape: Output, kind: Type, low: float, high: float, stream: int = 1) -> Output:
    """Draw numbers from [low, high). ``stream`` distinguishes several draws with the same seed."""
    limits = (np.array(limit, kind.to_dtype()) for limit in (low, high))
    seed = _seed(node)
    return ops.RandomUniform(shape, *limits, kind, seed, stream if seed else 0).output(0)


@translator("RandomNormal", "RandomNormalLike")
def random_normal(node: OnnxNodeContext) -> Translation:
    """Draw by the method of Box & Muller, "A Note on the Generation of Random Normal Deviates", 1958."""
    shape, kind = _shape_and_type(node)
    number = partial(np.array, dtype=kind.to_dtype())
    radius = ops.Sqrt(ops.Multiply(ops.Log(ops.Subtract(number(1), _uniform(node, shape, kind, 0, 1))), number(-2)))
    angle = _uniform(node, shape, kind, 0, 2 * math.pi, stream=2)
    scaled = ops.Multiply(ops.Multiply(radius, ops.Cos(angle)), number(node.get_attribute("scale", 1.0)))
    return ops.Add(scaled, number(node.get_attribute("mean", 0.0)))


@translator("RandomUniform", "RandomUniformLike")
def random_uniform(node: OnnxNodeContext) -> Translation:
    limits = node.get_attribute("low", 0.0), node.get_attribute("high", 1.0)
    return _uniform(node, *_shape_and_type(node), *limits)


@translator("Bernoulli", since=15)
def bernoulli(node: OnnxNodeContext) -> Translation:
    probability = node.get_input(0)
    random = _uniform(node, ops.ShapeOf(probability).output(0), probability.element_type, 0, 1)
    return ops.Convert(ops.Less(random, probability), node.get_type_attribute("dtype", probability.element_type))


@translator("Multinomial", since=7)
def multinomial(node: OnnxNodeContext) -> Translation:
    seed = _seed(node)
    count = int64(node.get_attribute("sample_size", 1))
    return ops.Multinomial(
        node.get_input(0), count, node.get_type_attribute("dtype", Type.i32), True, True, seed, 1 if seed else 0
    )


# Training mode is supported only as an input, from operator set 12 on. The mask is boolean from version 10 on, and has
# the data's element type before.
rows({
    "Dropout": [
        Row(lambda value: [value, ops.Broadcast(scalar_like(value, 1), ops.ShapeOf(value)).output(0)], 0),
        Row(lambda value: [value, ops.Broadcast(True, ops.ShapeOf(value)).output(0)], 0, since=10),
    ],
})  # fmt: skip


@translator("Dropout", since=12)
def dropout(node: OnnxNodeContext) -> Translation:
    training = node.get_optional_input(2)
    known = None if training is None else exact_value(training)
    value = node.get_input(0)
    if training is None or (known is not None and not known.any()):
        return [value, ops.Broadcast(True, ops.ShapeOf(value)).output(0)]
    ratio = node.get_input(1) if node.has_input(1) else Constant(np.float32(0.5)).output(0)
    random = ops.Convert(_uniform(node, ops.ShapeOf(value).output(0), Type.f32, 0, 1), ratio.element_type)
    mask = ops.LogicalOr(ops.LogicalNot(training), ops.GreaterEqual(random, ratio)).output(0)
    keep_probability = ops.Convert(ops.Subtract(scalar_like(ratio, 1), ratio), value.element_type)
    scaled = ops.Select(training, ops.Divide(value, keep_probability), value)
    result = ops.Select(mask, scaled, scalar_like(value, 0)).output(0)
    return [result, mask]
