"""ReadValue and Assign, on the variables of a run."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.ops.control_flow.variables import AssignV3, ReadValueV3
from hetero.reference.registry import Array, Run, Runner, prepares


@prepares(ReadValueV3, ops.ReadValue)
def read_value(node: ops.ReadValue) -> Runner:
    name, output = node.variable_id, node.output(0)

    def run_node(run: Run, *arrays: Array) -> Array:
        if name in run.variables:
            return run.variables[name].view()  # so that no result that owns its memory is a variable
        if arrays:
            return arrays[0]
        return np.zeros([d.min_length for d in output.partial_shape], output.element_type.to_dtype())

    return run_node


@prepares(AssignV3, ops.Assign)
def assign(node: ops.Assign) -> Runner:
    name = node.variable_id

    def run_node(run: Run, array: Array) -> Array:
        # Copied, as the array may be an input's memory or become an output's.
        run.variables[name] = array.copy()
        return array

    return run_node
