"""TfliteNodeContext: the view of a TensorFlow Lite operator that its translator gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hetero.core.types import Type
from hetero.frontend.tflite.decoded import DecodedOperator, DecodedTensor
from hetero.frontend.translation.node_context import NodeContext
from hetero.graph import Output
from hetero.system.errors import FrontendError

if TYPE_CHECKING:
    from hetero.frontend.tflite.graph import GraphBuilder, TfliteSubgraph


class TfliteNodeContext(NodeContext):
    """An operator. Its attributes are named as in the schema: ``stride_w``, ``fused_activation_function``.

    Attributes of an enumeration type are ints. ``variables``: the model's variables.
    """

    def __init__(
        self, operator: DecodedOperator, name: str, inputs: Sequence[Output | None], builder: GraphBuilder
    ) -> None:
        super().__init__(operator.op_type, name, inputs, len(operator.outputs))
        self._operator, self._builder, self._tensors = operator, builder, builder.graph.tensors
        self.variables = builder.variables

    def get_opset_version(self) -> int:
        """The version of the operator."""
        return self._operator.version

    def input_tensor(self, index: int) -> DecodedTensor:
        """The file's tensor of an input: its quantization, kind and shape."""
        return self._tensors[self._operator.inputs[index]]

    def output_tensor(self, index: int) -> DecodedTensor:
        """The file's tensor of an output: its element type, quantization and the shape at conversion time."""
        return self._tensors[self._operator.outputs[index]]

    def output_type(self, index: int) -> Type:
        """Return the element type of an output in the file. Raises FrontendError if it is dynamic."""
        tensor = self.output_tensor(index)
        if tensor.element_type.is_dynamic():
            raise FrontendError(f"a tensor of {tensor.kind} is not supported")
        return tensor.element_type

    @property
    def intermediate_tensors(self) -> list[DecodedTensor]:
        """Tensors that declare the quantization of values within the operator."""
        return [self._tensors[index] for index in self._operator.intermediates]

    @property
    def is_quantized(self) -> bool:
        """Whether the first input and the first output are quantized."""
        return None not in (self.input_tensor(0).quantization, self.output_tensor(0).quantization)

    @property
    def custom_options(self) -> bytes:
        """The options of a custom operator as raw bytes."""
        return self._operator.custom_options

    def has_attribute(self, name: str) -> bool:
        return name in self._operator.attributes

    def read_attribute(self, name: str) -> Any:
        return self._operator.attributes[name]

    def get_subgraph_size(self) -> int:
        return len(self._subgraphs())

    def set_variable_input(self, index: int, value: Output) -> None:
        """Assign a value to an input that is a variable tensor. It persists to later inferences."""
        self._builder.set_variable(self._operator.inputs[index], value)

    def get_subgraph(self, index: int) -> TfliteSubgraph:
        """Return a graph that the operator refers to, in schema order: "then", "else" of IF; condition, body of WHILE.

        Raises FrontendError if the operator has fewer graphs.
        """
        indices = self._subgraphs()
        if not 0 <= index < len(indices):
            raise FrontendError(f"it has {len(indices)} graphs, none of index {index}")
        return self._builder.subgraph(indices[index])

    def _subgraphs(self) -> list[int]:
        """Return the indices of the operator's graphs in the model."""
        attributes = self._operator.attributes.items()
        return [value for name, value in attributes if name.endswith("subgraph_index") or name == "subgraph"]
