"""Products of matrices with compressed weights: integers and small floats with scales and zero points in every form."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hetero import Constant, Op, Output, Type, ops
from hetero.conformance.operations.case import OperationCase

_OUTPUTS, _COMMON, _BLOCK = 16, 64, 32
_SHAPES = {
    "rank 1": ((_COMMON,),),
    "rank 6": ((1, 2, 1, 2, 3, _COMMON),),
    "axes of length 1": ((1, _COMMON),),
    "large": ((40, _COMMON),),
}
# The shapes of scales of weights [N, K].
_SCALES = {
    "one scale": (),
    "scales of N": (_OUTPUTS, 1),
    "scales of K": (1, _COMMON),
    "scales of N and K": (_OUTPUTS, _COMMON),
    "scales of blocks": (_OUTPUTS, _COMMON // _BLOCK, 1),
}
_INTEGERS = {
    Type.i2: (-2, 2),
    Type.u2: (0, 4),
    Type.i4: (-8, 8),
    Type.u4: (0, 16),
    Type.i8: (-128, 128),
    Type.u8: (0, 256),
}
_FLOATS = (Type.f8e4m3, Type.f8e5m2)


def _elements(kind: Type, shape: tuple[int, ...], seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    if kind in _INTEGERS:
        return generator.integers(*_INTEGERS[kind], shape).astype(kind.to_dtype())
    return generator.uniform(-2, 2, shape).astype(kind.to_dtype())


def _of_weights(kind: Type, scales: str, zero_points: str, transposed: bool) -> OperationCase:
    """Return a product of rows with weights [N, K], or [K, N] if they are not transposed."""
    shape = (_OUTPUTS, _COMMON // _BLOCK, _BLOCK) if scales == "scales of blocks" else (_OUTPUTS, _COMMON)
    elements = _elements(kind, shape, 0)
    # Powers of 2, so that f16 is exact.
    scale = np.exp2(np.random.default_rng(1).integers(-6, -3, _SCALES[scales])).astype(np.float32)
    points = {"": None, "one": (), "many": scale.shape}[zero_points]
    zero_point = None if points is None else np.abs(_elements(kind, points, 2).astype(np.int32)).astype(kind.to_dtype())
    numbers = elements.astype(np.float64) - (0 if zero_point is None else zero_point.astype(np.float64))
    weights = (numbers * scale).reshape(_OUTPUTS, _COMMON)
    if not transposed:
        elements, scale = elements.T, scale.T
        zero_point = None if zero_point is None else zero_point.T

    def build(x: Output) -> Op:
        wide = x.element_type
        result = ops.Convert(Constant(elements), wide).output(0)
        if zero_point is not None:
            result = ops.Subtract(result, ops.Convert(Constant(zero_point), wide)).output(0)
        result = ops.Multiply(result, Constant(scale.astype(wide.to_dtype()))).output(0)
        if elements.ndim == 3:
            result = ops.Reshape(result, [_OUTPUTS, _COMMON], False).output(0)
        return ops.MatMul(x, result, False, transposed)

    points_name = {"": "", "one": ", one zero point", "many": ", zero points"}[zero_points]
    return OperationCase(
        f"MatMul of {kind} weights, {scales}{points_name}{'' if transposed else ', not transposed'}",
        build, lambda x: x @ weights.T, ((3, _COMMON),), (Type.f32, Type.f16), more_shapes=_SHAPES, batched=False,
    )  # fmt: skip


def _cases() -> Iterator[OperationCase]:
    for kind in (*_INTEGERS, *_FLOATS):
        for scales in _SCALES:
            for zero_points in ("", "one", "many") if kind in _INTEGERS else ("",):
                yield _of_weights(kind, scales, zero_points, True)
                if scales != "scales of blocks":
                    yield _of_weights(kind, scales, zero_points, False)


WEIGHTS: tuple[OperationCase, ...] = tuple(_cases())
