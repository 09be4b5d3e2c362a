"""Higher-order operators: those with graphs as arguments. Their arguments have no names, only places."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.control_flow import build_loop_body, connect, make_if
from hetero.frontend.pytorch.node_context import TorchNodeContext
from hetero.frontend.pytorch.registry import translator
from hetero.frontend.pytorch.subgraph import TorchSubgraph
from hetero.frontend.subgraph import Body
from hetero.frontend.translation import Translation
from hetero.graph import Constant, Model, Output, Parameter
from hetero.ops.port_maps import BodyOutputDescription, InvariantInputDescription, MergedInputDescription
from hetero.ops.values import exact_value
from hetero.types import Type


@translator("higher_order::wrap_with_set_grad_enabled", "higher_order::wrap_with_autocast")
def wrapped(node: TorchNodeContext) -> Translation:
    """A graph in which gradients, or conversions to other types, are on or off; it has those conversions."""
    (graph,) = (value for value in node.arguments.values() if isinstance(value, TorchSubgraph))
    return graph.inline([value for value in node.arguments.values() if isinstance(value, Output)], node.name)


@translator("higher_order::cond")
def cond(node: TorchNodeContext) -> Translation:
    condition, then_graph, else_graph, operands = node.arguments.values()
    condition = condition if isinstance(condition, Output) else Constant(np.array(condition)).output(0)
    known = exact_value(condition)
    if known is not None:
        return (then_graph if known.item() else else_graph).inline(operands, node.name)
    return make_if(condition, [graph.build_branch(operands) for graph in (then_graph, else_graph)])


@translator("higher_order::while_loop")
def while_loop(node: TorchNodeContext) -> Translation:
    condition_graph, body_graph, carried, others = node.arguments.values()
    first = condition_graph.inline([*carried, *others], f"{node.name}/condition")[0]

    def build(values: list[Parameter]) -> Body:
        invariant = [Parameter(value.element_type, value.partial_shape) for value in others]
        inputs = [*values, *invariant]
        body = body_graph.build(inputs, inputs)
        # The condition for the next iteration is the first result.
        after = [result.input_value(0) for result in body.model.results]
        goes_on = condition_graph.build_branch([*after, *(one.output(0) for one in invariant)])
        return _joined(body, goes_on)

    body = build_loop_body(build, carried, 1)
    operation = ops.Loop(np.int64(-1), first)
    operation.set_special_body_ports([-1, 0])
    count = len(carried)
    return connect(
        operation, body, [operation.input_value(0), first, *carried, *others],
        [MergedInputDescription(2 + i, i, 1 + i) for i in range(count)]
        + [InvariantInputDescription(2 + i, i) for i in range(count, count + len(others))],
        [BodyOutputDescription(1 + i, i) for i in range(count)],
    )  # fmt: skip


def _joined(body: Body, condition: Body) -> Body:
    """Return a loop's body whose first result is the condition, computed from the others."""
    for parameter, value in zip(condition.model.parameters, condition.captured):
        parameter.output(0).replace(value)
    goes_on = condition.model.results[0].input_value(0)
    after = [result.input_value(0) for result in body.model.results]
    return Body(
        Model([ops.Convert(goes_on, Type.boolean), *after], body.model.parameters, body.model.friendly_name), []
    )
