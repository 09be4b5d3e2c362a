"""STFT, ISTFT and MelWeightMatrix."""

from __future__ import annotations

import math

from hetero import ops
from hetero.core.types import Type
from hetero_opencl.kernels.common.copies import shape_input
from hetero_opencl.kernels.common.definition import ELEMENTS, lowers, source, unsupported_non_float, unsupported_types
from hetero_opencl.kernels.signal.fourier import HALF, REAL, Lines, Signal, scratch_signal, transform
from hetero_opencl.lowering.lowering import Lowering


@lowers(ops.STFT, unsupported=unsupported_non_float)
def stft(lowering: Lowering, node: ops.STFT) -> None:
    data, window, kind = node.input_value(0), node.input_value(1), node.get_element_type()
    frame, step = (int(shape_input(node, index).item()) for index in (2, 3))
    length, batch = data.shape[-1], math.prod(data.shape[:-1])
    frames, bins = (length - frame) // step + 1, frame // 2 + 1
    cut = scratch_signal(lowering, kind, (batch, frame, frames), REAL)
    sizes = (length, window.shape[0], frame, frames, step, node.transpose_frames)
    lowering.launch_flat(_text(kind), "cut", [data, window, cut.buffer, *sizes], batch * frame * frames)
    outer, inner = (batch, frames) if node.transpose_frames else (batch * frames, 1)
    result = Signal(lowering.buffer(node.output(0)), kind)
    transform(lowering, cut, result, Lines(outer, frame, frame, bins, inner), inverse=False)


@lowers(ops.ISTFT, unsupported=unsupported_non_float)
def istft(lowering: Lowering, node: ops.ISTFT) -> None:
    data, window, kind = node.input_value(0), node.input_value(1), node.get_element_type()
    frame, step = (int(shape_input(node, index).item()) for index in (2, 3))
    *batches, bins, frames, _ = data.shape
    batch, length = math.prod(batches), node.shape[-1]
    parts = scratch_signal(lowering, kind, (batch, frame, frames), REAL)
    lines = Lines(batch, bins, frame, frame, frames)
    scale = math.sqrt(frame) if node.normalized else 1.0
    transform(lowering, Signal(lowering.buffer(data), kind, HALF), parts, lines, inverse=True, scale=scale)
    sizes = (length, window.shape[0], frame, frames, step, frame // 2 if node.center else 0)
    lowering.launch_flat(_text(kind), "overlap", [parts.buffer, window, node.output(0), *sizes], batch * length)


def _text(kind: Type) -> str:
    return source("signal", {"WINDOW": kind}, NUMBER=ELEMENTS[kind].value)


@lowers(ops.MelWeightMatrix, unsupported=unsupported_types)
def mel_weight_matrix(lowering: Lowering, node: ops.MelWeightMatrix) -> None:
    bands, dft_length = (int(shape_input(node, index).item()) for index in (0, 1))
    types = {"RATE": node.get_input_element_type(2), "LOW": node.get_input_element_type(3)}
    types |= {"HIGH": node.get_input_element_type(4), "RESULT": node.get_element_type()}
    text = _DOUBLES + source("signal", types)
    buffers = [*node.input_values()[2:], node.output(0)]
    count = bands * (dft_length // 2 + 1)
    lowering.launch_flat(text, "mel_weights", [*buffers, bands, dft_length], count)


_DOUBLES = ELEMENTS[Type.f64].prelude
