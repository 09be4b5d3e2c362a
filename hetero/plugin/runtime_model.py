"""Runtime models: what a device really executes, as a graph that people and tools can read."""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from hetero.graph import Constant, ExecutionNode, Model, Node, Output, Parameter, Result, execution
from hetero.graph.runtime_info import original_names
from hetero.plugin.profiling import ExecutionTimes

UNKNOWN = "unknown"
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class ExecutedStep:
    """What a device executes as one: nodes of the model that it runs, and what by.

    ``node`` gives the type, and the name under which ``get_profiling_info`` tells the time. ``fused`` are all nodes
    that are executed at once, in order, where there are more than this one; the last one makes the outputs.
    """

    node: Node
    implementation: str = UNKNOWN
    fused: Sequence[Node] = ()

    @property
    def inputs(self) -> list[Output]:
        """The values that come from outside; of a node alone all that it reads, else each once."""
        if not self.fused:
            return self.node.input_values()
        inside = set(self.fused)
        read = (value for node in self.fused for value in node.input_values())
        return list(dict.fromkeys(value for value in read if value.node not in inside))

    @property
    def outputs(self) -> list[Output]:
        return (self.fused or [self.node])[-1].outputs()

    @property
    def original_names(self) -> list[str]:
        return list(dict.fromkeys(name for node in self.fused or [self.node] for name in original_names(node)))


def make_runtime_model(model: Model, steps: Iterable[ExecutedStep], times: ExecutionTimes) -> Model:
    """The runtime model of a model that a device compiled.

    The steps, in the order in which they are executed, run all but its Parameters, Constants and Results. Nodes are
    ExecutionNodes, with Parameters and Results at the ends; rt_info has what OpenVINO's has. Times are means of
    all inferences so far, ``not_executed`` for what none ran or nobody timed.
    """
    builder = RuntimeModelBuilder()
    for parameter in model.parameters:
        builder.add_parameter(parameter.output(0))
    for step in steps:
        name, kind = step.node.friendly_name, step.node.type_info.name
        node = builder.add_step(name, step.inputs, step.outputs)
        describe(node, kind, step.implementation, step.original_names, times.mean(name))
    for result in model.results:
        builder.add_result(result.input_value(0), result.friendly_name)
    return builder.build(model.friendly_name)


class RuntimeModelBuilder:
    """Puts a runtime model together, node by node in the order of execution, numbered in that order.

    Values of the model that is executed stand for those of the runtime model.
    """

    def __init__(self) -> None:
        self._copies: dict[Output, Output] = {}
        self._nodes: list[Node] = []

    def add(self, node: Node, values: Sequence[Output] = ()) -> None:
        """Add a node that reads what the builder has, and say which values its outputs stand for."""
        node.rt_info[execution.EXECUTION_ORDER] = str(len(self._nodes))
        self._nodes.append(node)
        self._copies.update(zip(values, node.outputs()))

    def let(self, value: Output, copy: Output) -> None:
        """Let an output of the runtime model stand for a value."""
        self._copies[value] = copy

    def add_step(self, name: str, inputs: Sequence[Output], outputs: Sequence[Output]) -> ExecutionNode:
        """Add a node that reads and makes values."""
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
        """What stands for a value; a Constant is added when it is first read."""
        if value not in self._copies and isinstance(value.node, Constant):
            self._add_end(ExecutionNode([], [(value.element_type, value.partial_shape)]), value, "Const")
        return self._copies[value]

    def build(self, name: str) -> Model:
        """The runtime model. Nodes that nobody reads are its sinks."""
        ends = [node for node in self._nodes if isinstance(node, ExecutionNode) and not _is_read(node)]
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
    """Make the notes on a node, whose outputs and name are set: what it is, what by and how long it runs."""
    precisions = [str(output.element_type) for output in node.outputs()]
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
    """Letters for the axes in the order in which they lie in memory: rows one after the other, ``abcd``."""
    if not value.partial_shape.has_rank:
        return "undef"
    return string.ascii_letters[: max(1, len(value.partial_shape))]


def _is_read(node: Node) -> bool:
    return any(output.get_target_inputs() for output in node.outputs())
