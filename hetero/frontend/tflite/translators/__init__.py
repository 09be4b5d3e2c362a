"""Translators of TensorFlow Lite operators, one file a family; importing them enters them in the registry."""

from hetero.frontend.tflite.translators import (  # noqa: F401
    arithmetic,
    blocks,
    convolution,
    expansion,
    movement,
    pooling,
    resize,
    selection,
    slicing,
    stablehlo,
    stablehlo_movement,
)
