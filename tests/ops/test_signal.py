"""Fourier transforms, compared with OpenVINO."""

import numpy as np
import pytest

from hetero import HeteroError, Parameter, Type, ops
from hetero.reference import evaluate
from tests.ops.oracle import Data, Unknown, both_refuse, same_results, same_shapes

rng = np.random.default_rng(11)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


# Data, axes, and signal sizes
COMPLEX = [
    ((6, 2), ints(0), None),
    ((3, 5, 4, 2), ints(0, 2), None),
    ((3, 5, 4, 2), ints(-1, 0), ints(3, 2)),
]
REAL = [
    ((6,), ints(0), None),
    ((3, 5, 4), ints(0, 2), None),
    ((3, 5, 4), ints(2, 0), ints(3, 2)),
]
# Compared with the definition where OpenVINO's CPU device pads with uninitialized memory, fails or rejects -1.
BY_DEFINITION = [
    ("dft", (3, 5, 2), 1, 7),
    ("dft", (3, 5, 2), 1, -1),
    ("idft", (3, 5, 2), 0, 6),
    ("rdft", (3, 5), 1, 8),
    ("rdft", (3, 5), 0, -1),
    ("irdft", (3, 5, 2), 1, 11),
    ("irdft", (3, 5, 2), 1, -1),
]


@pytest.mark.parametrize(("shape", "axes", "size"), COMPLEX, ids=str)
@pytest.mark.parametrize("name", ["dft", "idft", "irdft"])
def test_of_complex_data(name, shape, axes, size):
    same_results(name, Data(floats(*shape)), axes, *(() if size is None else (size,)), tolerance=1e-4)


@pytest.mark.parametrize(("shape", "axes", "size"), REAL, ids=str)
def test_of_real_data(shape, axes, size):
    same_results("rdft", Data(floats(*shape)), axes, *(() if size is None else (size,)), tolerance=1e-4)


@pytest.mark.parametrize(("name", "shape", "axis", "size"), BY_DEFINITION, ids=str)
def test_padded_and_whole_lengths(name, shape, axis, size):
    data = floats(*shape)
    node = getattr(ops, name.upper())(Parameter(Type.f32, shape), ints(axis), ints(size))
    (found,) = evaluate(node, [data, ints(axis), ints(size)])
    numbers = data.astype(np.float64)
    numbers = numbers if name == "rdft" else numbers[..., 0] + 1j * numbers[..., 1]
    numbers = np.moveaxis(numbers, axis, -1)
    length = size if size != -1 else 2 * (numbers.shape[-1] - 1) if name == "irdft" else numbers.shape[-1]
    if name == "irdft":  # the second half are the conjugates of the first
        whole = np.zeros((*numbers.shape[:-1], length), complex)
        count = min(length // 2 + 1, numbers.shape[-1])
        whole[..., :count] = numbers[..., :count]
        mirrored = np.arange(1, (length + 1) // 2)
        whole[..., -mirrored] = whole[..., mirrored].conj()
        whole[..., 0] = whole[..., 0].real
        if length % 2 == 0:
            whole[..., length // 2] = whole[..., length // 2].real
    else:
        whole = np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, max(0, length - numbers.shape[-1]))])[..., :length]
    places = np.arange(length)
    sign = 2j if name in ("idft", "irdft") else -2j
    expected = whole @ np.exp(sign * np.pi * np.outer(places, places) / length) / (length if sign == 2j else 1)
    if name == "rdft":
        expected = expected[..., : length // 2 + 1]
    expected = np.moveaxis(expected, -1, axis)
    expected = expected.real if name == "irdft" else np.stack([expected.real, expected.imag], -1)
    assert node.get_output_shape(0) == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


SHAPES = {
    "a dynamic length": ("dft", (Unknown([2, -1, 4, 2]), ints(1))),
    "unknown axes": ("dft", (Unknown([2, 3, 2]), Unknown([1], np.int64))),
    "unknown axes of real data": ("rdft", (Unknown([2, 3]), Unknown([1], np.int64))),
    "unknown sizes": ("idft", (Unknown([2, 3, 2]), ints(0), Unknown([1], np.int64))),
    "twice a dynamic length": ("irdft", (Unknown([2, -1, 2]), ints(1))),
    "half of a bounded length": ("rdft", (Unknown([(2, 9), (4, 9)]), ints(0, 1))),
}


@pytest.mark.parametrize("case", SHAPES)
def test_shapes(case):
    name, arguments = SHAPES[case]
    same_shapes(name, *arguments)


def test_shapes_of_which_more_is_known():
    same_shapes("rdft", Unknown([2, -1]), ints(1), expected=["[2,1..,2]"])
    assert not ops.DFT(Parameter(Type.f32, None), ints(1)).get_output_partial_shape(0).has_rank


REFUSED = {
    "no pairs": ("dft", (Unknown([2, 3]), ints(0))),
    "an axis twice": ("dft", (Unknown([2, 3, 2]), ints(0, -2))),
    "the axis of the pairs": ("dft", (Unknown([2, 3, 2]), ints(2))),
    "a scalar": ("rdft", (Unknown([]), ints(0))),
    "integers": ("rdft", (Unknown([2, 3], np.int32), ints(0))),
    "sizes for other axes": ("dft", (Unknown([2, 3, 2]), ints(0, 1), ints(4))),
    "a window longer than a frame": ("stft", (Unknown([2, 99]), Unknown([20]), ints(16)[0], ints(4)[0], False)),
    "bins of another frame": ("istft", (Unknown([8, 5, 2]), Unknown([16]), ints(16)[0], ints(4)[0], False, False)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    name, arguments = REFUSED[case]
    arguments = [np.array(a) if isinstance(a, np.integer) else a for a in arguments]
    both_refuse(name, *arguments, opset=16)


@pytest.mark.parametrize(("factory", "shape"), [(ops.RDFT, [3]), (ops.IRDFT, [3, 2])])
def test_no_axes(factory, shape):
    """OpenVINO crashes here."""
    with pytest.raises(HeteroError, match="axes must have one or more elements"):
        factory(Parameter(Type.f32, shape), np.zeros(0, np.int64))


FRAME = np.array(16, np.int64)
STEP = np.array(4, np.int64)


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("window", [16, 11])
@pytest.mark.parametrize("shape", [(2, 100), (100,), (1, 16)], ids=str)
def test_frames(shape, window, transpose):
    arguments = (Data(floats(*shape)), Data(np.hanning(window).astype(np.float32)), FRAME, STEP, transpose)
    same_results("stft", *arguments, opset=15, tolerance=1e-4)


@pytest.mark.parametrize("length", [None, 70, 120])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("shape", [(9, 21, 2), (3, 9, 5, 2)], ids=str)
def test_signal_of_frames(shape, center, normalized, length):
    window = Data(np.hamming(16).astype(np.float32))
    size = () if length is None else (np.array(length, np.int64),)
    same_results(
        "istft", Data(floats(*shape)), window, FRAME, STEP, center, normalized, *size, opset=16, tolerance=1e-4
    )


def test_frames_of_dynamic_signals():
    same_shapes("stft", Unknown([-1, 100]), Unknown([8]), FRAME, STEP, True, opset=15)
    same_shapes("stft", Unknown([2, 100]), Unknown([8]), Unknown([], np.int64), STEP, True, opset=15)
    same_shapes("istft", Unknown([3, 9, -1, 2]), Unknown([16]), FRAME, STEP, True, False, opset=16)


def test_a_signal_shorter_than_a_frame():
    with pytest.raises(HeteroError, match="a signal of length 9 is shorter than one frame of 16"):
        ops.STFT(Parameter(Type.f32, [2, 9]), np.ones(16, np.float32), FRAME, STEP, False)


def test_halves_are_computed_in_single_precision():
    data = floats(8, 2).astype(np.float16)
    node = ops.DFT(Parameter(Type.f16, [8, 2]), ints(0))
    (found,) = evaluate(node, [data, ints(0)])
    exact = np.fft.fft(data.astype(np.float64).view(np.complex128)[:, 0])
    np.testing.assert_array_equal(found, np.stack([exact.real, exact.imag], 1).astype(np.float16))
