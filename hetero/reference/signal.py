"""Fourier transforms with numpy.fft, in the precision of the data, and MelWeightMatrix."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from hetero import ops
from hetero.reference.registry import Array, evaluates


def _as_complex(pairs: Array) -> Array:
    dtype = np.complex128 if pairs.dtype == np.float64 else np.complex64
    return np.ascontiguousarray(pairs).view(dtype)[..., 0]


def _as_pairs(numbers: Array) -> Array:
    parts = np.float64 if numbers.dtype == np.complex128 else np.float32
    return np.ascontiguousarray(numbers)[..., None].view(parts)


@evaluates(ops.DFT, ops.IDFT, in_f32=True)
def dft(node: ops.DFT | ops.IDFT, data: Array, axes: Array, signal_size: Array | None = None) -> Array:
    numbers = _as_complex(data)
    transformed, lengths = node.resolve(numbers.shape, axes, signal_size)
    transform = np.fft.fftn if isinstance(node, ops.DFT) else np.fft.ifftn
    return _as_pairs(transform(numbers, lengths, transformed))


@evaluates(ops.RDFT, in_f32=True)
def rdft(node: ops.RDFT, data: Array, axes: Array, signal_size: Array | None = None) -> Array:
    transformed, lengths = node.resolve(data.shape, axes, signal_size)
    return _as_pairs(np.fft.rfftn(data, lengths, transformed))


@evaluates(ops.IRDFT, in_f32=True)
def irdft(node: ops.IRDFT, data: Array, axes: Array, signal_size: Array | None = None) -> Array:
    numbers = _as_complex(data)
    transformed, lengths = node.resolve(numbers.shape, axes, signal_size)
    return np.fft.irfftn(numbers, lengths, transformed)


@evaluates(ops.STFT, in_f32=True)
def stft(node: ops.STFT, data: Array, window: Array, frame_size: Array, frame_step: Array) -> Array:
    frame, step = frame_size.item(), frame_step.item()
    frames = sliding_window_view(data, frame, -1)[..., ::step, :]
    spectrum = np.fft.rfft(frames * _centered(window, frame), axis=-1)
    return _as_pairs(np.swapaxes(spectrum, -1, -2) if node.transpose_frames else spectrum)


@evaluates(ops.ISTFT, in_f32=True)
def istft(
    node: ops.ISTFT, data: Array, window: Array, frame_size: Array, frame_step: Array, *signal_length: Array
) -> Array:
    frame, step, window = frame_size.item(), frame_step.item(), _centered(window, frame_size.item())
    frames = np.fft.irfft(_as_complex(data), frame, axis=-2)
    if node.normalized:
        frames = frames * frames.dtype.type(np.sqrt(frame))
    count = frames.shape[-1]
    length = (count - 1) * step + frame
    signal, weight = np.zeros((*frames.shape[:-2], length), frames.dtype), np.zeros(length, frames.dtype)
    for index in range(count):
        span = slice(index * step, index * step + frame)
        signal[..., span] += frames[..., index] * window
        weight[span] += window * window
    # The signal is 0 where no window overlaps it.
    signal /= np.where(weight > 0, weight, 1)
    start = frame // 2 if node.center else 0
    end = length - start
    if not signal_length:
        return signal[..., start:end]
    output_length = signal_length[0].item()
    cropped = signal[..., start : min(start + output_length, length)]
    return np.pad(cropped, [(0, 0)] * (cropped.ndim - 1) + [(0, output_length - cropped.shape[-1])])


def _centered(window: Array, frame: int) -> Array:
    """Pad the window with zeros on both sides to the length of a frame."""
    before = (frame - window.size) // 2
    return np.pad(window, (before, frame - window.size - before))


@evaluates(ops.MelWeightMatrix)
def mel_weight_matrix(
    node: ops.MelWeightMatrix, num_mel_bins: Array, dft_length: Array, sample_rate: Array, *limits: Array
) -> Array:
    bands, length = num_mel_bins.item(), dft_length.item()
    # The mel scale of Stevens, Volkmann & Newman (1937), in the form with 2595 and 700.
    low, high = (2595 * np.log10(1 + edge.item() / 700) for edge in limits)
    edges = 700 * (10 ** ((low + (high - low) / (bands + 2) * np.arange(bands + 2)) / 2595) - 1)
    bins = (edges * (length + 1) // sample_rate.item()).astype(np.int64)
    matrix = np.zeros((length // 2 + 1, bands))
    for band, (first, middle, last) in enumerate(zip(bins, bins[1:], bins[2:])):
        rising, falling = np.arange(first, middle + 1), np.arange(middle, last)
        if middle > first:
            matrix[rising, band] = (rising - first) / (middle - first)
        else:
            matrix[middle, band] = 1
        matrix[falling, band] = (last - falling) / (last - middle) if last > middle else 0
    return matrix
