"""Lowering report: the layouts and kernels that were selected when a model was lowered, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hetero.graph import Node, Output

if TYPE_CHECKING:
    from hetero_opencl.lowering.implementation import Choice
    from hetero_opencl.lowering.program import Buffer


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
    """The buffer of each value, the layout of each input, and the selection of each operation's implementation.

    ``choices`` are those that were considered, ``chosen`` the selected one; ``reasons`` explain its kernels.
    """

    buffers: dict[Output, Buffer] = field(default_factory=dict)
    layouts: list[LayoutUse] = field(default_factory=list)
    reasons: dict[Node, list[str]] = field(default_factory=dict)
    choices: Mapping[Node, Sequence[Choice]] = field(default_factory=dict)
    chosen: Mapping[Node, Choice] = field(default_factory=dict)
