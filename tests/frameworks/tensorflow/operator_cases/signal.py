"""Fourier transforms of complex and real signals."""

from tests.frameworks.tensorflow.raw_case import Case, complexes, fixed, reals

CASES = [
    *(
        Case(f"{name}{suffix}", [complexes(2, 4, 3, 5)[(0,) * (3 - count)]])
        for name in ("FFT", "IFFT")
        for suffix, count in (("", 1), ("2D", 2), ("3D", 3))
    ),
    Case("FFT", [complexes(4, 6)]),
    Case("IFFT", [complexes(4, 6)]),
    Case("RFFT", [reals(2, 8), fixed([8])]),
    Case("RFFT", [reals(2, 8), fixed([6])]),
    Case("RFFT2D", [reals(2, 6, 8), fixed([6, 8])]),
    Case("RFFT3D", [reals(2, 4, 6, 8), fixed([4, 6, 8])]),
    Case("IRFFT", [complexes(2, 5), fixed([8])]),
    Case("IRFFT", [complexes(2, 5), fixed([9])]),
    Case("IRFFT2D", [complexes(2, 6, 5), fixed([6, 8])]),
    Case("IRFFT3D", [complexes(2, 4, 6, 5), fixed([4, 6, 8])]),
]
