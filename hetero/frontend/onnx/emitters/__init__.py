"""Emitters of ONNX nodes by family of operations; importing the package registers them."""

from hetero.frontend.onnx.emitters import (  # noqa: F401
    control_flow,
    convolution,
    elementwise,
    extensions,
    gathering,
    movement,
    normalization,
    quantization,
    recurrent,
    reduction,
    resize,
    signal,
    slicing,
)
