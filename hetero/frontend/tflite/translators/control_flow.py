"""Operators that run other graphs: IF, WHILE, CALL, CALL_ONCE and composites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.control_flow import build_loop_body, connect, make_if
from hetero.frontend.subgraph import Body, ModelScope
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.variables import VariablesOfBody
from hetero.frontend.translation import Translation
from hetero.graph import Constant, Model, Node, Output, Parameter, is_constant
from hetero.ops.port_maps import BodyOutputDescription, MergedInputDescription

if TYPE_CHECKING:
    from hetero.frontend.tflite.graph import TfliteSubgraph


@translator("CALL", "STABLEHLO_COMPOSITE")
def call(node: TfliteNodeContext) -> Translation:
    """The graph takes the operator's place; that of a composite says what the composite computes."""
    return node.get_subgraph(0).inline(node.get_inputs(), node.name)


@translator("CALL_ONCE")
def call_once(node: TfliteNodeContext) -> Translation:
    """The graph gives variables and tables what they begin with."""
    with node.variables.initializing():
        node.get_subgraph(0).inline([], node.name)
    return []


@translator("IF")
def if_operator(node: TfliteNodeContext) -> Translation:
    """Both graphs take all inputs but the condition. Variables that either sets become outputs of both."""
    condition, *inputs = node.get_inputs()
    graphs = [node.get_subgraph(0), node.get_subgraph(1)]
    for graph in graphs:
        _check_counts(graph, len(inputs), node.get_output_size())
    if is_constant(condition):
        return graphs[0 if condition.node.data.item() else 1].inline(inputs, node.name)
    hosts = [ModelScope(), ModelScope()]
    scopes = [VariablesOfBody(node.variables, host.capture) for host in hosts]
    results = [
        graph.inside(host, scope, [host.capture(value, name) for value, name in zip(inputs, graph.input_names)])
        for graph, host, scope in zip(graphs, hosts, scopes)
    ]
    changed = sorted({name for scope in scopes for name in scope.assigned})
    bodies = []
    for graph, host, scope, values in zip(graphs, hosts, scopes, results):
        values = [*values, *(scope.read(name) for name in changed)]
        bodies.append(Body(Model(values, list(host.captured.values()), graph.name or "body"), list(host.captured)))
    return _without_variables(node, make_if(condition, bodies), changed)


@translator("WHILE", "STABLEHLO_WHILE")
def while_operator(node: TfliteNodeContext) -> Translation:
    """A Loop that asks for its condition before it runs and at the end of its body.

    Variables that are set within become inputs and outputs of the Loop.
    """
    condition, step = node.get_subgraph(0), node.get_subgraph(1)
    given = node.get_inputs()
    _check_counts(condition, len(given), 1)
    _check_counts(step, len(given), node.get_output_size())
    (runs,) = condition.inline(given, f"{node.name}/condition")
    # A resource is the same in all iterations.
    carried = [place for place in range(len(given)) if node.input_tensor(place).kind != "RESOURCE"]
    initial = [given[place] for place in carried]

    def build(parameters: list[Parameter]) -> Body:
        nonlocal scope
        host = ModelScope()
        scope = VariablesOfBody(node.variables, lambda value, name: _state(host, value, name))
        values = [value if place in carried else host.capture(value, "resource") for place, value in enumerate(given)]
        for place, parameter in zip(carried, parameters):
            values[place] = host.name(parameter, step.input_names[place]).output(0)
        values = step.inside(host, scope, values)
        (again,) = condition.inside(host, scope, values, "condition/")
        changed = [scope.enter(name)[1].node for name in scope.assigned]
        read = [inside.node for _, inside in scope.entered.values() if inside.node not in changed]
        results = [again, *(values[place] for place in carried), *(scope.read(name) for name in scope.assigned)]
        model = Model(results, [*parameters, *changed, *read], step.name or "body")
        return Body(model, [around for around, inside in scope.entered.values() if inside.node in read])

    scope: VariablesOfBody
    body = build_loop_body(build, initial, 1)
    initial += [scope.enter(name)[0] for name in scope.assigned]
    no_limit = Constant(np.int64(-1)).output(0)
    made = ops.Loop(no_limit, runs)
    made.set_special_body_ports([-1, 0])
    connect(
        made,
        body,
        [no_limit, runs, *initial],
        [MergedInputDescription(2 + place, place, 1 + place) for place in range(len(initial))],
        [BodyOutputDescription(1 + place, place) for place in range(len(initial))],
    )
    values = _without_variables(node, made, scope.assigned)
    return [values[carried.index(place)] if place in carried else value for place, value in enumerate(given)]


def _state(host: ModelScope, value: Output, name: str) -> Output:
    """A Parameter for a variable within a Loop: nothing is known of its contents, as iterations may change them."""
    return host.name(Parameter(value.element_type, value.partial_shape), name).output(0)


def _without_variables(node: TfliteNodeContext, made: Node, changed: Sequence[str]) -> list[Output]:
    """The outputs, without the last ones, which are what variables hold from now on."""
    outputs = made.outputs()
    count = len(outputs) - len(changed)
    for name, value in zip(changed, outputs[count:]):
        node.variables.assign(name, value)
    return outputs[:count]


def _check_counts(graph: TfliteSubgraph, inputs: int, outputs: int) -> None:
    """Raises FrontendError where a graph takes or gives another number of values."""
    graph.check_input_count(inputs)
    if graph.output_count != outputs:
        raise FrontendError(f"its graph '{graph.name}' has {graph.output_count} outputs, but {outputs} are needed")
