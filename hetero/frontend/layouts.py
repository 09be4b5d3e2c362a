"""Transposes between channels-last layout, as in TensorFlow, and channels-first layout, as in OpenVINO."""

from __future__ import annotations

from hetero.frontend.values import rank_of, transpose
from hetero.graph import Node, Output, as_output


def channels_second(value: Output) -> Output:
    """Transpose ``[N, …, C]`` to ``[N, C, …]``."""
    rank = rank_of(value)
    return transpose(value, (0, rank - 1, *range(1, rank - 1)))


def channels_last(value: Output | Node) -> Output:
    """Transpose ``[N, C, …]`` to ``[N, …, C]``."""
    value = as_output(value)
    rank = rank_of(value)
    return transpose(value, (0, *range(2, rank), 1))
