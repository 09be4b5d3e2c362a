"""Fourier transforms. Complex numbers are pairs of real ones on a last axis of length 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.graph import Attribute, Op
from hetero.ops.checks import (
    check_type,
    common_type,
    exact_value,
    input_name,
    is_minus_one,
    non_scalar_shape,
    normalize_axes,
    shape_of_rank,
)


class _Fourier(Op):
    """Base of the transforms over ``axes``.

    ``signal_size`` has the lengths to which the axes are cropped or padded first; -1 keeps the length.
    """

    input_names = ("data", "axes", "signal_size?")
    shape_inputs = (1, 2)
    complex_input = True
    #: The last dimension of complex outputs.
    last_axis: tuple[int, ...] = (2,)
    #: Whether the transform keeps the lengths of the axes.
    keeps_lengths = True
    min_axes = 0

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), Type.is_real, "a floating-point number")
        check_type(self, tuple(range(1, self.get_input_size())), Type.is_integer, "an integer")
        data = non_scalar_shape(self, 0)
        if data.has_rank and self.complex_input and (len(data) < 2 or not data[-1].compatible(2)):
            self.fail(f"data must have two dimensions or more, the last of length 2, but has the shape {data}")
        shape = self._shape(data) if data.has_rank else PartialShape.dynamic()
        self.set_output_type(0, self.get_input_element_type(0), shape)

    def _shape(self, data: PartialShape) -> PartialShape:
        lengths = list(data[:-1] if self.complex_input else data)
        known = exact_value(self.input_value(1))
        if known is None:
            if not self.keeps_lengths or self.has_input("signal_size"):
                lengths = [Dimension()] * len(lengths)
        else:
            axes = normalize_axes(self, known.reshape(-1).tolist(), len(lengths))
            if len(axes) < self.min_axes:
                self.fail("axes must have one or more elements")
            sizes = self._signal_sizes(len(axes))
            padded = [lengths[axis] if is_minus_one(s) else s for axis, s in zip(axes, sizes)]
            for axis, size in zip(axes, self.transformed(padded, sizes)):
                lengths[axis] = Dimension.of(size)
        return PartialShape([*lengths, *self.last_axis])

    def _signal_sizes(self, count: int) -> list[int | Dimension]:
        """Return a size for each axis: -1 to keep the length, an unknown Dimension if it is not known."""
        if not self.has_input("signal_size"):
            return [-1] * count
        shape = self.get_input_partial_shape(2)
        if not shape.compatible([count]):
            self.fail(f"signal_size must have one number for each of {count} axes, but has the shape {shape}")
        value = exact_value(self.input_value(2))
        return [Dimension()] * count if value is None else value.reshape(-1).tolist()

    def transformed(self, padded: Sequence[Any], sizes: Sequence[Any]) -> Sequence[Any]:
        """Return the output lengths on the axes; ``padded`` has the input lengths after cropping or padding."""
        return padded

    def resolve(
        self, shape: Sequence[int], axes: np.ndarray, signal_size: np.ndarray | None
    ) -> tuple[list[Any], list[Any]]:
        """Return the non-negative axes, and the lengths of the transform on them."""
        normalized = normalize_axes(self, axes.reshape(-1).tolist(), len(shape))
        sizes = [-1] * len(normalized) if signal_size is None else signal_size.reshape(-1).tolist()
        return normalized, [shape[axis] if size == -1 else size for axis, size in zip(normalized, sizes)]


class DFT(_Fourier, opset=7):
    """The discrete Fourier transform of complex data ``[…, 2]``."""


class IDFT(_Fourier, opset=7):
    """The inverse of DFT, including the division by the number of elements."""


class RDFT(_Fourier, opset=9):
    """The Fourier transform of real data ``[…]`` to complex ``[…, 2]``; the last of ``axes`` has length n // 2 + 1."""

    complex_input = False
    keeps_lengths = False
    min_axes = 1

    def transformed(self, padded: Sequence[Any], sizes: Sequence[Any]) -> Sequence[Any]:
        return [*padded[:-1], Dimension.of(padded[-1]) // 2 + 1]


class IRDFT(_Fourier, opset=9):
    """The inverse of RDFT: real data. The length of the last of ``axes`` is even unless signal_size gives it."""

    last_axis = ()
    keeps_lengths = False
    min_axes = 1

    def transformed(self, padded: Sequence[Any], sizes: Sequence[Any]) -> Sequence[Any]:
        return [*padded[:-1], (padded[-1] - 1) * 2 if is_minus_one(sizes[-1]) else padded[-1]]

    def resolve(
        self, shape: Sequence[int], axes: np.ndarray, signal_size: np.ndarray | None
    ) -> tuple[list[Any], list[Any]]:
        normalized, lengths = super().resolve(shape, axes, signal_size)
        if signal_size is None or signal_size.reshape(-1)[-1] == -1:
            lengths[-1] = 2 * (lengths[-1] - 1)
        return normalized, lengths


class STFT(Op, opset=15):
    """Short-time Fourier transform: RDFT of windowed frames of a real signal ``[batch, length]`` or ``[length]``.

    The output is ``[batch, frames, frame_size // 2 + 1, 2]``; ``transpose_frames`` swaps frames and bins.

    - ``window``: ``[at most frame_size]``, the factors of a frame's elements.
    - ``frame_step``: an integer scalar, the distance of frames.
    """

    input_names = ("data", "window", "frame_size", "frame_step")
    shape_inputs = (2, 3)
    transpose_frames = Attribute(bool)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), Type.is_real, "a floating-point number")
        element_type = common_type(self, (0, 1))
        frame, step = (_known_length(self, index) for index in (2, 3))
        _check_window(self, 1, frame)
        if not self.get_input_partial_shape(0).has_rank:
            return self.set_output_type(0, element_type, PartialShape.dynamic())
        signal = shape_of_rank(self, 0, 1, 2)
        bins = Dimension() if frame is None else Dimension(frame // 2 + 1)
        frames = self._frames(signal[-1], frame, step)
        pair = [bins, frames] if self.transpose_frames else [frames, bins]
        self.set_output_type(0, element_type, [*signal[:-1], *pair, 2])

    def _frames(self, length: Dimension, frame: int | None, step: int | None) -> Dimension:
        if frame is not None and length.max_length != -1 and length.max_length < frame:
            self.fail(f"a signal of length {length} is shorter than one frame of {frame}")
        if frame is None or step is None:
            return Dimension()
        return (length - frame) // step + 1


class ISTFT(Op, opset=16):
    """The inverse of STFT by overlap-add: frames ``[batch, bins, frames, 2]`` to a signal ``[batch, length]``.

    With ``center`` half a frame is cropped on each side; ``normalized`` frames are multiplied by √frame_size first.

    - ``window``: ``[at most frame_size]``, the factors of a frame's elements.
    - ``frame_step``: an integer scalar, the distance of frames.
    - ``signal_length``: an integer scalar, the length of the output.
    """

    input_names = ("data", "window", "frame_size", "frame_step", "signal_length?")
    parameter_order = ("data", "window", "frame_size", "frame_step", "center", "normalized", "signal_length")
    shape_inputs = (2, 3, 4)
    center = Attribute(bool)
    normalized = Attribute(bool)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0, 1), Type.is_real, "a floating-point number")
        element_type = common_type(self, (0, 1))
        data = self.get_input_partial_shape(0)
        if data.has_rank and (len(data) not in (3, 4) or not data[-1].compatible(2)):
            self.fail(f"data must be [batch, bins, frames, 2] or [bins, frames, 2], but has the shape {data}")
        frame, step = (_known_length(self, index) for index in (2, 3))
        _check_window(self, 1, frame)
        if not data.has_rank:
            return self.set_output_type(0, element_type, PartialShape.dynamic())
        bins, frames = data[-3], data[-2]
        if frame is not None and not bins.compatible(frame // 2 + 1):
            self.fail(f"frames of {frame} have {frame // 2 + 1} bins, but data has {bins}")
        self.set_output_type(0, element_type, [*data[:-3], self._length(frames, frame, step)])

    def _length(self, frames: Dimension, frame: int | None, step: int | None) -> Dimension:
        if self.has_input("signal_length"):
            length = _known_length(self, 4)
            return Dimension() if length is None else Dimension(length)
        if frame is None or step is None:
            return Dimension()
        return (frames - 1) * step + (0 if self.center else frame)


class MelWeightMatrix(Op):
    """ONNX's mel filter bank: weights ``[dft_length // 2 + 1, num_mel_bins]`` from DFT bins to mel bands.

    All inputs are scalars: two counts, the sample rate and the lower and upper edge of the bands in Hz.

    - ``output_type``: the element type of the output.
    - ``sample_rate``: the number of samples in a second.
    - ``lower_edge_hertz``, ``upper_edge_hertz``: the lower and the upper edge of the bands.
    """

    input_names = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
    shape_inputs = (0, 1)
    output_type = Attribute(Type, Type.f32)

    def validate_and_infer_types(self) -> None:
        bands, length = (_known_length(self, index) for index in (0, 1))
        spectrum = Dimension() if length is None else Dimension(length // 2 + 1)
        self.set_output_type(0, self.output_type, [spectrum, Dimension() if bands is None else Dimension(bands)])


def _known_length(node: Op, index: int) -> int | None:
    """Return the number in a scalar input, None if not known. Raises GraphError if it is not positive."""
    shape = node.get_input_partial_shape(index)
    name = input_name(node, index)
    if not shape.element_count().compatible(1):
        node.fail(f"{name} must be a scalar, but has the shape {shape}")
    value = exact_value(node.input_value(index))
    if value is None:
        return None
    if value.item() < 1:
        node.fail(f"{name} must be positive, but is {value.item()}")
    return int(value.item())


def _check_window(node: Op, index: int, frame: int | None) -> None:
    (length,) = shape_of_rank(node, index, 1)
    if frame is not None and length.min_length > frame:
        node.fail(f"a window of length {length} does not fit into frames of {frame}")
