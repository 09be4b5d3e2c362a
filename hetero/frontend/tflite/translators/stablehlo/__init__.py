"""Translators of StableHLO operators, by the specification https://openxla.org/stablehlo/spec."""

from hetero.frontend.tflite.translators.stablehlo import (  # noqa: F401
    calls,
    dot_and_convolution,
    elementwise,
    gather,
    movement,
    random,
    reductions,
    scatter,
    sorting,
)
