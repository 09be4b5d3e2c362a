"""Replacement of an If of a constant condition by the branch that it takes."""

from __future__ import annotations

from hetero import ops
from hetero.graph import Model, Node, Parameter, Result
from hetero.graph.rt_info import copy_rt_info


def fold_constant_if(model: Model) -> bool:
    """Move the operations of the taken branch into the graph, for each If of a known condition.

    Requires: types and shapes are inferred. An If in the branch of another is replaced too. The operations take the
    original name of the If, so that a device that supports all of them supports it.
    """
    waiting = [node for node in model.get_ordered_ops() if isinstance(node, ops.If)]
    changed = False
    while waiting:
        node = waiting.pop()
        if node.constant_body is not None:
            waiting += [inner for inner in _inline(node, node.constant_body) if isinstance(inner, ops.If)]
            changed = True
    return changed


def _inline(node: ops.If, index: int) -> list[Node]:
    """Connect the operations of a body with the graph around the node, and return them."""
    body = node.get_function(index)
    operations = [inner for inner in body.get_ordered_ops() if not isinstance(inner, (Parameter, Result))]
    for description in node.get_input_descriptions(index):
        for target in body.parameters[description.body_parameter_index].output(0).get_target_inputs():
            target.replace_source_output(node.input_value(description.input_index))
    for inner in operations:
        inner.friendly_name = f"{node.friendly_name}/{inner.friendly_name}"
        copy_rt_info([node], inner)
    for produced in node.get_output_descriptions(index):
        result = body.results[produced.body_value_index]
        node.output(produced.output_index).replace(result.input_value(0))
    for result in body.results:
        result.disconnect()
    node.disconnect()
    return operations
