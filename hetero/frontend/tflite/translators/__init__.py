"""Translators of TensorFlow Lite operators, one file a family; importing them enters them in the registry."""

from hetero.frontend.tflite.translators import (  # noqa: F401
    arithmetic,
    blocks,
    control_flow,
    convolution,
    detection,
    expansion,
    matmul,
    movement,
    pooling,
    random,
    resize,
    scattering,
    selection,
    slicing,
    stablehlo,
    variables,
)
