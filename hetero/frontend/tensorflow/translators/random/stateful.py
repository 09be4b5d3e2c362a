"""Random numbers of operators with state: each inference continues the sequence.

Types, shapes and distributions are those of TensorFlow, not the numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.tensorflow.node_context import rows
from hetero.frontend.translation.translators import Attr, Row
from hetero.frontend.translation.values import convert_to, int64, reshape
from hetero.graph import Node, Op, Output

# The probability of numbers below -2 in a normal distribution. A truncated one has none of them, nor any above 2.
_TAIL = 0.022750131948179195


def _uniform(shape: Node | Output, seeds: tuple[int, int], low: float = 0, high: float = 1) -> Output:
    """Return f32 numbers uniform in [low, high)."""
    return ops.RandomUniform(shape, np.float32(low), np.float32(high), Type.f32, *seeds).output(0)


def _uniform_numbers(shape: Output, kind: Type, seed: int, seed2: int) -> Output:
    return convert_to(_uniform(shape, (seed, seed2)), kind)


def _uniform_integers(shape: Output, low: Output, high: Output, seed: int, seed2: int) -> Op:
    return ops.RandomUniform(shape, reshape(low, ()), reshape(high, ()), low.element_type, seed, seed2)


def _normal_numbers(shape: Output, kind: Type, seed: int, seed2: int) -> Output:
    """Return normal numbers by the Box-Muller transform.

    Box & Muller, "A Note on the Generation of Random Normal Deviates", 1958.
    """
    # Not 0, whose logarithm is infinite.
    radius = ops.Sqrt(ops.Multiply(ops.Log(_uniform(shape, (seed, seed2), 1e-7, 1)), np.float32(-2)))
    angle = ops.Multiply(_uniform(shape, (seed, seed2)), np.float32(2 * math.pi))
    return convert_to(ops.Multiply(radius, ops.Cos(angle)).output(0), kind)


def _truncated_normal_numbers(shape: Output, kind: Type, seed: int, seed2: int) -> Output:
    """Normal numbers from -2 to 2, by the inverse of their distribution function.

    That of p is √2·erf⁻¹(2p - 1). Winitzki's approximation of erf⁻¹, 2008, is exact to 0.2 %.
    """
    p = _uniform(shape, (seed, seed2), _TAIL, 1 - _TAIL)
    x = ops.Subtract(ops.Multiply(p, np.float32(2)), np.float32(1))
    a = 0.147
    log = ops.Log(ops.Subtract(np.float32(1), ops.Multiply(x, x)))
    half = ops.Add(ops.Multiply(log, np.float32(0.5)), np.float32(2 / (math.pi * a)))
    root = ops.Sqrt(ops.Subtract(ops.Multiply(half, half), ops.Multiply(log, np.float32(1 / a))))
    inverse = ops.Multiply(ops.Sign(x), ops.Sqrt(ops.Subtract(root, half)))
    numbers = ops.Clamp(ops.Multiply(inverse, np.float32(math.sqrt(2))), -2.0, 2.0)
    return convert_to(numbers.output(0), kind)


def _sample_classes(logits: Output, count: Output, kind: Type, seed: int, seed2: int) -> Op:
    """Sample ``count`` classes from each row of logits."""
    return ops.Multinomial(logits, reshape(count, (1,)), kind, True, True, seed, seed2)


def _shuffle(rows: Output, seed: int, seed2: int) -> Op:
    """Order rows by random numbers."""
    count = ops.Gather(ops.ShapeOf(rows), int64([0]), int64(0))
    order = ops.TopK(_uniform(count, (seed, seed2)), reshape(count.output(0), ()), 0, "max", "value", Type.i64)
    return ops.Gather(rows, order.output(1), int64(0))


_SEEDS: dict[str, Any] = {"seed": Attr("seed", 0, int), "seed2": Attr("seed2", 0, int)}
_REAL: dict[str, Any] = {"kind": Attr("dtype", Type.f32), **_SEEDS}
rows(
    {
        "Multinomial": Row(_sample_classes, kind=Attr("output_dtype", Type.i64), **_SEEDS),
        "RandomShuffle": Row(_shuffle, **_SEEDS),
        "RandomStandardNormal": Row(_normal_numbers, 0, **_REAL),
        "RandomUniform": Row(_uniform_numbers, 0, **_REAL),
        "RandomUniformInt": Row(_uniform_integers, **_SEEDS),
        "TruncatedNormal": Row(_truncated_normal_numbers, 0, **_REAL),
    }
)
