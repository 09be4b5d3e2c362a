"""Fourier transforms, compared with numpy in double precision."""

import numpy as np
import pytest

import hetero
from tests.ops.oracle import Data

# Lengths of small factors, of large primes, and of both; the middle one of three axes, or several.
LENGTHS = [1, 2, 3, 8, 12, 61, 64, 67, 97, 100, 120, 134, 1024, 1009]
TOLERANCES = {"f32": 3e-6, "f16": 1e-3, "bf16": 8e-3, "f64": 1e-13}


def transformed(compute, name, data, axes, sizes=None):
    size_inputs = () if sizes is None else (np.array(sizes, np.int64),)
    (found,) = compute(name, (Data(data), np.array(axes, np.int64), *size_inputs), {})
    assert found.dtype == data.dtype
    return found.astype(np.float64)


def random(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape)


def in_numpy(name, data, axes, sizes=None):
    """Return the expected transform. Size -1 stands for the length of the data; for IRDFT for the even full length."""
    numbers = data if name == "rdft" else data[..., 0] + 1j * data[..., 1]
    kept = [numbers.shape[axis] for axis in axes]
    if name == "irdft":
        kept[-1] = 2 * (kept[-1] - 1)
    sizes = kept if sizes is None else [old if new == -1 else new for old, new in zip(kept, sizes)]
    function = {"dft": np.fft.fftn, "idft": np.fft.ifftn, "rdft": np.fft.rfftn, "irdft": np.fft.irfftn}[name]
    result = function(numbers, sizes, axes)
    return result if name == "irdft" else np.stack([result.real, result.imag], -1)


def close(found, expected, tolerance):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max(initial=1e-30))


@pytest.mark.parametrize("length", LENGTHS)
def test_lengths(compute, length):
    data = random(2, length, 3, 2).astype(np.float32)
    for name in ("dft", "idft"):
        close(transformed(compute, name, data, (1,)), in_numpy(name, data, (1,)), TOLERANCES["f32"])
    close(transformed(compute, "rdft", data, (1,)), in_numpy("rdft", data, (1,)), TOLERANCES["f32"])
    expected = in_numpy("irdft", data, (1,), (length,))
    close(transformed(compute, "irdft", data, (1,), (length,)), expected, TOLERANCES["f32"])


@pytest.mark.parametrize(
    "axes, sizes",
    [
        ((0, 1), None),
        ((2, 0), None),
        ((1, 2, 0), None),
        ((-2, -1), None),
        ((1,), (5,)),
        ((1,), (70,)),
        ((2, 1), (4, 9)),
        ((0, 2), (-1, 3)),
        ((0, 2), (7, -1)),
    ],
)
@pytest.mark.parametrize("name", ["dft", "idft", "rdft", "irdft"])
def test_axes_and_sizes(compute, name, axes, sizes):
    data = random(3, 6, 8) if name == "rdft" else random(3, 6, 8, 2)
    data = data.astype(np.float32)
    close(transformed(compute, name, data, axes, sizes), in_numpy(name, data, axes, sizes), TOLERANCES["f32"])


@pytest.mark.parametrize("kind", ["f16", "bf16", "f64"])
@pytest.mark.parametrize("name", ["dft", "idft", "rdft", "irdft"])
def test_other_types(compute, name, kind):
    data = random(2, 12, 71, 2).astype(hetero.Type(kind).to_dtype())
    expected = in_numpy(name, data.astype(np.float64), (1, 2))
    close(transformed(compute, name, data, (1, 2)), expected, TOLERANCES[kind])


def test_without_axes_and_without_data(compute):
    data = random(2, 3, 2).astype(np.float32)
    np.testing.assert_array_equal(transformed(compute, "dft", data, ()), data)
    assert transformed(compute, "rdft", data[:0], (1,)).shape == (0, 2, 2, 2)


def test_long_transforms_are_accurate(compute):
    """A power of two, and a prime."""
    for length in (1 << 16, 65521):
        data = random(length, 2).astype(np.float32)
        close(transformed(compute, "dft", data, (0,)), in_numpy("dft", data, (0,)), TOLERANCES["f32"])
