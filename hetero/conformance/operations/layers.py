"""Layers: products of matrices, convolutions, poolings and resizing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hetero import Constant, Output, ops
from hetero.conformance.operations.case import FLOATS, NUMBERS, OperationCase, cases

_ROWS, _MATRIX, _IMAGE = (3, 5), (2, 3, 4), (2, 3, 6, 6)
_IMAGES = {
    "axes of length 1": ((1, 3, 1, 1),),
    "strides that do not divide": ((1, 3, 7, 5),),
    "large": ((2, 3, 33, 65),),
}


def _weights(*shape: int) -> np.ndarray:
    """Return an array of numbers from 1 to 4."""
    return (np.arange(math.prod(shape)) % 4 + 1).reshape(shape)


def _constant(x: Output, *shape: int) -> Constant:
    """Return ``_weights`` as a Constant of the element type of a value."""
    return Constant(_weights(*shape).astype(x.element_type.to_dtype()))


def _windows(x: np.ndarray, begin: int, end: int, **padding: Any) -> np.ndarray:
    """Return the 3×3 windows ``[N, C, H, W, 3, 3]`` of padded images ``[N, C, H, W]``; ``padding``: of numpy.pad."""
    padded = np.pad(x, ((0, 0), (0, 0), (begin, end), (begin, end)), **padding)
    return np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))


def _average_pool(x: np.ndarray) -> np.ndarray:
    """Average the elements of windows, without the padding."""
    sums, counts = (_windows(each, 0, 1)[:, :, ::2, ::2].sum((4, 5)) for each in (x, np.ones_like(x)))
    return sums / counts


def _max_pool(x: np.ndarray) -> np.ndarray:
    # Padding by the edge does not change a maximum.
    return _windows(x, 0, 1, mode="edge")[:, :, ::2, ::2].max((4, 5))


def _convolution(x: np.ndarray) -> np.ndarray:
    return np.einsum("nchwij,ocij->nohw", _windows(x, 1, 1), _weights(4, 3, 3, 3))


def _group_convolution(x: np.ndarray) -> np.ndarray:
    return np.einsum("nchwij,cij->nchw", _windows(x, 1, 1)[:, :, ::2, ::2], _weights(3, 3, 3))


def _interpolate(x: np.ndarray) -> np.ndarray:
    """Resize to 12 elements per axis; element i is at (i + 0.5) · length / 12 - 0.5, between its neighbors."""
    return _resizing(x.shape[2]) @ x @ _resizing(x.shape[3]).T


def _resizing(length: int) -> np.ndarray:
    distance = np.abs(((np.arange(12) + 0.5) * length / 12 - 0.5)[:, None] - np.arange(length))
    weights = np.maximum(0, 1 - distance)
    return weights / weights.sum(1, keepdims=True)


LAYERS = (
    *cases((_ROWS,), FLOATS, {
        "MatMul": (lambda x: ops.MatMul(x, _constant(x, 5, 6), False, False), lambda x: x @ _weights(5, 6)),
    }, {
        "rank 1": ((5,),), "rank 6": ((1, 2, 1, 2, 3, 5),), "axes of length 1": ((1, 5),), "empty": ((0, 5),),
        "large": ((301, 5),),
    }),
    *cases((_ROWS,), FLOATS, {
        "PRelu": (lambda x: ops.PRelu(x, _constant(x, 5)), lambda x: np.where(x > 0, x, x * _weights(5))),
    }, {"axes of length 1": ((1, 5),), "empty": ((0, 5),), "large": ((301, 5),)}),
    *cases((_IMAGE,), FLOATS, {
        "AvgPool": (lambda x: ops.AvgPool(x, [2, 2], [0, 0], [1, 1], [3, 3], True), _average_pool),
        "Convolution": (
            lambda x: ops.Convolution(x, _constant(x, 4, 3, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]), _convolution,
        ),
        "GroupConvolution": (
            lambda x: ops.GroupConvolution(x, _constant(x, 3, 1, 1, 3, 3), [2, 2], [1, 1], [1, 1], [1, 1]),
            _group_convolution,
        ),
    }, {"large": ((2, 3, 34, 66),)}),
    *cases((_IMAGE,), FLOATS, {
        "Interpolate": (lambda x: ops.Interpolate(x, [12, 12], "linear", "sizes", axes=[2, 3]), _interpolate),
    }, {"axes of length 1": ((1, 3, 6, 1),)}),
    OperationCase(
        "MatMul of two inputs", lambda a, b: ops.MatMul(a, b, False, True), lambda a, b: a @ b.swapaxes(-1, -2),
        (_MATRIX, (2, 5, 4)), NUMBERS, more_shapes={
            "rank 6": ((2, 1, 1, 2, 3, 4), (2, 1, 1, 2, 5, 4)), "axes of length 1": ((1, 1, 1), (1, 1, 1)),
            "empty": ((2, 3, 0), (2, 5, 0)), "large": ((2, 65, 300), (2, 33, 300)),
        },
    ),
    OperationCase("MaxPool", lambda x: ops.MaxPoolV1(x, [2, 2], [0, 0], [1, 1], [3, 3]), _max_pool, (_IMAGE,), NUMBERS,
                  more_shapes={"large": ((2, 3, 34, 66),)}),
)  # fmt: skip
