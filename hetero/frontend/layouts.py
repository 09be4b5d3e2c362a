"""Values whose channels are the last axis, as TensorFlow has them, and operations that take them second."""

from __future__ import annotations

from hetero.frontend.values import rank_of, transpose
from hetero.graph import Node, Output, as_output


def channels_second(value: Output) -> Output:
    """``[N, …, C]`` as ``[N, C, …]``."""
    rank = rank_of(value)
    return transpose(value, (0, rank - 1, *range(1, rank - 1)))


def channels_last(value: Output | Node) -> Output:
    """``[N, C, …]`` as ``[N, …, C]``."""
    value = as_output(value)
    rank = rank_of(value)
    return transpose(value, (0, *range(2, rank), 1))
