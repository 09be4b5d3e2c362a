"""Sound files as inputs, compared with the samples that were written."""

import wave

import numpy as np
import pytest

from hetero.run.media.sounds import read_chunks
from hetero.run.yaml_runs.config_inputs import SoundInput

RAMP = np.arange(-50, 50) / 64  # exact in every width


def write(path, samples, width=2, rate=100):
    """Write samples [n] or [n, channels] from -1 to 1."""
    samples = np.asarray(samples)
    numbers = np.round(samples * (1 << (8 * width - 1))).astype(np.int64)
    if width == 1:
        numbers += 128
    content = numbers.reshape(-1, 1).astype("<i8").view(np.uint8).reshape(-1, 8)[:, :width].tobytes()
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1 if samples.ndim == 1 else samples.shape[1])
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(content)


@pytest.fixture
def read(tmp_path):
    def read(**options):
        context = {"folder": tmp_path}
        return read_chunks(SoundInput.model_validate({"sound": "sound.wav", **options}, context=context))

    return read


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_sample_widths(read, tmp_path, width):
    write(tmp_path / "sound.wav", RAMP, width)
    (samples,) = read()
    assert samples.dtype == np.float32
    np.testing.assert_array_equal(samples, RAMP[None])


def test_mean_of_channels(read, tmp_path):
    write(tmp_path / "sound.wav", np.stack([RAMP, np.full(100, 0.5)], axis=-1))
    np.testing.assert_allclose(read()[0][0], (RAMP + 0.5) / 2)


@pytest.mark.parametrize(
    ("options", "count"),
    [({"chunk": 100}, 1), ({"chunk": 30}, 4), ({"chunk": 30, "step": 20}, 5), ({"chunk": 40, "step": 20}, 4),
     ({"chunk": 30, "step": 20, "before": 25}, 6), ({"chunk": 300}, 1), ({"before": 5}, 1)],
)  # fmt: skip
def test_chunks(read, tmp_path, options, count):
    write(tmp_path / "sound.wav", RAMP)
    chunks = read(**options)
    before = options.get("before", 0)
    chunk = options.get("chunk", 100 + before)
    step = options.get("step", chunk)
    whole = np.concatenate([np.zeros(before), RAMP, np.zeros(400)])
    assert len(chunks) == count
    for index, found in enumerate(chunks):
        np.testing.assert_array_equal(found, whole[None, index * step : index * step + chunk])


@pytest.mark.parametrize(("layout", "shape"), [("NTC", (1, 50, 1)), ("NCT", (1, 1, 50)), ("T", (50,))])
def test_layouts(read, tmp_path, layout, shape):
    write(tmp_path / "sound.wav", RAMP)
    assert [part.shape for part in read(chunk=50, layout=layout)] == [shape] * 2


@pytest.mark.parametrize("rate", [50, 100, 250])
def test_other_rate(read, tmp_path, rate):
    """A tone of whole periods that both rates can represent stays the same tone."""
    write(tmp_path / "sound.wav", 0.5 * np.sin(2 * np.pi * 7 * np.arange(400) / 100), width=3)
    (samples,) = read(rate=rate)
    np.testing.assert_allclose(samples[0], 0.5 * np.sin(2 * np.pi * 7 * np.arange(4 * rate) / rate), atol=1e-5)


# A chunk before the data that is larger than the file.
CHUNK_SIZE = b"RIFF\x40\0\0\0WAVEjunk\xff\xff\0\0" + bytes(20)


@pytest.mark.parametrize("content", [b"", b"text", b"RIFF\x24\0\0\0WAVEfmt \x10\0", CHUNK_SIZE])
def test_files_that_are_no_sounds(read, tmp_path, content):
    (tmp_path / "sound.wav").write_bytes(content)
    with pytest.raises(ValueError, match="sound.wav is not a wav file that can be read"):
        read()


def test_sound_without_samples(read, tmp_path):
    write(tmp_path / "sound.wav", np.zeros(0))
    with pytest.raises(ValueError, match="sound.wav contains no samples"):
        read()
