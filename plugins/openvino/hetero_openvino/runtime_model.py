"""The graph that OpenVINO executes, as hetero's runtime model."""

from __future__ import annotations

import openvino

from hetero.core.shape import PartialShape
from hetero.graph import ExecutionNode, Model, Node, Output, Parameter, Result, execution
from hetero.plugin import MICROSECOND, ExecutionTimes
from hetero_openvino.memory import hetero_type


def runtime_model(engine: openvino.CompiledModel, times: ExecutionTimes) -> Model:
    """Return the executed graph of a compiled model. Its times are means of all inferences so far."""
    graph = engine.get_runtime_model()
    values: dict[openvino.Output, Output] = {}
    nodes: list[Node] = []
    for order, theirs in enumerate(graph.get_ordered_ops()):
        node = _node(theirs, [values[port.get_source_output()] for port in theirs.inputs()])
        node.friendly_name = theirs.friendly_name
        node.rt_info.update((key, str(value.astype(str))) for key, value in theirs.rt_info.items())
        node.rt_info[execution.EXECUTION_ORDER] = str(order)
        mean = times.mean(theirs.friendly_name)
        node.rt_info[execution.EXECUTION_TIME] = (
            execution.NOT_EXECUTED if mean is None else str(round(mean / MICROSECOND))
        )
        values.update(zip(theirs.outputs(), node.outputs()))
        nodes.append(node)
    results = [node for node in nodes if isinstance(node, Result)]
    parameters = [node for node in nodes if isinstance(node, Parameter)]
    return Model(results, parameters, graph.friendly_name)


def _node(theirs: openvino.Node, inputs: list[Output]) -> Node:
    outputs = [
        (hetero_type(output.get_element_type()), PartialShape(str(output.get_partial_shape()).strip("{}")))
        for output in theirs.outputs()
    ]
    kind = theirs.get_type_name()
    if kind == "Parameter":
        return Parameter(*outputs[0])
    return Result(inputs[0]) if kind == "Result" else ExecutionNode(inputs, outputs)
