"""An exported PyTorch program, as the archive or torch itself describes it, before its operators are translated.

The key of a value is its name. What an operator or a user reads is an argument: a Reference to a value, or a constant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from hetero.frontend.translation.decoded import DecodedGraph, DecodedModel, DecodedNode, DecodedTensor


class ValueRef(NamedTuple):
    """The value of a graph that has this name: a tensor, or a number computed at run time."""

    name: str


# A tensor or number of the graph, a constant (None, a number, a str, a Type, a complex), a graph, or a list of them.
Argument = Any


def names_in(argument: Argument) -> Iterator[str]:
    """Yield the names of the values in an argument."""
    if isinstance(argument, ValueRef):
        yield argument.name
    elif isinstance(argument, list):
        for part in argument:
            yield from names_in(part)


@dataclass
class TorchNode(DecodedNode):
    """A call of an operator: ``op_type`` is ``aten::add``, ``overload`` ``Tensor``.

    ``inputs``: the arguments that are given, by their names in the operator's schema, in order; others have defaults.
    ``outputs``: the names of the values, None for one that is not a value. ``path``: that of the module that calls it,
    ``layer1.0.conv1``, or "".
    """

    overload: str = ""

    @property
    def kind(self) -> str:
        return f"{self.op_type}.{self.overload}".rstrip(".")

    @property
    def operator_names(self) -> Sequence[str]:
        return [f"{self.op_type}.{self.overload}", self.op_type]

    @property
    def is_in_place(self) -> bool:
        """Whether it changes its first argument: its name ends with ``_``, as ``aten::add_``."""
        return self.op_type.endswith("_") and not self.op_type.endswith("__")

    @property
    def has_effects(self) -> bool:
        return self.is_in_place or "out" in self.inputs

    def graphs(self) -> Iterator[TorchGraph]:
        """Yield the graphs among its arguments."""
        return (argument for argument in self.inputs.values() if isinstance(argument, TorchGraph))


@dataclass
class TorchTensor(DecodedTensor):
    """What the program says of a tensor. ``strides``: in elements, None for one that is not known before run time.

    ``offset``: that of its first element in the memory.
    """

    strides: Sequence[int | None] = ()
    offset: int | None = 0

    def memory_order(self) -> list[int] | None:
        """Return the axes from the one with the largest stride on, or None if this is not the order of all memory.

        Then the tensor begins elsewhere, has gaps, or lengths or strides that are not known.
        """
        shape = self.partial_shape
        if self.offset != 0 or not shape.is_static or len(self.strides) != len(shape):
            return None
        lengths, elements = shape.to_shape(), 1
        order = sorted(range(len(lengths)), key=lambda axis: (-(self.strides[axis] or 0), -lengths[axis]))
        for axis in reversed(order):
            if lengths[axis] != 1 and self.strides[axis] != elements:
                return None
            elements *= lengths[axis]
        return order


@dataclass
class TorchGraph(DecodedGraph):
    """A graph: the names of its inputs, and its outputs. ``tensors``: what is known of its values, by name."""

    tensors: dict[str, TorchTensor] = field(default_factory=dict)

    def name_of(self, key: Argument) -> str:
        return key.name if isinstance(key, ValueRef) else str(key)


@dataclass
class TorchProgram(DecodedModel):
    """An exported program.

    ``constants``: the arrays of inputs of the graph that are parameters, buffers or constants; ``names``: their names
    in the module. ``user_inputs``: the other inputs. ``user_outputs``: outputs with their names for users.
    ``mutations``: the new contents of buffers or inputs, with the names of these in the graph.
    """

    constants: dict[str, np.ndarray] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    user_inputs: list[str] = field(default_factory=list)
    user_outputs: list[tuple[Argument, str]] = field(default_factory=list)
    mutations: list[tuple[Argument, str]] = field(default_factory=list)

    def keys_by_name(self) -> dict[str, Argument]:
        values = {name: ValueRef(key) for name, key in super().keys_by_name().items()}
        return values | {name: argument for argument, name in self.user_outputs}

    def set_outputs(self, outputs: Mapping[str, Argument]) -> None:
        """Replace the outputs for users; buffers and inputs are changed as before."""
        self.user_outputs = [(argument, name) for name, argument in outputs.items()]
        values = [argument for argument, _ in (*self.user_outputs, *self.mutations)]
        self.graph = replace(self.graph, outputs=values)
