"""Element-wise operations with one input, and Fused, whose operations run one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.reference.program import Program
from hetero.reference.registry import Array, Run, Runner, evaluates, prepares, register_functions

register_functions(
    {ops.Abs: np.abs, ops.Ceiling: np.ceil, ops.Floor: np.floor, ops.Negative: np.negative, ops.Sign: np.sign},
    in_f32=True,
)

# erf(x) is approximated by tanh(x · P(x²)) for |x| < _ERF_END. The coefficients are our own minimax fit of
# atanh(erf(x)) / x; the relative error of erf is 1e-8 in exact arithmetic, 1.2e-7 when computed in f32.
_ERF_END = 4.2  # from here on tanh is exactly 1 in f32; GELU of large negative numbers needs that
_ERF_P = (
    1.12837918, 0.102772165, -0.000206651883, -0.000595310508, 6.93230123e-05, 1.32562778e-06, -1.28873378e-06,
    1.56119765e-07, -8.46587199e-09, 1.78640907e-10,
)  # fmt: skip
_exact_erf = np.frompyfunc(math.erf, 1, 1)
# Elements per block, so that intermediate results stay in the processor's cache.
_BLOCK = 1 << 14


def by_blocks(function: Callable[[Array, Array], None], x: Array) -> Array:
    """Apply ``function(part, out)`` block by block to the elements of ``x``, and return the result in a new array."""
    result = np.empty(x.shape, x.dtype)
    source, target = x.reshape(-1), result.reshape(-1)
    for start in range(0, x.size, _BLOCK):
        function(source[start : start + _BLOCK], target[start : start + _BLOCK])
    return result


def erf_into(x: Array, out: Array) -> None:
    """Compute the error function of f32 numbers with a relative error of 1.2e-7, or of f64 numbers exactly."""
    if x.dtype == np.float64:
        out[...] = _exact_erf(x)
        return
    part = np.clip(x, -_ERF_END, _ERF_END)
    square = part * part
    polynomial = np.full_like(part, _ERF_P[-1])
    for coefficient in reversed(_ERF_P[:-1]):
        polynomial *= square
        polynomial += x.dtype.type(coefficient)
    polynomial *= part
    np.tanh(polynomial, out)


def erf(x: Array) -> Array:
    return by_blocks(erf_into, x)


# Coefficients of the rational functions in three ranges: M. Wichura, "Algorithm AS 241: The Percentage Points of the
# Normal Distribution", Applied Statistics 37, 1988. Their relative error is 1e-16.
_CENTER = (
    (3.387132872796366608, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125, 45921.953931549871457,
     67265.770927008700853, 33430.575583588128105, 2509.0809287301226727),
    (1.0, 42.313330701600911252, 687.1870074920579083, 5394.1960214247511077, 21213.794301586595867,
     39307.89580009271061, 28729.085735721942674, 5226.495278852545925),
)  # fmt: skip
_TAIL = (
    (1.42343711074968357734, 4.6303378461565452959, 5.7694972214606914055, 3.64784832476320460504,
     1.27045825245236838258, 0.24178072517745061177, 0.0227238449892691845833, 7.7454501427834140764e-4),
    (1.0, 2.05319162663775882187, 1.6763848301838038494, 0.68976733498510000455, 0.14810397642748007459,
     0.0151986665636164571966, 5.475938084995344946e-4, 1.05075007164441684324e-9),
)  # fmt: skip
_FAR_TAIL = (
    (6.6579046435011037772, 5.4637849111641143699, 1.7848265399172913358, 0.29656057182850489123,
     0.026532189526576123093, 0.0012426609473880784386, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 0.59983220655588793769, 0.13692988092273580531, 0.0148753612908506148525, 7.868691311456132591e-4,
     1.8463183175100546818e-5, 1.4215117583164458887e-7, 2.04426310338993978564e-15),
)  # fmt: skip


def erf_inverse(x: Array) -> Array:
    """Return the inverse of the error function, which is the quantile of (1 + x) / 2 divided by the root of 2."""
    wide = x.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = np.sqrt(-np.log((1 - np.abs(wide)) / 2))
        center = wide / 2 * _ratio(_CENTER, 0.180625 - wide * wide / 4)
        outer = np.where(tail <= 5, _ratio(_TAIL, tail - 1.6), _ratio(_FAR_TAIL, tail - 5))
        outer = np.copysign(np.where(np.isinf(tail), np.inf, outer), wide)
    return (np.where(np.abs(wide) <= 0.85, center, outer) / np.sqrt(2)).astype(x.dtype)


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Array) -> Array:
    over, under = (np.polynomial.polynomial.polyval(x, one) for one in coefficients)
    return over / under


def in_real(function: Callable[[Array], Array], x: Array) -> Array:
    """Apply a function of real numbers; integer inputs give the nearest integer, as on OpenVINO's CPU device."""
    return np.rint(function(x.astype(np.float64))) if x.dtype.kind in "iu" else function(x)


_REAL: dict[type[Node], Callable[[Array], Array]] = {
    ops.Acosh: np.arccosh, ops.Asinh: np.arcsinh, ops.Atanh: np.arctanh,
    ops.Acos: np.arccos, ops.Asin: np.arcsin, ops.Atan: np.arctan, ops.Cos: np.cos, ops.Cosh: np.cosh, ops.Erf: erf,
    ops.ErfInv: erf_inverse,
    ops.Exp: np.exp, ops.Log: np.log, ops.Sin: np.sin, ops.Sinh: np.sinh, ops.Sqrt: np.sqrt, ops.Tan: np.tan,
    ops.Tanh: np.tanh,
}  # fmt: skip
register_functions({operation: partial(in_real, function) for operation, function in _REAL.items()}, in_f32=True)


@evaluates(ops.Round, in_f32=True)
def round_(node: ops.Round, x: Array) -> Array:
    if x.dtype.kind != "f":
        return x
    if node.mode == "half_to_even":
        return np.rint(x)
    # Adding 0.5 would round the largest number below 0.5 up to 1, so the largest number below 0.5 is added.
    return np.trunc(x + np.copysign(np.nextafter(x.dtype.type(0.5), x.dtype.type(0)), x))


@evaluates(ops.Clamp, in_f32=True)
def clamp(node: ops.Clamp, x: Array) -> Array:
    low, high = node.min_value, node.max_value
    if x.dtype.kind in "iu":
        # Round the bounds inward to integers in the range of the type.
        low, high = _clip_to_range(np.ceil(low), x.dtype), _clip_to_range(np.floor(high), x.dtype)
    return np.clip(x, x.dtype.type(low), x.dtype.type(high))


def _clip_to_range(bound: float, dtype: np.dtype) -> int:
    limits = np.iinfo(dtype)
    return limits.min if bound <= limits.min else limits.max if bound >= limits.max else int(bound)


@prepares(ops.Fused)
def fused(node: ops.Fused) -> Runner:
    program = Program(node.body)

    def run_node(run: Run, *arrays: Array) -> Sequence[Array]:
        return program.run(arrays, run)

    return run_node
