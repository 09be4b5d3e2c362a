"""Sound files as input arrays."""

from __future__ import annotations

import math
import wave

import numpy as np

from hetero.run.yaml_runs.config_inputs import MAX_SAMPLES, SoundInput

# Maximum number of chunks, each of which takes an inference.
MAX_CHUNKS = 1_000_000


def read_chunks(spec: SoundInput) -> list[np.ndarray]:
    """Return the chunks of a wav file in ``spec.layout``, or the whole sound as one. Raises ValueError and OSError."""
    samples, rate = read_wav(spec)
    if spec.rate and spec.rate != rate:
        length = round(len(samples) * spec.rate / rate)
        _check_length(spec, length)
        samples = resample(samples, length)
    samples = np.concatenate([np.zeros(spec.before, np.float32), samples])
    chunk = spec.chunk or len(samples)
    step = spec.step or chunk
    count = max(1, math.ceil((len(samples) - chunk) / step) + 1) if len(samples) else 0
    if not count:
        raise ValueError(f"{spec.sound} contains no samples")
    if count > MAX_CHUNKS:
        raise ValueError(f"{spec.sound} has {count} chunks, but at most {MAX_CHUNKS} can be read; make step longer")
    samples = np.pad(samples, (0, max(0, (count - 1) * step + chunk - len(samples))))
    chunks = np.lib.stride_tricks.sliding_window_view(samples, chunk)[::step][:count]
    shape = [{"N": 1, "C": 1, "T": chunk}[axis] for axis in spec.layout]
    return [part.reshape(shape) for part in chunks]


def read_wav(spec: SoundInput) -> tuple[np.ndarray, int]:
    """Return the mean of the channels of a wav file as f32 from -1 to 1, and the samples per second."""
    try:
        with wave.open(str(spec.sound), "rb") as file:
            width, channels, rate = file.getsampwidth(), file.getnchannels(), file.getframerate()
            _check_length(spec, file.getnframes() * channels)
            data = file.readframes(file.getnframes())
    except (wave.Error, EOFError, RuntimeError) as error:  # wave raises RuntimeError for a wrong size of a chunk
        raise ValueError(f"{spec.sound} is not a wav file that can be read: {error or 'it is damaged'}") from error
    if not rate:
        raise ValueError(f"{spec.sound} is damaged: it has no samples per second")
    data = data[: len(data) - len(data) % (width * channels)]
    if width == 1:
        numbers = np.frombuffer(data, np.uint8).astype(np.int32) - 128
    else:  # the numbers are the high bytes of i32, and width is 2, 3 or 4
        bytes_ = np.zeros((len(data) // width, 4), np.uint8)
        bytes_[:, 4 - width :] = np.frombuffer(data, np.uint8).reshape(-1, width)
        numbers = bytes_.view("<i4")[:, 0]
    scale = 128 if width == 1 else 1 << 31
    return (numbers.reshape(-1, channels).mean(axis=1) / scale).astype(np.float32), rate


def resample(samples: np.ndarray, length: int) -> np.ndarray:
    """Return a sound of the same duration with another number of samples, by its Fourier transform."""
    if not length or not len(samples):
        return samples[:0]
    return (np.fft.irfft(np.fft.rfft(samples), length) * (length / len(samples))).astype(np.float32)


def _check_length(spec: SoundInput, samples: int) -> None:
    if samples > MAX_SAMPLES:
        raise ValueError(f"{spec.sound} has {samples} samples, but at most {MAX_SAMPLES} can be read")
