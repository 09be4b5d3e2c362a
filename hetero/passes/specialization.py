"""Specialization of a model of dynamic shapes for one combination of input shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from hetero import ops
from hetero.core.containers import ElementType
from hetero.graph import Constant, Model, Node, Parameter, Result
from hetero.graph.rt_info import copy_rt_info
from hetero.ops import ShapeOf
from hetero.ops.control_flow.variables import AssignV3, assigned_variables
from hetero.passes.constant_folding import fold_constants
from hetero.passes.manager import keeps_values


def shape_deciding_parameters(model: Model) -> list[Parameter]:
    """Return the Parameters whose contents decide shapes."""
    deciding = shape_deciding_nodes(model)
    return [parameter for parameter in model.parameters if parameter in deciding]


def shape_deciding_nodes(model: Model) -> set[Node]:
    """Return the nodes whose values any input in ``shape_inputs`` of a node depends on."""
    deciding: set[Node] = set()
    for node in reversed(model.get_ordered_ops()):
        for target in (t for output in node.outputs() for t in output.get_target_inputs()):
            reader = target.node
            # ShapeOf depends on the shape of its input, not on its value.
            if target.index in reader.shape_inputs or (reader in deciding and not isinstance(reader, ShapeOf)):
                deciding.add(node)
    return deciding


def specialize(
    model: Model,
    shapes: Mapping[int, tuple[int, ...]],
    values: Mapping[int, np.ndarray | Node],
    types: Mapping[int, ElementType] | None = None,
) -> Model:
    """Return a copy of the model for these input shapes, contents of inputs and types of inputs, each by index.

    Contents may be the only output of a node.
    Constants are folded, and each If of a known condition is replaced by its branch. All shapes are static except those
    that depend on data. An input whose contents are given stays a Parameter of the copy, which no node reads.
    """
    special = model.clone()
    for index, shape in shapes.items():
        special.parameters[index].partial_shape = shape
    for index, element_type in (types or {}).items():
        special.parameters[index].element_type = element_type
    for index, value in values.items():
        parameter = special.parameters[index]
        name = f"{parameter.friendly_name}/value"
        known = value if isinstance(value, Node) else Constant(value.copy(), name=name)
        known.friendly_name = name
        for target in parameter.output(0).get_target_inputs():
            target.replace_source_output(known.output(0))
    for parameter in special.parameters:
        parameter.infer()
    while fold_constant_if(special):
        pass
    fold_constants(special)
    return special


@keeps_values
def fold_constant_if(model: Model) -> bool:
    """Move the operations of the taken branch into the graph, for each If of a known condition.

    An If in the branch of another is replaced too. Constants are folded first, as conditions may be computed from them:
    a cut makes these known to the compilation, so they must be known to the query of the whole model. Conditions that
    depend on replaced branches are left to the next call: a cut may keep these apart. Returns whether any If was
    replaced.

    The operations take the original name of the If, so that a device that supports all of them supports it. The sinks
    of the branch become sinks of the model, which keeps the variables of both branches. So does each Assign, as its
    readers may be left out.

    An If stays if its branch assigns a variable that other operations assign too, as the order of these may change.
    """
    if not any(isinstance(node, ops.If) for node in model.get_ordered_ops()):
        return False
    fold_constants(model)
    waiting = _with_known_conditions(model.get_ordered_ops())
    if not waiting:
        return False
    model.add_variables(model.variables)
    model.add_sinks(_assigning(model))
    while waiting:
        node, index = waiting.pop()
        if node in model.sinks:
            model.remove_sink(node)
        body = node.get_function(index)
        drop_overwritten_assigns(body)
        model.add_sinks([*_assigning(body), *body.sinks])
        waiting += _with_known_conditions(_inline(node, index))
    return True


def _assigning(model: Model) -> list[Node]:
    return [node for node in model.get_ordered_ops() if assigned_variables([node])]


def drop_overwritten_assigns(model: Model) -> None:
    """Remove each Assign that another one of its graph overwrites in every run: the last in topological order."""
    before = model.get_ordered_ops()
    last = {node.variable_id: node for node in before if isinstance(node, AssignV3)}
    for node in before:
        if isinstance(node, AssignV3) and last[node.variable_id] is not node:
            node.output(0).replace(node.input_value(0))
            if node in model.sinks:
                model.remove_sink(node)
    for node in set(before).difference(model.get_ordered_ops()):
        node.disconnect()


def _with_known_conditions(nodes: Sequence[Node]) -> list[tuple[ops.If, int]]:
    """Return each If of a known condition that can be replaced, with the index of the body that runs."""
    branches = [(node, node.constant_body) for node in nodes if isinstance(node, ops.If)]
    known = [(node, index) for node, index in branches if index is not None]
    if not known:
        return []
    setters = Counter(name for node in nodes for name in assigned_variables([node]))
    return [(node, index) for node, index in known if all(setters[name] == 1 for name in assigned_variables([node]))]


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
