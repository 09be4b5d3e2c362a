"""The cases of all operators, a module per family."""

from tests.frameworks.tensorflow.operator_cases import (
    basics,
    complex_numbers,
    element_types,
    elementwise,
    images,
    linear_algebra,
    movement,
    quantization,
    reduction,
    scattering,
    sequences,
    signal,
    stateless_random,
)

CASES = [
    case
    for module in (
        elementwise, reduction, movement, scattering, linear_algebra, images, quantization, signal, sequences,
        complex_numbers, element_types, basics, stateless_random,
    )
    for case in module.CASES
]  # fmt: skip
