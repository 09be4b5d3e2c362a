"""Lowering report: the layouts and kernels that were selected when a model was lowered, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hetero.graph import Node, Output

if TYPE_CHECKING:
    from hetero_opencl.program import Buffer


@dataclass(frozen=True)
class LayoutUse:
    """An operation reads a value, or an array made of constants, in a layout.

    ``made`` says where the value is converted to that layout; empty for rows.
    """

    name: str
    value: Output | str
    layout: str
    made: str


@dataclass
class LoweringReport:
    """The buffer of each value, the layout of each input, and the reasons for selecting each node's kernels."""

    buffers: dict[Output, Buffer] = field(default_factory=dict)
    layouts: list[LayoutUse] = field(default_factory=list)
    reasons: dict[Node, list[str]] = field(default_factory=dict)
