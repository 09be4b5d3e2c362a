"""What convolutions and pooling have in common."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.errors import FrontendError
from hetero.frontend.pytorch.node_context import TorchNodeContext


def lengths(node: TorchNodeContext, name: str, default: int, count: int) -> Sequence[int]:
    """Return one number for each spatial axis; one number stands for all. Raises FrontendError if there are others."""
    given = node.get_attribute(name, default)
    numbers = [given] if isinstance(given, int) else list(given)
    if len(numbers) not in (1, count):
        raise FrontendError(f"{name} has {len(numbers)} numbers for {count} axes")
    return numbers * count if len(numbers) == 1 else numbers
