"""The runtime model of a plan: those of its subgraphs, joined where values go from one to the next."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.dispatch.plan import Plan, Step
from hetero.dispatch.report import SubgraphReport
from hetero.errors import NotSupportedError
from hetero.graph import Model, Node, Output, Parameter, Result
from hetero.graph.execution import EXECUTION_ORDER
from hetero.graph.runtime_info import AFFINITY
from hetero.plugin.runtime_model import UNKNOWN, RuntimeModelBuilder, describe


def join_runtime_models(name: str, plan: Plan, subgraphs: Sequence[SubgraphReport], results: Sequence[str]) -> Model:
    """The runtime model, in which ``affinity`` tells the device of each step.

    A device that does not tell what it executes has one node for a whole subgraph. ``results`` are the names of the
    outputs.
    """
    builder = RuntimeModelBuilder()
    for value in plan.inputs:
        builder.add_parameter(value)
    values_of: list[dict[Output, Output]] = [{} for _ in plan.steps]
    for value, places in plan.places.items():
        for place in places:
            values_of[place.step][place.port] = value
    for step, subgraph, values in zip(plan.steps, subgraphs, values_of):
        inputs = [values[port] for port in step.compiled.inputs]
        outputs = [values[port] for port in step.compiled.outputs]
        try:
            _add_nodes(builder, step, inputs, outputs)
        except NotSupportedError:
            node = builder.add_step(step.name, inputs, outputs)
            describe(node, "Subgraph", UNKNOWN, subgraph.operations)
            node.rt_info[AFFINITY] = step.device
    for value, result in zip(plan.outputs, results):
        builder.add_result(value, result)
    return builder.build(name)


def _add_nodes(builder: RuntimeModelBuilder, step: Step, inputs: Sequence[Output], outputs: Sequence[Output]) -> None:
    model = step.compiled.get_runtime_model()
    for parameter, value in zip(model.parameters, inputs):
        builder.let(parameter.output(0), builder.source_of(value))
    for node in sorted(model.get_ordered_ops(), key=_order):
        if not isinstance(node, (Parameter, Result)):
            copy = node.copy_with_new_inputs([builder.source_of(value) for value in node.input_values()])
            copy.rt_info[AFFINITY] = step.device
            builder.add(copy, node.outputs())
    for result, value in zip(model.results, outputs):
        builder.let(value, builder.source_of(result.input_value(0)))


def _order(node: Node) -> int:
    return int(node.rt_info[EXECUTION_ORDER])
