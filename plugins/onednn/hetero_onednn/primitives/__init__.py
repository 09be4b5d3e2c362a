"""The operations that oneDNN runs, one module per family."""

from hetero_onednn.primitives import (  # noqa: F401  # their functions are registered
    convolution,
    elementwise,
    interpolation,
    matmul,
    movement,
    normalization,
    pooling,
    reduction,
    views,
)
from hetero_onednn.primitives.registry import implementation_of

__all__ = ["implementation_of"]
