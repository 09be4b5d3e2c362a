"""The operations that oneDNN runs, one module per family."""

# Importing a module registers its functions.
from hetero_onednn.primitives import elementwise, images, movement, products, reduction  # noqa: F401
from hetero_onednn.primitives.registry import implementation_of

__all__ = ["implementation_of"]
