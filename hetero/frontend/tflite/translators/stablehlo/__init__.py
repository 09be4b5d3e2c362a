"""Translators of StableHLO operators, by the specification https://openxla.org/stablehlo/spec."""
