"""Turning variables into model inputs and outputs: programs hold no state, requests do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Output, Parameter, Result
from hetero.ops.control_flow.variables import AssignV3, ReadValue, ReadValueV3, VariableOp


def variable_unsupported_reason(node: VariableOp) -> str | None:
    """Return the reason why the variable of a node is not supported, or None."""
    kind = node.variable_info.data_type
    return f"a variable cannot hold elements of type {kind}" if kind.is_dynamic() or kind is Type.string else None


def expose_variables(model: Model, has_value: Sequence[bool]) -> tuple[Model, list[str], list[str]]:
    """Return a copy of the model in which variables are additional inputs and outputs, or the model if it has none.

    ``has_value`` says for each of the model's variables whether it has been assigned. Such variables become inputs; the
    others are replaced by their initial value. Also returns the ids of the variables behind the added inputs and behind
    the added outputs.
    """
    if not has_value:
        return model, [], []
    copy = model.clone()
    order = copy.get_ordered_ops()
    inputs = []
    # First the assigned values, as one may be the old value of another variable. The last Assign of a variable counts.
    assigns = [node for node in order if isinstance(node, AssignV3)]
    assigned = {node.variable_id: node.input_value(0) for node in assigns}
    copy.add_results([Result(value) for value in assigned.values()])
    for node in assigns:
        node.output(0).replace(node.input_value(0))
        if node in copy.sinks:
            copy.remove_sink(node)
        node.disconnect()
    for variable, is_set in zip(model.variables, has_value):
        info = variable.info
        reads = [n for n in order if isinstance(n, (ReadValueV3, ReadValue)) and n.variable_id == info.variable_id]
        if is_set and reads:
            parameter = Parameter(info.data_type, info.data_shape, name=info.variable_id)
            copy.add_parameters([parameter])
            inputs.append(info.variable_id)
        for read in reads:
            read.output(0).replace(parameter.output(0) if is_set else _initial_value(read))
            read.disconnect()
    copy.validate_nodes_and_infer_types()
    return copy, inputs, [*assigned]


def _initial_value(node: Node) -> Output:
    if node.get_input_size():
        return node.input_value(0)
    shape = [dimension.min_length for dimension in node.output(0).partial_shape]
    return Constant(np.zeros(shape, node.get_output_element_type(0).to_dtype())).output(0)
