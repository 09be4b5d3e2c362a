"""What convolutions and pooling have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hetero import ops
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.translation.values import int64, rank_of
from hetero.graph import Output
from hetero.system.errors import FrontendError


def lengths(node: TorchNodeContext, name: str, default: int, count: int) -> Sequence[int]:
    """Return one number for each spatial axis; one number stands for all. Raises FrontendError if there are others."""
    given = node.get_attribute(name, default)
    numbers = [given] if isinstance(given, int) else list(given)
    if len(numbers) not in (1, count):
        raise FrontendError(f"{name} has {len(numbers)} numbers for {count} axes")
    return numbers * count if len(numbers) == 1 else numbers


def batched(value: Output, count: int) -> tuple[Output, Callable[[Output], Output]]:
    """Return data of ``count`` spatial axes with a batch axis, and the function that removes it if it was added."""
    if rank_of(value) != count + 1:
        return value, lambda result: result
    return ops.Unsqueeze(value, int64([0])).output(0), lambda result: ops.Squeeze(result, int64([0])).output(0)
