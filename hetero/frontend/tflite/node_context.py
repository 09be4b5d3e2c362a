"""TfliteNodeContext: an operator of TensorFlow Lite as its translator sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hetero.errors import FrontendError
from hetero.frontend.node_context import NodeContext
from hetero.frontend.tflite.decoded import DecodedOperator, DecodedTensor
from hetero.frontend.tflite.variables import Variables
from hetero.graph import Output

if TYPE_CHECKING:
    from hetero.frontend.tflite.graph import TfliteSubgraph


class TfliteNodeContext(NodeContext):
    """An operator. Its attributes are named as in the schema: ``stride_w``, ``fused_activation_function``.

    Enumerations among them are numbers. ``tensors``: all of its graph; ``find_subgraph``: a graph by its index;
    ``variables``: what the model remembers, at this place; ``set_tensor``: gives a variable tensor a value.
    """

    def __init__(
        self,
        operator: DecodedOperator,
        name: str,
        inputs: Sequence[Output | None],
        tensors: Sequence[DecodedTensor],
        find_subgraph: Callable[[int], TfliteSubgraph],
        variables: Variables,
        set_tensor: Callable[[int, Output], None],
    ) -> None:
        super().__init__(operator.op_type, name, inputs, len(operator.outputs))
        self._operator, self._tensors, self._find_subgraph = operator, tensors, find_subgraph
        self.variables, self._set_tensor = variables, set_tensor

    def get_opset_version(self) -> int:
        """The version of the operator."""
        return self._operator.version

    def input_tensor(self, index: int) -> DecodedTensor:
        """What the model says of an input: its quantization above all."""
        return self._tensors[self._operator.inputs[index]]

    def output_tensor(self, index: int) -> DecodedTensor:
        """What the model says of an output: its element type and quantization, and the shape that it was made with."""
        return self._tensors[self._operator.outputs[index]]

    @property
    def intermediate_tensors(self) -> list[DecodedTensor]:
        """Tensors that tell the scales of numbers within the operator."""
        return [self._tensors[index] for index in self._operator.intermediates]

    @property
    def is_quantized(self) -> bool:
        """Whether the first input and the first output are integers that stand for numbers."""
        return None not in (self.input_tensor(0).quantization, self.output_tensor(0).quantization)

    @property
    def custom_options(self) -> bytes:
        """The options of a custom operator, as they are in the file."""
        return self._operator.custom_options

    def has_attribute(self, name: str) -> bool:
        return name in self._operator.attributes

    def read_attribute(self, name: str) -> Any:
        return self._operator.attributes[name]

    def get_subgraph_size(self) -> int:
        return len(self._subgraphs())

    def set_variable_input(self, index: int, value: Output) -> None:
        """Let an input that is a variable tensor, a state, hold this from now on, in inferences to come as well."""
        self._set_tensor(self._operator.inputs[index], value)

    def get_subgraph(self, index: int) -> TfliteSubgraph:
        """A graph that the operator names, in the order of the schema: of IF "then" and "else", of WHILE its condition
        and its body."""
        places = self._subgraphs()
        if not 0 <= index < len(places):
            raise FrontendError(f"it has {len(places)} graphs, none of index {index}")
        return self._find_subgraph(places[index])

    def _subgraphs(self) -> list[int]:
        """The indices of its graphs."""
        named = self._operator.attributes.items()
        return [place for name, place in named if name.endswith("subgraph_index") or name == "subgraph"]
