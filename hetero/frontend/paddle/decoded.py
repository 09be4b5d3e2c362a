"""A PaddlePaddle program, the same for both file forms, before its operators are translated.

The key of a value is the name of its variable. Operators have the types, ports and attributes of ProgramDesc:
``conv2d`` with inputs ``Input`` and ``Filter``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from hetero.core.shape import PartialShape
from hetero.frontend.translation.decoded import DecodedGraph, DecodedModel, DecodedNode, DecodedTensor
from hetero.system.errors import FrontendError

TENSOR_ARRAY = "a tensor array"


@dataclass
class PaddleVariable(DecodedTensor):
    """The element type and the shape of a variable. ``kind``: what it is if it is not a tensor, else "".

    An array of tensors has those of its elements, and the kind TENSOR_ARRAY.
    """

    is_persistable: bool = False
    kind: str = ""

    def empty_array(self) -> np.ndarray:
        """Return the value of an array of tensors before anything is written. Unknown lengths are 0.

        Raises FrontendError if the element type is unknown.
        """
        if self.element_type.is_dynamic():
            raise FrontendError("the element type of an array of tensors must be known")
        shape = self.partial_shape if self.partial_shape.has_rank else PartialShape([])
        lengths = [0 if length.is_dynamic else length.get_length() for length in shape]
        return np.empty([0, *lengths], self.element_type.to_dtype())


@dataclass
class PaddleNode(DecodedNode):
    """An operator, named as the first variable that it sets. Ports map to the names of variables, "" for omitted ones.

    ``has_named_ports``: False if the file has only an order of the values of an operator that is not known.
    ``bodies``: the branches of ``if`` or the body of ``while``.
    """

    bodies: list[PaddleBlock] = field(default_factory=list)
    has_named_ports: bool = True

    @property
    def full_name(self) -> str:
        first = next(self.output_keys(), self.op_type)
        return f"{self.path}/{first}" if self.path else first

    def input_keys(self) -> Iterator[str]:
        yield from (name for names in self.inputs.values() for name in names if name)
        for block in self.bodies:
            yield from block.names_read()

    def output_keys(self) -> Iterator[str]:
        return (name for names in self.outputs.values() for name in names if name)


@dataclass
class PaddleBlock(DecodedGraph):
    """A list of operators, which may also read variables of the blocks around it.

    ``inputs``: the variables that the operator with the block sets before each run; ``outputs``: those that it reads
    afterwards. ``variables``: what is declared in this block. A variable may be set several times.
    """

    name: str = "block"
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    nodes: list[PaddleNode] = field(default_factory=list)
    variables: dict[str, PaddleVariable] = field(default_factory=dict)

    def names_read(self) -> set[str]:
        """Return the variables that the block or one in it reads, or the operator around it afterwards."""
        return {*self.outputs, *(name for node in self.nodes for name in node.input_keys())}


@dataclass
class PaddleProgram(DecodedModel):
    """A program. ``feeds`` and ``fetches``: pairs of a variable and its name for users, in order.

    ``parameters``: the arrays of persistable variables, views of the parameter file.
    """

    graph: PaddleBlock
    feeds: list[tuple[str, str]] = field(default_factory=list)
    fetches: list[tuple[str, str]] = field(default_factory=list)
    parameters: dict[str, np.ndarray] = field(default_factory=dict)

    def keys_by_name(self) -> dict[str, str]:
        return super().keys_by_name() | {name: variable for variable, name in self.fetches}

    def set_outputs(self, outputs: Mapping[str, str]) -> None:
        self.fetches = [(variable, name) for name, variable in outputs.items()]
