"""ExecutionNode, a node of a runtime model: what a device runs, described in rt_info with OpenVINO's keys."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.core.containers import ElementType
from hetero.core.shape import PartialShape
from hetero.graph.node import DiscreteTypeInfo, Node
from hetero.graph.port import Output

# OpenVINO's keys. All values are strings; several names, types or layouts are separated by commas.
EXECUTION_ORDER = "execOrder"
LAYER_TYPE = "layerType"
IMPLEMENTATION = "primitiveType"
ORIGINAL_LAYERS = "originalLayersNames"
EXECUTION_TIME = "execTimeMcs"  # the mean over all inferences so far, in microseconds
OUTPUT_PRECISIONS = "outputPrecisions"
OUTPUT_LAYOUTS = "outputLayouts"
RUNTIME_PRECISION = "runtimePrecision"
NOT_EXECUTED = "not_executed"


class ExecutionNode(Node):
    """One step of a device. The types and shapes of its outputs are given, not inferred."""

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
    """Return whether a node is part of a runtime model, in which Parameters and Results have these keys too."""
    return EXECUTION_ORDER in node.rt_info and LAYER_TYPE in node.rt_info
