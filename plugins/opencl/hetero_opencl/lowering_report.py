"""What was decided when a model was lowered, for people to read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hetero.graph import Node, Output

if TYPE_CHECKING:
    from hetero_opencl.program import Buffer

#: The layout of every value as it is made: its elements one row after the other.
ROWS = "rows"


@dataclass(frozen=True)
class LayoutUse:
    """A node wants a value, or an array made of constants, in a layout; ``made`` says when another one than rows is."""

    node: Node
    value: Output | str
    layout: str
    made: str


@dataclass
class LoweringReport:
    """What was computed into which buffers, who wants what in which layout, and why nodes got their kernels."""

    buffers: dict[Output, Buffer] = field(default_factory=dict)
    layouts: list[LayoutUse] = field(default_factory=list)
    reasons: dict[Node, list[str]] = field(default_factory=dict)
