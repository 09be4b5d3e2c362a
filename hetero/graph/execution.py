"""ExecutionNode, of which runtime models are made: what a device really runs, told in rt_info as OpenVINO tells it."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.containers import ElementType
from hetero.graph.node import DiscreteTypeInfo, Node, Output
from hetero.shape import PartialShape

# OpenVINO's keys. All values are strings; several names, types or layouts have commas between them.
EXECUTION_ORDER = "execOrder"
LAYER_TYPE = "layerType"
IMPLEMENTATION = "primitiveType"
ORIGINAL_LAYERS = "originalLayersNames"
EXECUTION_TIME = "execTimeMcs"  # the mean of all inferences so far in microseconds
OUTPUT_PRECISIONS = "outputPrecisions"
OUTPUT_LAYOUTS = "outputLayouts"
RUNTIME_PRECISION = "runtimePrecision"
NOT_EXECUTED = "not_executed"


class ExecutionNode(Node):
    """One step of a device. It has outputs of given types and shapes, which nothing infers."""

    type_info = DiscreteTypeInfo("ExecutionNode", "extension")

    def __init__(self, inputs: Sequence[Output], outputs: Sequence[tuple[ElementType, PartialShape]]) -> None:
        super().__init__(inputs, len(outputs))
        for index, (element_type, shape) in enumerate(outputs):
            self.set_output_type(index, element_type, shape)

    def validate_and_infer_types(self) -> None:
        return

    def clone_with_new_inputs(self, inputs: Sequence[Output]) -> ExecutionNode:
        return ExecutionNode(inputs, [(value.element_type, value.partial_shape) for value in self.outputs()])


def is_execution_step(node: Node) -> bool:
    """Whether a node is part of a runtime model; Parameters and Results are told of in rt_info too."""
    return EXECUTION_ORDER in node.rt_info and LAYER_TYPE in node.rt_info
