"""Operators that run other graphs: IF, WHILE, CALL, CALL_ONCE and composites; resource variables and hash tables.

A resource handle becomes a string constant with the resource's name.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.control_flow import build_loop_body, make_if, make_while
from hetero.frontend.translation.subgraph import Body, ModelScope, Subgraph
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length
from hetero.frontend.translation.variables import BodyVariables
from hetero.graph import Constant, Model, Node, Output, Parameter, constant_array
from hetero.ops.values import exact_value
from hetero.system.errors import FrontendError


@translator("CALL", "STABLEHLO_COMPOSITE")
def call(node: TfliteNodeContext) -> Translation:
    """Inline the called graph; for a composite, its decomposition."""
    return node.get_subgraph(0).inline(node.get_inputs(), node.name)


@translator("STABLEHLO_CUSTOM_CALL")
def custom_call(node: TfliteNodeContext) -> Translation:
    """Raise FrontendError: only an extension can know what a custom call computes."""
    target = node.get_attribute("call_target_name")
    raise FrontendError(f"it calls '{target}', for which there is no extension: add a ConversionExtension of this name")


@translator("CALL_ONCE")
def call_once(node: TfliteNodeContext) -> Translation:
    """Initialize variables and hash tables by the called graph."""
    with node.variables.initializing():
        node.get_subgraph(0).inline([], node.name)
    return []


@translator("IF")
def if_operator(node: TfliteNodeContext) -> Translation:
    """Both graphs take all inputs except the condition. A variable that either assigns becomes an output of both."""
    condition, *inputs = node.get_inputs()
    graphs = [node.get_subgraph(0), node.get_subgraph(1)]
    for graph in graphs:
        _check_counts(graph, len(inputs), node.get_output_size())
    known = constant_array(condition)
    if known is not None:
        return graphs[0 if known.item() else 1].inline(inputs, node.name)
    scopes = [ModelScope(), ModelScope()]
    variables = [node.variables.in_body(scope) for scope in scopes]
    results = [
        graph.translate_into(scope, own, [scope.capture(value, name) for value, name in zip(inputs, graph.input_names)])
        for graph, scope, own in zip(graphs, scopes, variables)
    ]
    assigned = sorted({name for own in variables for name in own.assigned})
    bodies = []
    for graph, scope, own, values in zip(graphs, scopes, variables, results):
        values = [*values, *(own.read(name) for name in assigned)]
        bodies.append(Body(Model(values, list(scope.captured.values()), graph.name or "body"), list(scope.captured)))
    return _without_variables(node, make_if(condition, bodies), assigned)


@translator("WHILE", "STABLEHLO_WHILE")
def while_operator(node: TfliteNodeContext) -> Translation:
    """Translate to a Loop. The condition is computed before the Loop and at the end of its body.

    Variables that the body assigns become inputs and outputs of the Loop.
    """
    condition, step = node.get_subgraph(0), node.get_subgraph(1)
    inputs = node.get_inputs()
    _check_counts(condition, len(inputs), 1)
    _check_counts(step, len(inputs), node.get_output_size())
    (enters,) = condition.inline(inputs, f"{node.name}/condition")
    # Resource handles are the same in all iterations.
    carried = [index for index in range(len(inputs)) if node.input_tensor(index).kind != "RESOURCE"]
    initial = [inputs[index] for index in carried]
    variables: BodyVariables

    def build(parameters: list[Parameter]) -> Body:
        nonlocal variables
        scope = ModelScope()
        captured: dict[str, Parameter] = {}

        def capture(value: Output, name: str) -> Output:
            """Make a Parameter for a variable. Iterations may change it, so it has no known contents."""
            captured[name] = scope.name(Parameter(value.element_type, value.partial_shape), name)
            return captured[name].output(0)

        variables = node.variables.in_body(scope, capture)
        values = [value if index in carried else scope.capture(value, "resource") for index, value in enumerate(inputs)]
        for index, parameter in zip(carried, parameters):
            values[index] = scope.name(parameter, step.input_names[index]).output(0)
        values = step.translate_into(scope, variables, values)
        (continues,) = condition.translate_into(scope, variables, values, "condition/")
        assigned = variables.assigned
        results = [continues, *(values[index] for index in carried), *(variables.read(name) for name in assigned)]
        for name in assigned:
            variables.capture(name)
        read = [name for name in captured if name not in assigned]
        parameters = [*parameters, *(captured[name] for name in (*assigned, *read))]
        return Body(Model(results, parameters, step.name or "body"), [variables.capture(name)[0] for name in read])

    body = build_loop_body(build, initial, 1)
    initial += [variables.capture(name)[0] for name in variables.assigned]
    values = _without_variables(node, make_while(body, enters, initial), variables.assigned)
    return [values[carried.index(index)] if index in carried else value for index, value in enumerate(inputs)]


def _without_variables(node: TfliteNodeContext, operation: Node, assigned: Collection[str]) -> list[Output]:
    """Assign the last outputs of an operation to the named variables; return the other outputs."""
    outputs = operation.outputs()
    count = len(outputs) - len(assigned)
    for name, value in zip(assigned, outputs[count:]):
        node.variables.assign(name, value)
    return outputs[:count]


def _check_counts(graph: Subgraph, inputs: int, outputs: int) -> None:
    """Raise FrontendError if a graph has another number of inputs or outputs."""
    graph.check_input_count(inputs)
    if graph.output_count != outputs:
        raise FrontendError(f"its graph '{graph.name}' has {graph.output_count} outputs, but {outputs} are needed")


@translator("VAR_HANDLE")
def variable_handle(node: TfliteNodeContext) -> Translation:
    container, name = node.get_attribute("container"), node.get_attribute("shared_name")
    return Constant(np.array(f"{container}/{name}" if container else name))


@translator("READ_VARIABLE")
def read_variable(node: TfliteNodeContext) -> Translation:
    return node.variables.read(_name(node))


@translator("ASSIGN_VARIABLE")
def assign_variable(node: TfliteNodeContext) -> Translation:
    node.variables.assign(_name(node), node.get_input(1))
    return []


@translator("HASHTABLE")
def hash_table(node: TfliteNodeContext) -> Translation:
    return Constant(np.array(str(node.get_attribute("table_id"))))


@translator("HASHTABLE_IMPORT")
def fill_hash_table(node: TfliteNodeContext) -> Translation:
    node.tables[_name(node)] = node.get_input(1), node.get_input(2)
    return []


@translator("HASHTABLE_FIND")
def find_in_hash_table(node: TfliteNodeContext) -> Translation:
    keys, values = _table(node)
    default = ops.Reshape(node.get_input(2), np.zeros(0, np.int64), False)
    return ops.LabelEncoder(node.get_input(1), keys, values, default)


@translator("HASHTABLE_SIZE")
def hash_table_size(node: TfliteNodeContext) -> Translation:
    keys, _ = _table(node)
    return ops.Unsqueeze(axis_length(keys, 0), np.int64(0))


def _name(node: TfliteNodeContext) -> str:
    """Return the name of the resource whose handle is input 0. Raises FrontendError if the handle is not constant."""
    name = exact_value(node.get_input(0))
    if name is None:
        raise FrontendError("its resource handle, input 0, must be constant")
    return str(name)


def _table(node: TfliteNodeContext) -> tuple[Output, Output]:
    """Return the keys and the values of the hash table whose handle is input 0. Raises FrontendError if it is empty."""
    name = _name(node)
    if name not in node.tables:
        raise FrontendError(f"hash table {name} is never filled")
    return node.tables[name]
