"""Discrete Fourier transforms of any length: mixed radix, or Bluestein's algorithm for large prime factors."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.copies import shape_input
from hetero_opencl.kernels.common.definition import float_type, lowers, source, unsupported_non_float
from hetero_opencl.lowering.lowering import Lowering

Fourier = ops.DFT | ops.IDFT | ops.RDFT | ops.IRDFT

# Forms of a signal: numbered as in fourier.cl.
REAL, PAIRS, HALF = range(3)
# The cost of a pass per element is proportional to its radix.
_LARGEST_PRIME = 61


class Signal(NamedTuple):
    """Buffer with element type and form: REAL numbers, PAIRS (complex), or HALF of a conjugate-symmetric spectrum."""

    buffer: Buffer
    kind: Type
    form: int = PAIRS


class Lines(NamedTuple):
    """Lines ``[outer, available, inner]``, transformed with ``length`` points each; ``written`` results are kept."""

    outer: int
    available: int
    length: int
    written: int
    inner: int


@lowers(ops.DFT, ops.IDFT, unsupported=unsupported_non_float)
def dft(lowering: Lowering, node: ops.DFT | ops.IDFT) -> None:
    data = node.input_value(0)
    axes, lengths = _resolved(node, data.shape[:-1])
    if not axes:
        return lowering.share(node.output(0), data)
    ends = Signal(lowering.buffer(data), data.element_type), Signal(lowering.buffer(node.output(0)), data.element_type)
    _transform_axes(lowering, *ends, list(data.shape[:-1]), axes, lengths, isinstance(node, ops.IDFT))


@lowers(ops.RDFT, unsupported=unsupported_non_float)
def rdft(lowering: Lowering, node: ops.RDFT) -> None:
    data = node.input_value(0)
    shape, kind = list(data.shape), data.element_type
    (*axes, last), (*lengths, length) = _resolved(node, shape)
    result, half = Signal(lowering.buffer(node.output(0)), kind), length // 2 + 1
    intermediate = scratch_signal(lowering, kind, _with_length(shape, last, half)) if axes else result
    lines = _lines(shape, last, length, half)
    transform(lowering, Signal(lowering.buffer(data), kind, REAL), intermediate, lines, inverse=False)
    if axes:
        _transform_axes(lowering, intermediate, result, _with_length(shape, last, half), axes, lengths, inverse=False)


@lowers(ops.IRDFT, unsupported=unsupported_non_float)
def irdft(lowering: Lowering, node: ops.IRDFT) -> None:
    data = node.input_value(0)
    shape, kind = list(data.shape[:-1]), data.element_type
    (*axes, last), (*lengths, length) = _resolved(node, shape)
    signal = Signal(lowering.buffer(data), kind)
    if axes:
        whole = list(shape)
        for axis, axis_length in zip(axes, lengths):
            whole[axis] = axis_length
        intermediate = scratch_signal(lowering, kind, whole)
        _transform_axes(lowering, signal, intermediate, shape, axes, lengths, inverse=True)
        signal, shape = intermediate, whole
    result = Signal(lowering.buffer(node.output(0)), kind, REAL)
    transform(lowering, signal._replace(form=HALF), result, _lines(shape, last, length, length), inverse=True)


def _resolved(node: Fourier, shape: Sequence[int]) -> tuple[list[int], list[int]]:
    sizes = shape_input(node, 2) if node.has_input("signal_size") else None
    return node.resolve(shape, shape_input(node, 1), sizes)


def _transform_axes(
    lowering: Lowering,
    signal: Signal,
    result: Signal,
    shape: list[int],
    axes: Sequence[int],
    lengths: Sequence[int],
    inverse: bool,
) -> None:
    """Transform complex data of a shape along one axis after the other, to these lengths."""
    for index, (axis, length) in enumerate(zip(axes, lengths)):
        whole = _with_length(shape, axis, length)
        target = result if index == len(axes) - 1 else scratch_signal(lowering, signal.kind, whole)
        transform(lowering, signal, target, _lines(shape, axis, length, length), inverse)
        signal, shape = target, whole


def transform(
    lowering: Lowering, signal: Signal, result: Signal, lines: Lines, inverse: bool, scale: float = 1.0
) -> None:
    """Launch the transforms of all lines, multiplied by the scale; inverse ones are also divided by their length."""
    if not lines.outer * lines.inner * lines.written:
        return
    n = lines.length
    scale = scale / n if inverse else scale
    radices = radices_of(n)
    if radices is None:
        return _convolve(lowering, signal, result, lines, inverse, scale)
    roots, done = lowering.constant(_roots(n, inverse, float_type(signal.kind))), 1
    for index, radix in enumerate(radices):
        is_last = index == len(radices) - 1
        step = lines if is_last else lines._replace(written=n)
        target = result if is_last else scratch_signal(lowering, signal.kind, (lines.outer, n, lines.inner))
        _launch(lowering, "butterflies", signal, roots, target, step, (done, radix), scale if is_last else 1.0)
        signal, lines, done = target, lines._replace(available=n), done * radix


def radices_of(length: int) -> list[int] | None:
    """Return small factors of a length, or None if it has a large prime factor."""
    radices = []
    for radix in (8, 4, *range(2, _LARGEST_PRIME + 1)):
        while length % radix == 0:
            radices.append(radix)
            length //= radix
    return (radices or [1]) if length == 1 else None


def _convolve(lowering: Lowering, signal: Signal, result: Signal, lines: Lines, inverse: bool, scale: float) -> None:
    """Bluestein's algorithm: with kt = (k² + t² - (k - t)²) / 2, a convolution by transforms of a power of two."""
    n, wide = lines.length, float_type(signal.kind)
    padded = 1 << (2 * n - 2).bit_length()
    chirp, filters = _chirp(n, padded, inverse, wide)
    shape, whole = (lines.outer, padded, lines.inner), lines._replace(available=padded, length=padded, written=padded)
    chirped, spectrum, filtered, convolved = (scratch_signal(lowering, wide, shape) for _ in range(4))
    factors = lowering.constant(chirp)
    _launch(lowering, "modulate", signal, factors, chirped, lines._replace(written=padded))
    transform(lowering, chirped, spectrum, whole, inverse=False)
    _launch(lowering, "modulate", spectrum, lowering.constant(filters), filtered, whole)
    transform(lowering, filtered, convolved, whole, inverse=True)
    _launch(lowering, "modulate", convolved, factors, result, lines._replace(available=padded), scale=scale)


def _launch(
    lowering: Lowering,
    kernel: str,
    signal: Signal,
    factors: Buffer,
    result: Signal,
    lines: Lines,
    numbers: tuple[int, ...] = (),
    scale: float = 1.0,
) -> None:
    wide = float_type(signal.kind)
    text = source("fourier", {"SOURCE": signal.kind, "TARGET": result.kind}, COMPLEX=_COMPLEX[wide])
    sizes = (signal.form, result.form, lines.available, lines.length, lines.written, lines.inner, *numbers)
    arguments = [signal.buffer, factors, result.buffer, *sizes, wide.to_dtype().type(scale)]
    lowering.launch_flat(text, kernel, arguments, lines.outer * lines.written * lines.inner)


_COMPLEX = {Type.f32: "float2", Type.f64: "double2"}
_COMPLEX_DTYPES = {Type.f32: np.complex64, Type.f64: np.complex128}


@functools.lru_cache(maxsize=16)
def _roots(length: int, inverse: bool, kind: Type) -> np.ndarray:
    angles = 2 * np.pi * np.arange(length) / length
    return np.exp((1j if inverse else -1j) * angles).astype(_COMPLEX_DTYPES[kind])


@functools.lru_cache(maxsize=16)
def _chirp(length: int, padded: int, inverse: bool, kind: Type) -> tuple[np.ndarray, np.ndarray]:
    """Return exp(∓πik² / length), and the transform of its conjugate, wrapped around to ``padded`` points."""
    squares = np.arange(length, dtype=np.int64) ** 2 % (2 * length)
    chirp = np.exp((1j if inverse else -1j) * np.pi * squares / length)
    circle = np.zeros(padded, np.complex128)
    circle[:length] = chirp.conj()
    circle[padded - length + 1 :] = chirp[:0:-1].conj()
    return chirp.astype(_COMPLEX_DTYPES[kind]), np.fft.fft(circle).astype(_COMPLEX_DTYPES[kind])


def scratch_signal(lowering: Lowering, kind: Type, shape: Sequence[int], form: int = PAIRS) -> Signal:
    """Return a scratch signal of this shape, in the type of computation."""
    wide = float_type(kind)
    return Signal(lowering.scratch(math.prod(shape) * (1 if form == REAL else 2), wide.size), wide, form)


def _lines(shape: Sequence[int], axis: int, length: int, written: int) -> Lines:
    return Lines(math.prod(shape[:axis]), shape[axis], length, written, math.prod(shape[axis + 1 :]))


def _with_length(shape: list[int], axis: int, length: int) -> list[int]:
    return [*shape[:axis], length, *shape[axis + 1 :]]
