"""Runtime models: the graph that a device executes, for people and tools."""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from hetero.compiler import KnownLengths
from hetero.graph import Constant, ExecutionNode, Model, Node, Output, Parameter, Result, execution
from hetero.graph.rt_info import original_names
from hetero.plugin.requests.profiling import ExecutionTimes

UNKNOWN = "unknown"
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class ExecutedStep:
    """One execution step of a device: one or several operations, and their implementation.

    ``node`` has the name of the step in ``get_profiling_info``; ``type_name`` is its type, by default the node's.
    ``others`` are further nodes that the step computes: all of them, if a device compiles whole graphs.
    """

    node: Node
    implementation: str = UNKNOWN
    type_name: str = ""
    others: Sequence[Node] = ()

    def nodes(self) -> list[Node]:
        return [self.node, *self.others]

    def inputs(self) -> list[Output]:
        """Return the values that the step reads, in the order of its nodes."""
        nodes = dict.fromkeys(self.nodes())
        return [value for node in nodes for value in node.input_values() if value.node not in nodes]

    def outputs(self) -> list[Output]:
        """Return the values that the step computes for other steps; one node has all of its outputs."""
        nodes = dict.fromkeys(self.nodes())
        values = [value for node in nodes for value in node.outputs()]
        if not self.others:
            return values
        return [value for value in values if any(port.node not in nodes for port in value.get_target_inputs())]


def make_runtime_model(model: Model, steps: Iterable[ExecutedStep], times: ExecutionTimes) -> Model:
    """Return the runtime model of a compiled model.

    ``steps`` are in execution order and have all nodes but Parameters, Constants and Results. Each becomes an
    ExecutionNode with OpenVINO's keys in rt_info. Times are means of all inferences so far, ``not_executed`` without.
    """
    builder = RuntimeModelBuilder()
    for parameter in model.parameters:
        builder.add_parameter(parameter.output(0))
    for step in steps:
        name, kind = step.node.friendly_name, step.type_name or step.node.type_info.name
        node = builder.add_step(name, step.inputs(), step.outputs())
        names = dict.fromkeys(name for node in step.nodes() for name in original_names(node))
        describe(node, kind, step.implementation, names, times.mean(name))
    for result in model.results:
        builder.add_result(result.input_value(0), result.friendly_name)
    return builder.build(model.friendly_name)


class RuntimeModelBuilder:
    """Builder of a runtime model, node by node in execution order. Its arguments are values of the executed model."""

    def __init__(self) -> None:
        self._copies: dict[Output, Output] = {}
        self._nodes: list[Node] = []

    def add(self, node: Node, values: Sequence[Output] = ()) -> None:
        """Add a node; its outputs represent ``values`` of the executed model."""
        node.rt_info[execution.EXECUTION_ORDER] = str(len(self._nodes))
        self._nodes.append(node)
        self._copies.update(zip(values, node.outputs()))

    def represent(self, value: Output, copy: Output) -> None:
        """Represent a value of the executed model by an output of the runtime model."""
        self._copies[value] = copy

    def add_step(self, name: str, inputs: Sequence[Output], outputs: Sequence[Output]) -> ExecutionNode:
        """Add a node with these inputs and outputs."""
        node = ExecutionNode(
            [self.source_of(value) for value in inputs],
            [(value.element_type, value.partial_shape) for value in outputs],
        )
        node.friendly_name = name
        self.add(node, outputs)
        return node

    def add_parameter(self, value: Output) -> None:
        self._add_end(Parameter(value.element_type, value.partial_shape), value, "Input")

    def add_result(self, value: Output, name: str) -> None:
        result = Result(self.source_of(value))
        result.friendly_name = name
        describe(result, "Output", UNKNOWN, [name])
        self.add(result)

    def source_of(self, value: Output) -> Output:
        """Return the output that represents a value. A Constant is added when it is first read."""
        if value not in self._copies and isinstance(value.node, (Constant, KnownLengths)):
            self._add_end(ExecutionNode([], [(value.element_type, value.partial_shape)]), value, "Const")
        return self._copies[value]

    def build(self, name: str) -> Model:
        """Return the runtime model. Nodes without readers are its sinks."""
        steps = [node for node in self._nodes if isinstance(node, ExecutionNode)]
        ends = [node for node in steps if not any(output.get_target_inputs() for output in node.outputs())]
        results = [node for node in self._nodes if isinstance(node, Result)]
        parameters = [node for node in self._nodes if isinstance(node, Parameter)]
        return Model(results, parameters, name, sinks=ends)

    def _add_end(self, node: Node, value: Output, layer_type: str) -> None:
        node.friendly_name = value.node.friendly_name
        describe(node, layer_type, UNKNOWN, original_names(value.node))
        self.add(node, [value])


def describe(
    node: Node, layer_type: str, implementation: str, names: Iterable[str], time: timedelta | None = None
) -> None:
    """Write type, implementation, precisions, layouts and time of a node to its rt_info, by OpenVINO's keys."""
    precisions = [output.element_type.to_string() for output in node.outputs()]
    node.rt_info |= {
        execution.LAYER_TYPE: layer_type,
        execution.IMPLEMENTATION: implementation,
        execution.ORIGINAL_LAYERS: ",".join(names),
        execution.OUTPUT_PRECISIONS: ",".join(precisions),
        execution.OUTPUT_LAYOUTS: ",".join(map(_layout, node.outputs())),
        execution.RUNTIME_PRECISION: precisions[0] if precisions else "undefined",
        execution.EXECUTION_TIME: execution.NOT_EXECUTED if time is None else str(round(time / MICROSECOND)),
    }


def _layout(value: Output) -> str:
    """Return the memory layout as letters of axes, outermost first: row-major ``abcd``."""
    if not value.partial_shape.has_rank:
        return "undef"
    return string.ascii_letters[: max(1, len(value.partial_shape))]
