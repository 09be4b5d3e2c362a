"""Complex numbers and Fourier transforms.

A complex tensor is a real one with an additional last axis: real part, imaginary part. The shapes and axes in the file
do not count that axis.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from hetero import ops
from hetero.frontend.numerics.complex_numbers import complex_from_parts, conjugate, real_and_imaginary
from hetero.frontend.numerics.elementwise import atan2
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, rows, translator
from hetero.frontend.translation.translators import Row, Translation
from hetero.frontend.translation.values import int64, rank_of, scalar_like
from hetero.graph import Node, Op, Output

# The operators that translators translate for complex numbers too.
_NAMES = """
AccumulateNV2 Add AddN AddV2 Angle AsString BatchMatMul BatchMatMulV2 BatchMatMulV3 BatchToSpaceND BiasAdd BroadcastTo
Cast Complex ComplexAbs Concat ConcatV2 Conj ConjugateTranspose Const Div DynamicPartition DynamicStitch EnsureShape Exp
ExpandDims Fill Gather GatherNd GatherV2 Identity Imag MatMul Mean MirrorPad Mul Neg OnesLike Pack Pad PadV2
ParallelDynamicStitch PlaceholderWithDefault PreventGradient Rank Real RealDiv Reshape ReverseSequence ReverseV2 Roll
SegmentSum Select SelectV2 Shape ShapeN Size Slice Snapshot SpaceToBatchND Split SplitV Square Squeeze StopGradient
StridedSlice Sub Sum TensorScatterAdd TensorScatterSub TensorScatterUpdate Tile Transpose Unpack UnsortedSegmentSum
ZerosLike
"""


COMPLEX_OPERATORS = frozenset(_NAMES.split())


def own_axis(node: TensorflowNodeContext, axis: int, attribute: str = "T") -> int:
    """Return an axis in the file as one of the tensor: negative axes do not count that of the parts."""
    return axis - 1 if axis < 0 and node.is_complex(attribute) else axis


def own_shape(node: TensorflowNodeContext, shape: Output, attribute: str = "T") -> Output:
    """Return a shape in the file as that of the tensor, which has an axis of two parts if it is complex."""
    if not node.is_complex(attribute):
        return shape
    return ops.Concat([shape, np.array([2], shape.element_type.to_dtype())], 0).output(0)


def _complex_of(real: Output, imaginary: Output) -> Output:
    """Join real and imaginary parts, which broadcast."""
    zero = scalar_like(real, 0)
    return complex_from_parts(
        ops.Add(real, ops.Multiply(imaginary, zero)), ops.Add(imaginary, ops.Multiply(real, zero))
    )


def _angle(value: Output) -> Op:
    real, imaginary = real_and_imaginary(value)
    return atan2(imaginary, real)


rows(
    {
        "Angle": Row(_angle),
        "Complex": Row(_complex_of),
        "ComplexAbs": Row(lambda value: ops.ReduceL2(value, int64([-1]), False)),
        "Imag": Row(lambda value: real_and_imaginary(value)[1]),
        "Real": Row(lambda value: real_and_imaginary(value)[0]),
    }
)


def matmul_complex(left: Output, right: Output, swap_left: bool, swap_right: bool, is_adjoint: bool) -> Output:
    """Multiply complex matrices, or their transposes: their adjoints if ``is_adjoint`` is set."""
    left = conjugate(left) if swap_left and is_adjoint else left
    right = conjugate(right) if swap_right and is_adjoint else right
    (a, b), (c, d) = real_and_imaginary(left), real_and_imaginary(right)

    def product(x: Output, y: Output) -> Node:
        return ops.MatMul(x, y, swap_left, swap_right)

    return complex_from_parts(ops.Subtract(product(a, c), product(b, d)), ops.Add(product(a, d), product(b, c)))


rows({"Conj": lambda node: conjugate(node.get_input(0)) if node.is_complex() else node.get_input(0)})


@translator("ConjugateTranspose")
def conjugate_transpose(node: TensorflowNodeContext) -> Translation:
    value, order = node.get_inputs()
    if not node.is_complex():
        return ops.Transpose(value, order)
    last = np.array([rank_of(value) - 1], order.element_type.to_dtype())
    return conjugate(ops.Transpose(value, ops.Concat([order, last], 0)).output(0))


def _transform(operation: type[Op], count: int, value: Output, *lengths: Output) -> Op:
    """Transform the last ``count`` axes, truncated or zero-padded to the lengths, which real transforms have."""
    rank = rank_of(value) - (operation is not ops.RDFT)
    return operation(value, int64(range(rank - count, rank)), *lengths)


rows(
    {
        f"{name}{dimensions}": Row(partial(_transform, operation, count))
        for name, operation in {"FFT": ops.DFT, "IFFT": ops.IDFT, "RFFT": ops.RDFT, "IRFFT": ops.IRDFT}.items()
        for dimensions, count in {"": 1, "2D": 2, "3D": 3}.items()
    }
)
