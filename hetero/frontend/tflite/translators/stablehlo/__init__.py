"""Translators of StableHLO's operators, as its specification has them: https://openxla.org/stablehlo/spec."""

from hetero.frontend.tflite.translators.stablehlo import (  # noqa: F401
    calls,
    elementwise,
    gather,
    movement,
    products,
    random,
    reductions,
    scatter,
    sorting,
)
