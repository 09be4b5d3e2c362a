"""Translators of ONNX operators, one file a family; importing them enters them in the registry."""

from hetero.frontend.onnx.translators import (  # noqa: F401
    activation,
    constant,
    control_flow,
    conversion,
    convolution,
    elementwise,
    matmul,
    movement,
    normalization,
    pooling,
    random,
    reduction,
    resize,
    scatter,
    selection,
    sequences,
    signal,
    sorting,
    strings,
)
