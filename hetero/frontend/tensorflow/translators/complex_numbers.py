"""Complex numbers and Fourier transforms.

A complex tensor is a real one with an additional last axis: real part, imaginary part. The shapes and axes in the file
do not count that axis.
"""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.numerics.complex_numbers import complex_from_parts, multiply_complex, real_and_imaginary
from hetero.frontend.numerics.elementwise import atan2 as angle_of
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, rank_of, scalar_like
from hetero.graph import Node, Output

# The operators that translators translate for complex numbers too.
_NAMES = """
AccumulateNV2 Add AddN AddV2 Angle BatchMatMul BatchMatMulV2 BatchMatMulV3 BatchToSpaceND BiasAdd BroadcastTo Cast
Complex ComplexAbs Concat ConcatV2 Conj ConjugateTranspose Const Div DynamicPartition DynamicStitch EnsureShape Exp
ExpandDims Fill Gather GatherNd GatherV2 Identity Imag MatMul Mean MirrorPad Mul Neg OnesLike Pack Pad PadV2
ParallelDynamicStitch PlaceholderWithDefault PreventGradient Rank Real RealDiv Reshape ReverseSequence ReverseV2 Roll
SegmentSum Select SelectV2 Shape ShapeN Size Slice Snapshot SpaceToBatchND Split SplitV Square Squeeze StopGradient
StridedSlice Sub Sum TensorScatterAdd TensorScatterSub TensorScatterUpdate Tile Transpose Unpack UnsortedSegmentSum
ZerosLike
"""
COMPLEX_OPERATORS = frozenset(_NAMES.split())


def conjugate(value: Output) -> Output:
    """Negate the imaginary part."""
    return ops.Multiply(value, np.array([1, -1], value.element_type.to_dtype())).output(0)


def divide_complex(left: Output, right: Output) -> Output:
    """Divide two complex values element by element."""
    square = ops.ReduceSum(ops.Multiply(right, right), int64([-1]), True)
    return ops.Divide(multiply_complex(left, conjugate(right)), square).output(0)


@translator("Complex")
def complex_operator(node: TensorflowNodeContext) -> Translation:
    """Real and imaginary part broadcast."""
    real, imaginary = node.get_inputs()
    zero = scalar_like(real, 0)
    return complex_from_parts(
        ops.Add(real, ops.Multiply(imaginary, zero)), ops.Add(imaginary, ops.Multiply(real, zero))
    )


@translator("Real", "Imag")
def real_or_imaginary_part(node: TensorflowNodeContext) -> Translation:
    return real_and_imaginary(node.get_input(0))[node.get_op_type() == "Imag"]


def matmul_complex(left: Output, right: Output, swap_left: bool, swap_right: bool, is_adjoint: bool) -> Output:
    """Multiply complex matrices, or their transposes: their adjoints if ``is_adjoint`` is set."""
    left = conjugate(left) if swap_left and is_adjoint else left
    right = conjugate(right) if swap_right and is_adjoint else right
    (a, b), (c, d) = real_and_imaginary(left), real_and_imaginary(right)

    def product(x: Output, y: Output) -> Node:
        return ops.MatMul(x, y, swap_left, swap_right)

    return complex_from_parts(ops.Subtract(product(a, c), product(b, d)), ops.Add(product(a, d), product(b, c)))


def exp_complex(value: Output) -> Output:
    """Return e^(a + bi) = e^a (cos b + i sin b)."""
    real, imaginary = real_and_imaginary(value)
    size = ops.Exp(real)
    return complex_from_parts(ops.Multiply(size, ops.Cos(imaginary)), ops.Multiply(size, ops.Sin(imaginary)))


@translator("ComplexAbs")
def magnitude(node: TensorflowNodeContext) -> Translation:
    return ops.ReduceL2(node.get_input(0), int64([-1]), False)


@translator("Angle")
def angle(node: TensorflowNodeContext) -> Translation:
    real, imaginary = real_and_imaginary(node.get_input(0))
    return angle_of(imaginary, real)


@translator("Conj")
def conjugate_operator(node: TensorflowNodeContext) -> Translation:
    return conjugate(node.get_input(0)) if node.is_complex() else node.get_input(0)


@translator("ConjugateTranspose")
def conjugate_transpose(node: TensorflowNodeContext) -> Translation:
    value, order = node.get_inputs()
    if not node.is_complex():
        return ops.Transpose(value, order)
    last = np.array([rank_of(value) - 1], order.element_type.to_dtype())
    return conjugate(ops.Transpose(value, ops.Concat([order, last], 0)).output(0))


def _names(name: str) -> list[str]:
    return [name, f"{name}2D", f"{name}3D"]


@translator(*_names("FFT"), *_names("IFFT"))
def fourier_transform(node: TensorflowNodeContext) -> Translation:
    operation = ops.IDFT if node.get_op_type().startswith("I") else ops.DFT
    return operation(node.get_input(0), int64(_last_axes(node, rank_of(node.get_input(0)) - 1)))


@translator(*_names("RFFT"), *_names("IRFFT"))
def real_fourier_transform(node: TensorflowNodeContext) -> Translation:
    """Input 1 has the lengths to which the axes of the signal are truncated or zero-padded."""
    is_inverse = node.get_op_type().startswith("I")
    value, lengths = node.get_inputs()
    axes = _last_axes(node, rank_of(value) - is_inverse)
    return (ops.IRDFT if is_inverse else ops.RDFT)(value, int64(axes), lengths)


def _last_axes(node: TensorflowNodeContext, rank: int) -> list[int]:
    """Return the axes of the transform, as many as the operator's name ends with, by default one."""
    name = node.get_op_type()
    count = int(name[-2]) if name.endswith("D") else 1
    return list(range(rank - count, rank))
