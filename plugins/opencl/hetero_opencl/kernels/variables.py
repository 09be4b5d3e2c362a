"""ReadValue and Assign: copies out of and into the memory of variables, which outlives an inference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.ops.variables import AssignV3, ReadValueV3
from hetero.types import Type
from hetero_opencl.kernels.movement import copy_whole
from hetero_opencl.kernels.registry import lowers

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering


READS = (ReadValueV3, ops.ReadValue)


def refuse(node: Node) -> str | None:
    """The memory of a variable is taken before its first value is known."""
    info = node.variable_info
    if info.data_type.is_dynamic() or info.data_type is Type.string:
        return f"no kernel moves elements of type {info.data_type}"
    if not info.data_shape.is_static:
        return f"the shape {info.data_shape} of variable '{info.variable_id}' is not fixed"
    return None


@lowers(*READS, unless=refuse)
def read_value(lowering: Lowering, node: Node) -> None:
    """What the variable holds; over that goes the initial value, while the variable is unset."""
    output = node.output(0)
    copy_whole(lowering, lowering.variable(node), output, lowering.buffer(output))
    if node.get_input_size():
        initial = lowering.buffer(node.input_value(0))
    else:
        initial = lowering.constant(np.zeros(output.shape, output.element_type.to_dtype()))
    lowering.only_while_unset({node.variable_id})
    copy_whole(lowering, initial, output, lowering.buffer(output))


@lowers(AssignV3, ops.Assign, unless=refuse)
def assign(lowering: Lowering, node: Node) -> None:
    """Hands on the value. It is kept when all else has run, so that the variable is read before it is set."""
    lowering.share(node.output(0), node.input_value(0))
    lowering.assignments.append(node)
