"""The runtime model of a plan: the runtime models of its subgraphs, joined at the values between them."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.dispatch.cutting.plan import ExecutionStep, Plan
from hetero.dispatch.report import SubgraphReport
from hetero.graph import Model, Output, Parameter, Result
from hetero.graph.execution import EXECUTION_ORDER
from hetero.graph.rt_info import AFFINITY
from hetero.plugin.runtime_model import UNKNOWN, RuntimeModelBuilder, describe
from hetero.system.errors import NotSupportedError


def join_runtime_models(name: str, plan: Plan, subgraphs: Sequence[SubgraphReport], results: Sequence[str]) -> Model:
    """Return the runtime model of a plan, with the device of each node in rt_info["affinity"].

    A subgraph whose device has no runtime model becomes one node. ``results`` are the names of the outputs.
    """
    builder = RuntimeModelBuilder()
    for value in plan.inputs:
        builder.add_parameter(value)
    value_at: list[dict[Output, Output]] = [{} for _ in plan.steps]
    for value, ports in plan.ports.items():
        for port in ports:
            value_at[port.step][port.port] = value
    for step, subgraph, values in zip(plan.steps, subgraphs, value_at):
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


def _add_nodes(
    builder: RuntimeModelBuilder, step: ExecutionStep, inputs: Sequence[Output], outputs: Sequence[Output]
) -> None:
    model = step.compiled.get_runtime_model()
    for parameter, value in zip(model.parameters, inputs):
        builder.represent(parameter.output(0), builder.source_of(value))
    for node in sorted(model.get_ordered_ops(), key=lambda node: int(node.rt_info.get(EXECUTION_ORDER))):
        if not isinstance(node, (Parameter, Result)):
            copy = node.copy_with_new_inputs([builder.source_of(value) for value in node.input_values()])
            copy.rt_info[AFFINITY] = step.device
            builder.add(copy, node.outputs())
    for result, value in zip(model.results, outputs):
        builder.represent(value, builder.source_of(result.input_value(0)))
