"""Random numbers: their types, shapes and distributions are those of TensorFlow, not the numbers."""

from __future__ import annotations

import math

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, reshape
from hetero.graph import Constant, Node, Output

# The probability of numbers below -2 in a normal distribution. A truncated one has none of them, nor any above 2.
_TAIL = 0.022750131948179195


def _uniform(node: TensorflowNodeContext, shape: Node | Output, low: float = 0, high: float = 1) -> Output:
    """Return f32 numbers uniform in [low, high)."""
    limits = (np.array(limit, np.float32) for limit in (low, high))
    seeds = (node.get_attribute(name, 0, int) for name in ("seed", "seed2"))
    return ops.RandomUniform(shape, *limits, Type.f32, *seeds).output(0)


def _result_type(node: TensorflowNodeContext) -> Type:
    return node.get_attribute("dtype", Type.f32)


@translator("RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2")
def uniform(node: TensorflowNodeContext) -> Translation:
    return convert_to(_uniform(node, node.get_input(0)), _result_type(node))


@translator("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg", "StatelessRandomGetAlg")
def generator_state(node: TensorflowNodeContext) -> Translation:
    """The key, the counter and the algorithm of a generator, which do not matter here."""
    values = [np.zeros(1, np.uint64), np.zeros(2, np.uint64), np.array(1, np.int32)]
    first = 2 if node.get_op_type().endswith("GetAlg") else 0
    return [Constant(value) for value in values[first:]]


@translator("RandomUniformInt")
def uniform_integers(node: TensorflowNodeContext) -> Translation:
    shape, low, high = node.get_inputs()
    return _integers(node, shape, low, high)


@translator("StatelessRandomUniformInt")
def stateless_uniform_integers(node: TensorflowNodeContext) -> Translation:
    """Input 1 is the seed."""
    shape, _, low, high = node.get_inputs()
    return _integers(node, shape, low, high)


@translator("StatelessRandomUniformIntV2")
def stateless_uniform_integers_v2(node: TensorflowNodeContext) -> Translation:
    """Inputs 1 to 3 are the key, the counter and the algorithm of the generator."""
    shape, _, _, _, low, high = node.get_inputs()
    return _integers(node, shape, low, high)


def _integers(node: TensorflowNodeContext, shape: Output, low: Output, high: Output) -> Node:
    seeds = (node.get_attribute(name, 0, int) for name in ("seed", "seed2"))
    return ops.RandomUniform(shape, reshape(low, ()), reshape(high, ()), low.element_type, *seeds)


@translator("RandomStandardNormal", "StatelessRandomNormal", "StatelessRandomNormalV2")
def normal(node: TensorflowNodeContext) -> Translation:
    """By the Box-Muller transform: Box & Muller, "A Note on the Generation of Random Normal Deviates", 1958."""
    shape = node.get_input(0)
    # Not 0, whose logarithm is infinite.
    radius = ops.Sqrt(ops.Multiply(ops.Log(_uniform(node, shape, 1e-7, 1)), np.float32(-2)))
    angle = ops.Multiply(_uniform(node, shape), np.float32(2 * math.pi))
    return convert_to(ops.Multiply(radius, ops.Cos(angle)).output(0), _result_type(node))


@translator("TruncatedNormal", "StatelessTruncatedNormal", "StatelessTruncatedNormalV2")
def truncated_normal(node: TensorflowNodeContext) -> Translation:
    """Normal numbers from -2 to 2, by the inverse of their distribution function.

    That of p is √2·erf⁻¹(2p - 1). Winitzki's approximation of erf⁻¹, 2008, is exact to 0.2 %.
    """
    p = _uniform(node, node.get_input(0), _TAIL, 1 - _TAIL)
    x = ops.Subtract(ops.Multiply(p, np.float32(2)), np.float32(1))
    a = 0.147
    log = ops.Log(ops.Subtract(np.float32(1), ops.Multiply(x, x)))
    half = ops.Add(ops.Multiply(log, np.float32(0.5)), np.float32(2 / (math.pi * a)))
    root = ops.Sqrt(ops.Subtract(ops.Multiply(half, half), ops.Multiply(log, np.float32(1 / a))))
    inverse = ops.Multiply(ops.Sign(x), ops.Sqrt(ops.Subtract(root, half)))
    numbers = ops.Clamp(ops.Multiply(inverse, np.float32(math.sqrt(2))), -2.0, 2.0)
    return convert_to(numbers.output(0), _result_type(node))


@translator("Multinomial")
def multinomial(node: TensorflowNodeContext) -> Translation:
    """Sample classes from rows of logits; input 1 is the number of samples of each row."""
    logits, count = node.get_inputs()
    kind = node.get_attribute("output_dtype", Type.i64)
    seeds = (node.get_attribute(name, 0, int) for name in ("seed", "seed2"))
    return ops.Multinomial(logits, reshape(count, (1,)), kind, True, True, *seeds)


@translator("RandomShuffle")
def shuffle(node: TensorflowNodeContext) -> Translation:
    """Order rows by random numbers."""
    rows = node.get_input(0)
    count = ops.Gather(ops.ShapeOf(rows), int64([0]), int64(0))
    order = ops.TopK(_uniform(node, count), reshape(count.output(0), ()), 0, "max", "value", Type.i64)
    return ops.Gather(rows, order.output(1), int64(0))
