"""Fourier transforms and complex numbers against LiteRT and numpy."""

import numpy as np
import pytest

from hetero import Core
from hetero.system.errors import FrontendError
from tests.frontend.tflite.agreement import DEVICES, assert_gives, operator_test
from tests.frontend.tflite.graphs import Graph, Op
from tests.frontend.tflite.models import build, constant, feed, out

SHAPES = {"whole": (2, 3, 4, 8), "filled": (2, 3, 5), "cut": (5, 19), "any": (1, 4, 8)}


def spectrum(data, lengths, *steps):
    """Return RFFT2D followed by operators, given by type, further inputs, element type and options."""
    ops = [Op("RFFT2D", [data, constant(lengths)], [out(np.complex64)])]
    for kind, inputs, dtype, options in steps:
        ops.append(Op(kind, [ops[-1].outputs[0], *inputs], [out(dtype)], **options))
    return build(Graph(ops))


def of_rows(*steps):
    return spectrum(feed((2, 1, 16)), [1, 16], *steps)


def cast(data, kind):
    """Return a model that casts reals to complex numbers and takes their real or imaginary part."""
    complex_numbers = Op("CAST", [feed(data)], [out(np.complex64)])
    return build(Graph([complex_numbers, Op(kind, complex_numbers.outputs, [out(np.float32)])]))


REAL, IMAGINARY, LENGTH = (
    ("REAL", [], np.float32, {}),
    ("IMAG", [], np.float32, {}),
    ("COMPLEX_ABS", [], np.float32, {}),
)
CASES = {
    **{
        f"{last[0]}, {name}": spectrum(feed(shape), [4, 8], last)
        for name, shape in SHAPES.items()
        for last in (REAL, IMAGINARY, LENGTH)
    },
    "CAST": of_rows(("CAST", [], np.float32, {})),
    "CAST to integers": of_rows(("CAST", [], np.int32, {})),
    "SQUEEZE": of_rows(("SQUEEZE", [], np.complex64, {"squeeze_dims": [-2]}), IMAGINARY),
    "RESHAPE": of_rows(("RESHAPE", [constant([-1])], np.complex64, {}), LENGTH),
    "EXPAND_DIMS": of_rows(("EXPAND_DIMS", [constant(-1)], np.complex64, {}), ("CAST", [], np.float32, {})),
    "of any shape": spectrum(
        feed((2, 1, 16), signature=(-1, 1, 16)), [1, 16], ("SQUEEZE", [], np.complex64, {"squeeze_dims": [1]}), LENGTH
    ),
    "REAL of a real number": cast(np.array([1, -2.5], np.float32), "REAL"),
    "IMAG of a real number": cast(np.array([1, -2.5], np.float32), "IMAG"),
    "COMPLEX_ABS of an integer": cast(np.array([1, -2], np.int32), "COMPLEX_ABS"),
}


def products():
    """Return operators that multiply two spectra, the second broadcast."""
    spectra = [Op("RFFT2D", [feed(shape), constant([4, 8])], [out(np.complex64)]) for shape in ((3, 4, 8), (1, 4, 8))]
    multiply = Op("MUL", [spectrum.outputs[0] for spectrum in spectra], [out(np.complex64)])
    return [*spectra, multiply, *(Op(kind, multiply.outputs, [out(np.float32)]) for kind in ("REAL", "IMAG"))]


CASES["MUL"] = build(Graph(products()))


test_signal = operator_test(CASES)


def test_arithmetic_of_complex_numbers_that_nobody_has():
    transform = Op("RFFT2D", [feed((4, 8)), constant([4, 8])], [out(np.complex64, (4, 5))])
    model = build(Graph([transform, Op("RSQRT", transform.outputs, [out(np.complex64, (4, 5), name="root")])]))
    with pytest.raises(FrontendError, match="RSQRT node 'root': it is not supported for complex numbers"):
        Core().read_model(model.content)


@pytest.mark.parametrize("device", DEVICES)
def test_lengths_that_are_no_powers_of_two(device):
    """LiteRT refuses these. A complex result has an additional last axis of both parts."""
    data = np.random.default_rng(1).random((2, 3, 9), np.float32)
    transform = Op("RFFT2D", [feed(data), constant([3, 9])], [out(np.complex64, (2, 3, 5))])
    expected = np.fft.rfft2(data)
    assert_gives(build(Graph([transform])), [np.stack([expected.real, expected.imag], -1).astype(np.float32)], device)
