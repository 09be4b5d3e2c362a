"""Operations along an axis: reductions, normalizations, cumulative sums and selections."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hetero import Op, Type, ops
from hetero.conformance.operations.case import FLOATS, NUMBERS, Formula, Formulas, OperationCase, cases

_ROWS, _MATRIX = (3, 5), (2, 3, 4)
# Over axis 1, or over the last one.
_ALONG = {
    "rank 6": ((2, 3, 1, 2, 2, 2),),
    "axes of length 1": ((1, 4, 1, 3),),
    "reduced axis of length 1": ((3, 1, 4),),
    "empty": ((2, 3, 0),),
    "large": ((3, 1031, 2),),
}
_LAST = {
    "rank 1": ((7,),),
    "rank 6": ((2, 1, 3, 2, 1, 5),),
    "axes of length 1": ((1, 4, 1, 3),),
    "reduced axis of length 1": ((3, 4, 1),),
    "empty": ((0, 3, 2),),
    "large": ((3, 2, 1031),),
}

_REDUCTIONS: Formulas = {
    ops.ReduceL1: lambda x, axis, keepdims: np.sum(np.abs(x), axis, x.dtype, keepdims=keepdims),
    ops.ReduceL2: lambda x, axis, keepdims: np.sqrt(np.sum(np.square(x.astype(np.float64)), axis, keepdims=keepdims)),
    ops.ReduceMax: lambda x, axis, keepdims: np.max(x, axis, keepdims=keepdims),
    ops.ReduceMean: lambda x, axis, keepdims: x.mean(axis, np.float64, keepdims=keepdims),
    ops.ReduceMin: lambda x, axis, keepdims: np.min(x, axis, keepdims=keepdims),
    ops.ReduceProd: lambda x, axis, keepdims: np.prod(x, axis, x.dtype, keepdims=keepdims),
    ops.ReduceSum: lambda x, axis, keepdims: np.sum(x, axis, x.dtype, keepdims=keepdims),
}
_LOGICAL: Formulas = {
    ops.ReduceLogicalAnd: lambda x, axis, keepdims: np.asarray(np.all(x, axis, keepdims=keepdims)),
    ops.ReduceLogicalOr: lambda x, axis, keepdims: np.asarray(np.any(x, axis, keepdims=keepdims)),
}


def _reductions(formulas: Formulas, kinds: tuple[Type, ...]) -> list[OperationCase]:
    """Return each reduction over axis 1, which stays with length 1, and over the last axis, which goes."""
    made = []
    for kind, formula in formulas.items():
        name = kind.type_info.name
        made.append(_reduction(name, kind, formula, (1, True), kinds, _ALONG))
        made.append(_reduction(f"{name} of the last axis", kind, formula, (-1, False), kinds, _LAST))
    return made


def _reduction(
    name: str,
    kind: type[Op],
    formula: Formula,
    over: tuple[int, bool],
    kinds: tuple[Type, ...],
    more_shapes: Mapping[str, tuple[tuple[int, ...], ...]],
) -> OperationCase:
    """Return a reduction ``over`` an axis, which stays or goes."""
    axis, keep = over
    return OperationCase(
        name, lambda x: kind(x, [axis], keep), lambda x: formula(x, axis, keep), (_MATRIX,), kinds,
        more_shapes=more_shapes,
    )  # fmt: skip


def _softmax(x: np.ndarray, axis: int = 1) -> np.ndarray:
    exponentials = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
    return exponentials / exponentials.sum(axis, keepdims=True)


def _log_softmax(x: np.ndarray) -> np.ndarray:
    shifted = x - x.max(1, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def _mvn(x: np.ndarray) -> np.ndarray:
    return (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5)


def _best(x: np.ndarray, count: int, largest: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the best elements along axis 1 and their indices, on ties the first; NaN is above all numbers."""
    rank = np.searchsorted(np.unique(x), x)  # NaN is the last of the unique values
    indices = np.argsort(-rank if largest else rank, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(x, indices, 1), indices.astype(np.int32)


REDUCTIONS = (
    *_reductions(_REDUCTIONS, NUMBERS),
    *_reductions(_LOGICAL, (Type.boolean,)),
    *cases((_ROWS,), NUMBERS, {
        "TopK": (lambda x: ops.TopK(x, 2, 1, "max", "value"), lambda x: _best(x, 2, True)),
        "TopK of the smallest": (lambda x: ops.TopK(x, 2, 1, "min", "value"), lambda x: _best(x, 2, False)),
    }, {name: shapes for name, shapes in _ALONG.items() if name != "reduced axis of length 1"}),
    *cases((_ROWS,), NUMBERS, {
        "ArgMax": (lambda x: ops.TopK(x, 1, 1, "max", "none"), lambda x: _best(x, 1, True)),
        "CumSum": (lambda x: ops.CumSum(x, 1), lambda x: np.cumsum(x, 1, x.dtype)),
    }, _ALONG),
    *cases((_MATRIX,), FLOATS, {
        "NormalizeL2": (
            lambda x: ops.NormalizeL2(x, [1], 1e-6, "add"),
            lambda x: x / np.sqrt(np.square(x).sum(1, keepdims=True) + 1e-6),
        ),
        "Softmax": (lambda x: ops.Softmax(x, 1), _softmax),
        "Softmax of the last axis": (lambda x: ops.Softmax(x, -1), lambda x: _softmax(x, -1)),
        "LogSoftmax": (lambda x: ops.LogSoftmax(x, 1), _log_softmax),
    }, _ALONG),
    *cases((_MATRIX,), FLOATS, {"MVN": (lambda x: ops.MVN(x, [1, 2], True, 1e-5, "inside_sqrt"), _mvn)}, {}),
)  # fmt: skip
