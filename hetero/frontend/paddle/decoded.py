"""A PaddlePaddle program, the same for both file forms, before its operators are translated.

Operators have the types, ports and attributes of ProgramDesc: ``conv2d`` with inputs ``Input`` and ``Filter``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.system.errors import FrontendError

TENSOR_ARRAY = "a tensor array"


@dataclass
class DecodedVariable:
    """The element type and the shape of a variable. ``kind``: what it is if it is not a tensor, else "".

    An array of tensors has those of its elements, and the kind TENSOR_ARRAY.
    """

    element_type: Type = Type.dynamic
    partial_shape: PartialShape = field(default_factory=PartialShape.dynamic)
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
class DecodedOperator:
    """An operator. Ports map to the names of variables, "" for an omitted value.

    ``has_named_ports``: False if the file has only an order of the values of an operator that is not known.
    ``path``: the path of the layer that calls it, or "". ``blocks``: the branches of ``if`` or the body of ``while``.
    """

    op_type: str
    inputs: dict[str, list[str]]
    outputs: dict[str, list[str]]
    attributes: dict[str, Any]
    blocks: list[DecodedBlock] = field(default_factory=list)
    path: str = ""
    has_named_ports: bool = True

    def input_names(self) -> Iterator[str]:
        """Yield the names of the variables that it reads."""
        return (name for names in self.inputs.values() for name in names if name)

    def output_names(self) -> Iterator[str]:
        """Yield the names of the variables that it sets."""
        return (name for names in self.outputs.values() for name in names if name)


@dataclass
class DecodedBlock:
    """A list of operators, which may also read variables of the blocks around it.

    ``inputs``: the variables that the operator with the block sets before each run; ``outputs``: those that it reads
    afterwards. ``variables``: what is declared in this block. A variable may be set several times.
    """

    operators: list[DecodedOperator]
    variables: dict[str, DecodedVariable]
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)


@dataclass
class DecodedProgram:
    """A program. ``feeds`` and ``fetches``: pairs of a variable and its name for users, in order.

    ``parameters``: the arrays of persistable variables, views of the parameter file.
    """

    block: DecodedBlock
    feeds: list[tuple[str, str]]
    fetches: list[tuple[str, str]]
    parameters: dict[str, np.ndarray] = field(default_factory=dict)


def all_blocks(block: DecodedBlock) -> Iterator[DecodedBlock]:
    """Yield a block and the blocks of its operators, at every depth."""
    worklist = [block]
    while worklist:
        block = worklist.pop()
        yield block
        worklist += [inner for operator in block.operators for inner in operator.blocks]
