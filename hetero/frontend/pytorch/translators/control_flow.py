"""Higher-order operators: those with graphs as arguments. Their arguments have no names, only places."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.pytorch.node_context import TorchNodeContext, translator
from hetero.frontend.translation.control_flow import build_loop_body, make_if, make_scan, make_while
from hetero.frontend.translation.subgraph import Body, Subgraph
from hetero.frontend.translation.translators import Translation
from hetero.graph import Constant, Model, Output, Parameter
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError


@translator("higher_order::cond")
def cond(node: TorchNodeContext) -> Translation:
    condition, then_graph, else_graph, operands = node.arguments.values()
    condition = condition if isinstance(condition, Output) else Constant(np.array(condition)).output(0)
    known = exact_value(condition)
    if known is not None:
        return (then_graph if known.item() else else_graph).inline(operands, node.name)
    return make_if(condition, [graph.with_captured(operands).build([], []) for graph in (then_graph, else_graph)])


@translator("higher_order::while_loop")
def while_loop(node: TorchNodeContext) -> Translation:
    condition_graph, body_graph, carried, others = node.arguments.values()
    first = condition_graph.inline([*carried, *others], f"{node.name}/condition")[0]
    body_graph = body_graph.with_captured(others)

    def build(values: list[Parameter]) -> Body:
        body = body_graph.build(values, values)
        # The condition for the next iteration is the first result.
        after = [result.input_value(0) for result in body.model.results]
        condition = condition_graph.with_captured([*after, *others]).build([], [])
        return _joined(body, condition, after)

    return make_while(build_loop_body(build, carried, 1), first, carried)


def _joined(body: Body, condition: Body, after: list[Output]) -> Body:
    """Return a loop's body whose first result is the condition, which reads the others and what it captures."""
    captured = dict(zip(body.captured, body.model.parameters[len(body.model.parameters) - len(body.captured) :]))
    for parameter, value in zip(condition.model.parameters, condition.captured):
        if value in after:
            parameter.output(0).replace(value)
        elif value in captured:
            parameter.output(0).replace(captured[value].output(0))
        else:
            captured[value] = parameter
    goes_on = ops.Convert(condition.model.results[0].input_value(0), Type.boolean)
    parameters = [*body.model.parameters[: len(body.model.parameters) - len(body.captured)], *captured.values()]
    return Body(Model([goes_on, *after], parameters, body.model.friendly_name), list(captured))


@translator("higher_order::scan")
def scan(node: TorchNodeContext) -> Translation:
    """A graph of the state and a slice along axis 0, for each slice; it returns the next state and further results."""
    graph, states, scanned, others = node.arguments.values()
    return _scan(graph, states, scanned, others or [])


@translator("higher_order::map_impl")
def map_slices(node: TorchNodeContext) -> Translation:
    """A graph of a slice along axis 0, for each slice."""
    graph, scanned, others = node.arguments.values()
    return _scan(graph, [], scanned, others or [])


def _scan(graph: Subgraph, states: list[Output], scanned: list[Output], others: list[Output]) -> Translation:
    if not all(isinstance(value, Output) for value in (*states, *scanned, *others)):
        raise FrontendError("its operands must be tensors")
    inputs, outputs = (0,) * len(scanned), (0,) * (graph.output_count - len(states))
    return make_scan(graph.with_captured(others), states, scanned, inputs, inputs, outputs, outputs)
