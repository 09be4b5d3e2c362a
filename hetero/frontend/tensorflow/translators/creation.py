"""Constants, identities, shapes, new tensors, conversions of element types, and random numbers.

The types, shapes and distributions of random numbers are those of TensorFlow, not the numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.movement import broadcast_shapes
from hetero.frontend.numerics.spacing import linspace
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, Values, rows, translator
from hetero.frontend.tensorflow.translators.signal import own_shape
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import convert_to, int64, rank_of, reshape, scalar_like
from hetero.graph import Constant, Node, Op, Output
from hetero.system.errors import FrontendError


@translator("Const")
def constant(node: TensorflowNodeContext) -> Translation:
    """A complex constant becomes a real one with an additional last axis."""
    array = node.get_attribute("value")
    if np.iscomplexobj(array):
        array = np.stack([array.real, array.imag], -1)
    return Constant(array)


@translator(
    "Identity",
    "Snapshot",
    "StopGradient",
    "PreventGradient",
    "CheckNumerics",
    "CheckNumericsV2",
    "EnsureShape",
    "PlaceholderWithDefault",
)
def identity(node: TensorflowNodeContext) -> Values:
    """The first input, which may be a resource; messages and gradients do not matter."""
    return node.get_values()[:1]


rows(
    {
        "IdentityN": lambda node: node.get_values(),
        "Size": lambda node: ops.ReduceProd(_shape_of(node, node.get_input(0)), int64([0]), False),
        "Rank": lambda node: Constant(np.array(rank_of(node.get_input(0)) - node.is_complex(), np.int32)),
        "Fill": lambda node: ops.Broadcast(node.get_input(1), own_shape(node, node.get_input(0))),
        "BroadcastTo": lambda node: ops.Broadcast(node.get_input(0), own_shape(node, node.get_input(1))),
        **dict.fromkeys(("NoOp", "Assert", "DisableCopyOnRead"), lambda node: []),
        **dict.fromkeys(("Shape", "ShapeN"), lambda node: [_shape_of(node, value) for value in node.get_inputs()]),
    }
)


@translator("Placeholder", "PlaceholderV2")
def unexpected_input(node: TensorflowNodeContext) -> Translation:
    """The inputs of the model are Parameters already."""
    raise FrontendError("it is not an input of the signature, or its element type is not supported")


def _shape_of(node: TensorflowNodeContext, value: Output) -> Output:
    """Return the shape of a value; of a complex one, without the axis of real and imaginary parts."""
    lengths = ops.ShapeOf(value, node.get_attribute("out_type", Type.i32)).output(0)
    if not node.is_complex():
        return lengths
    return ops.Slice(lengths, int64([0]), int64([-1]), int64([1])).output(0)


@translator("ZerosLike", "OnesLike")
def constant_like(node: TensorflowNodeContext) -> Translation:
    value, number = node.get_input(0), int(node.get_op_type() == "OnesLike")
    start = scalar_like(value, number)
    if node.is_complex():
        start = Constant(np.array([number, 0], value.element_type.to_dtype()))
    return ops.Broadcast(start, ops.ShapeOf(value))


def _empty(shape: Output, kind: Type) -> Op:
    """Return a tensor of any contents: zeros or empty strings."""
    return ops.Broadcast(Constant(np.zeros((), kind.to_dtype())), shape)


rows(
    {
        "BroadcastArgs": Row(broadcast_shapes), "Empty": Row(_empty, 0, kind=Attr("dtype")),
        "LinSpace": Row(lambda start, stop, count: linspace(start, stop, reshape(convert_to(count, Type.i64), ()))),
        "OneHot": Row(
            lambda indices, *numbers, axis: ops.OneHot(indices, *(reshape(number, ()) for number in numbers), axis),
            axis=Attr("axis", -1, int),
        ),
        "Range": Row(lambda start, limit, delta: ops.Range(start, limit, delta, start.element_type)),
    }
)  # fmt: skip


@translator("Cast")
def cast(node: TensorflowNodeContext) -> Translation:
    """A complex value converts to its real part."""
    value = node.get_input(0)
    if node.is_complex("SrcT"):
        if node.is_complex("DstT"):
            return convert_to(value, node.part_type("DstT"))
        value = ops.Gather(value, int64(0), int64(-1)).output(0)
    if not node.is_complex("DstT"):
        return _cast(value, node.get_attribute("DstT"))
    real = ops.Unsqueeze(convert_to(value, node.part_type("DstT")), int64([-1])).output(0)
    return ops.Concat([real, ops.Multiply(real, scalar_like(real, 0))], -1)


def _cast(value: Output, element_type: Type) -> Output:
    if element_type is Type.boolean and value.element_type is not Type.boolean:
        return ops.NotEqual(value, np.zeros((), value.element_type.to_dtype())).output(0)
    return convert_to(value, element_type)


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
        "StatelessRandomNormal": Row(_normal_numbers, 0, **_REAL),
        "StatelessRandomNormalV2": Row(_normal_numbers, 0, **_REAL),
        "StatelessRandomUniform": Row(_uniform_numbers, 0, **_REAL),
        "StatelessRandomUniformInt": Row(_uniform_integers, 0, 2, 3, **_SEEDS),
        "StatelessRandomUniformIntV2": Row(_uniform_integers, 0, 4, 5, **_SEEDS),
        "StatelessRandomUniformV2": Row(_uniform_numbers, 0, **_REAL),
        "StatelessTruncatedNormal": Row(_truncated_normal_numbers, 0, **_REAL),
        "StatelessTruncatedNormalV2": Row(_truncated_normal_numbers, 0, **_REAL),
        "TruncatedNormal": Row(_truncated_normal_numbers, 0, **_REAL),
    }
)


@translator("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg", "StatelessRandomGetAlg")
def generator_state(node: TensorflowNodeContext) -> Translation:
    """The key, the counter and the algorithm of a generator, which do not matter here."""
    values = [np.zeros(1, np.uint64), np.zeros(2, np.uint64), np.array(1, np.int32)]
    first = 2 if node.get_op_type().endswith("GetAlg") else 0
    return [Constant(value) for value in values[first:]]
