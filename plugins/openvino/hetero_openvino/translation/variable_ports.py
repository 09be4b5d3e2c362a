"""Variables as inputs and outputs of OpenVINO's model, wherever OpenVINO's own variables differ from ours.

OpenVINO keeps a variable that one ReadValue reads and one Assign sets, neither of them in a body, in place. It refuses
several of either, needs both, gives an unassigned variable its initial value, and computes in place what is only
assigned. Such a variable becomes an input for its contents and another one that says whether it has any; and, if it is
assigned, an output for its contents and another one that says whether they are new. In bodies it is passed on alike.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from hetero import ops
from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Output, Parameter, Result, VariableInfo, topological_order, walk_nested
from hetero.ops.control_flow.bodies import MultiSubGraphOp
from hetero.ops.control_flow.control_flow import SubGraphOp
from hetero.ops.control_flow.variables import AssignV3, VariableOp, assigned_variables


class VariablePorts(NamedTuple):
    """A variable with two inputs of the model and, if it is assigned, two outputs, after those of the user's model."""

    info: VariableInfo
    is_assigned: bool


class _Before(NamedTuple):
    """The contents of a variable at the start of a graph's run, and whether it has any."""

    contents: Output
    is_set: Output


class _After(NamedTuple):
    """The contents of a variable at the end of a run, and whether the run assigned them."""

    contents: Output
    is_assigned: Output


def expose_variables(model: Model) -> tuple[Model, list[VariablePorts]]:
    """Return a copy of the model in which these variables are ports, or the model if it has none of them."""
    native = _native_variables(model)
    exposed = [variable.info for variable in model.variables if variable.info.variable_id not in native]
    if not exposed:
        return model, []
    copy = model.clone()
    before = {}
    for info in exposed:
        contents = Parameter(info.data_type, info.data_shape, name=f"{info.variable_id}/contents")
        is_set = Parameter(Type.boolean, [], name=f"{info.variable_id}/is_set")
        copy.add_parameters([contents, is_set])
        before[info.variable_id] = _Before(contents.output(0), is_set.output(0))
    after = _rewrite(copy, before)
    for info in exposed:
        if info.variable_id in after:
            copy.add_results([Result(value) for value in after[info.variable_id]])
    copy.validate_nodes_and_infer_types()
    return copy, [VariablePorts(info, info.variable_id in after) for info in exposed]


def _native_variables(model: Model) -> set[str]:
    """Return the names of the variables for which OpenVINO's do as well.

    Their contents cannot have other lengths than those of the Assign, nor can an initial value depend on what it
    assigns. OpenVINO removes a variable if nothing needs what its ReadValue gives.
    """
    order = model.get_ordered_ops()
    users: dict[str, list[VariableOp]] = {}
    for node in walk_nested(order):
        if isinstance(node, VariableOp):
            users.setdefault(node.variable_id, []).append(node)
    if not users:
        return set()
    needed = set(topological_order([*model.results, *(node for node in order if isinstance(node, AssignV3))]))
    return {name for name, nodes in users.items() if needed.issuperset(nodes) and _is_pair(nodes)}


def _is_pair(users: list[VariableOp]) -> bool:
    read, assigned = ([node for node in users if isinstance(node, AssignV3) is kind] for kind in (False, True))
    if len(read) != 1 or len(assigned) != 1:
        return False
    known, new = read[0].get_output_partial_shape(0), assigned[0].get_output_partial_shape(0)
    if known.is_dynamic and new.is_static:
        return False
    return assigned[0].input_value(0).node not in topological_order([value.node for value in read[0].input_values()])


def _rewrite(graph: Model, before: dict[str, _Before]) -> dict[str, _After]:
    """Replace the operations of variables in a graph, and return the variables that it assigns."""
    after: dict[str, _After] = {}
    own: dict[str, _After] = {}
    for node in graph.get_ordered_ops():
        if isinstance(node, MultiSubGraphOp):
            names = {inner.variable_id for inner in walk_nested([node]) if isinstance(inner, VariableOp)}
            lifted = _lift(node, {name: before[name] for name in before if name in names})
            after |= {name: _later(after.get(name), new) for name, new in lifted.items()}
        elif isinstance(node, VariableOp) and node.variable_id in before:
            if isinstance(node, AssignV3):
                value = node.input_value(0)
                own[node.variable_id] = _After(value, _flag(True))
            else:
                known = before[node.variable_id]
                value = choose(known.is_set, known.contents, _initial_value(node))
            node.output(0).replace(value)
            if node in graph.sinks:
                graph.remove_sink(node)
            node.disconnect()
    return after | own


def _lift(node: MultiSubGraphOp, before: dict[str, _Before]) -> dict[str, _After]:
    """Pass variables into the bodies of an operation and out of them."""
    if not before:
        return {}
    names = assigned_variables([node])
    assigned = [name for name in before if name in names]
    if isinstance(node, SubGraphOp):
        return _lift_loop(node, before, assigned)
    return _lift_if(cast(ops.If, node), before, assigned)


def _lift_if(node: ops.If, before: dict[str, _Before], assigned: list[str]) -> dict[str, _After]:
    passed = []
    results: list[dict[str, list[Result]]] = []
    for body in node.bodies:
        given = {name: [_like(value) for value in values] for name, values in before.items()}
        passed.append(given)
        body.add_parameters([parameter for parameters in given.values() for parameter in parameters])
        inside = {name: _Before(*(p.output(0) for p in parameters)) for name, parameters in given.items()}
        after = _rewrite(body, inside)
        ends = {name: after.get(name) or _After(inside[name].contents, _flag(False)) for name in assigned}
        results.append({name: [Result(value) for value in end] for name, end in ends.items()})
        body.add_results([result for pair in results[-1].values() for result in pair])
    for name, values in before.items():
        for value, then_parameter, else_parameter in zip(values, passed[0][name], passed[1][name]):
            node.set_input(value, then_parameter, else_parameter)
    return {
        name: _After(*(node.set_output(*pair) for pair in zip(results[0][name], results[1][name]))) for name in assigned
    }


def _lift_loop(node: SubGraphOp, before: dict[str, _Before], assigned: list[str]) -> dict[str, _After]:
    """Carry what iterations assign from one to the next."""
    body, inside = node.body, {}
    carried: dict[str, list[Parameter]] = {}  # the contents, and whether earlier iterations assigned them
    for name, (contents, is_set) in before.items():
        given, was_set = _like(contents), _like(is_set)
        body.add_parameters([given, was_set])
        node.set_invariant_input(was_set, is_set)
        inside[name] = _Before(given.output(0), was_set.output(0))
        if name in assigned:
            carried[name] = [given, Parameter(Type.boolean, [])]
            body.add_parameters(carried[name][1:])
            inside[name] = _Before(given.output(0), ops.LogicalOr(was_set, carried[name][1]).output(0))
        else:
            node.set_invariant_input(given, contents)
    after, outputs = _rewrite(body, inside), {}
    for name, (given, was_assigned) in carried.items():
        end = after.get(name) or _After(inside[name].contents, _flag(False))
        results = [Result(end.contents), Result(ops.LogicalOr(was_assigned, end.is_assigned).output(0))]
        body.add_results(results)
        starts = (before[name].contents, _flag(False))
        for parameter, start, result in zip((given, was_assigned), starts, results):
            node.set_merged_input(parameter, start, result.output(0))
        outputs[name] = results
    return {name: _After(*(node.get_iter_value(r.output(0), -1) for r in pair)) for name, pair in outputs.items()}


def _later(earlier: _After | None, new: _After) -> _After:
    """Return a variable after two operations that may assign it."""
    if earlier is None:
        return new
    contents = choose(new.is_assigned, new.contents, earlier.contents)
    return _After(contents, ops.LogicalOr(earlier.is_assigned, new.is_assigned).output(0))


def choose(condition: Output, value: Output, other: Output) -> Output:
    """Return a value if a condition is true, another one if not."""
    is_scalar = condition.partial_shape == PartialShape([])
    if is_scalar and value.partial_shape.is_static and value.partial_shape == other.partial_shape:
        return ops.Select(condition, value, other).output(0)
    node = ops.If(condition)
    parameters = [_like(value), _like(other)]
    bodies = [Model([Result(parameter)], [parameter], "chosen") for parameter in parameters]
    node.set_then_body(bodies[0])
    node.set_else_body(bodies[1])
    node.set_input(value, parameters[0], None)
    node.set_input(other, None, parameters[1])
    return node.set_output(bodies[0].results[0], bodies[1].results[0])


def _like(value: Output) -> Parameter:
    return Parameter(value.element_type, value.partial_shape)


def _flag(value: bool) -> Output:
    return Constant(np.array(value)).output(0)


def _initial_value(node: Node) -> Output:
    if node.get_input_size():
        return node.input_value(0)
    shape = [dimension.min_length for dimension in node.get_output_partial_shape(0)]
    return Constant(np.zeros(shape, node.get_output_element_type(0).to_dtype())).output(0)
