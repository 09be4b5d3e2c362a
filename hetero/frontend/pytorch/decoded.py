"""An exported PyTorch program, as the archive or torch itself describes it, before its operators are translated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from hetero.core.shape import PartialShape
from hetero.core.types import Type


class Reference(NamedTuple):
    """The value of a graph that has this name: a tensor, or a number computed at run time."""

    name: str


# A tensor or number of the graph, a constant (None, a number, a str, a Type, a complex), a graph, or a list of them.
Argument = Any


@dataclass
class DecodedTensor:
    """The element type and the shape of a tensor; a dimension that depends on the inputs is dynamic."""

    element_type: Type
    partial_shape: PartialShape


def is_in_place(op_type: str) -> bool:
    """Return whether an operator changes its first argument: its name ends with ``_``, as ``aten::add_``."""
    return op_type.endswith("_") and not op_type.endswith("__")


@dataclass
class DecodedNode:
    """A call of an operator: ``op_type`` is ``aten::add``, ``overload`` ``Tensor``.

    ``arguments`` has those that are given, by their names in the operator's schema, in order; others have defaults.
    ``outputs``: the names of the values, None for one that is not a value. ``module``: the path of the module that
    calls it, ``layer1.0.conv1``, or "".
    """

    name: str
    op_type: str
    overload: str
    arguments: dict[str, Argument]
    outputs: list[str | None]
    module: str = ""

    @property
    def is_in_place(self) -> bool:
        """Whether it changes its first argument."""
        return is_in_place(self.op_type)


@dataclass
class DecodedGraph:
    """A graph: the names of its inputs, and its outputs. ``tensors``: what is known of its values, by name."""

    inputs: list[str]
    outputs: list[Argument]
    nodes: list[DecodedNode]
    tensors: dict[str, DecodedTensor]


@dataclass
class DecodedProgram:
    """An exported program.

    ``constants``: the arrays of inputs of the graph that are parameters, buffers or constants; ``names``: their names
    in the module. ``user_inputs``: the other inputs. ``user_outputs``: outputs with their names for users.
    ``mutations``: the new contents of buffers or inputs, with the names of these in the graph.
    """

    graph: DecodedGraph
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    user_inputs: list[str] = field(default_factory=list)
    user_outputs: list[tuple[Argument, str]] = field(default_factory=list)
    mutations: list[tuple[Argument, str]] = field(default_factory=list)
