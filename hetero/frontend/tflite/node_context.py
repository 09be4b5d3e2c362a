"""TfliteNodeContext: the view of a TensorFlow Lite operator that its translator gets; the table of translators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hetero.core.types import Type
from hetero.frontend.tflite.decoded import TfliteNode, TfliteTensor
from hetero.frontend.translation.node_context import NodeContext
from hetero.frontend.translation.translators import OperatorTable
from hetero.graph import Output
from hetero.system.errors import FrontendError

if TYPE_CHECKING:
    from hetero.frontend.tflite.graph import TfliteBuilder


class TfliteNodeContext(NodeContext):
    """An operator. Its attributes are named as in the schema: ``stride_w``, ``fused_activation_function``.

    Attributes of an enumeration type are ints. ``variables``: the model's variables; ``tables``: its hash tables.
    """

    def __init__(self, operator: TfliteNode, name: str, builder: TfliteBuilder) -> None:
        inputs, subgraphs = builder.inputs_of(operator), builder.subgraphs_of(operator)
        super().__init__(operator.op_type, name, inputs, len(operator.outputs), subgraphs)
        self._operator, self._builder, self._tensors = operator, builder, builder.graph.tensors
        self.variables, self.tables = builder.variables, builder.context.tables

    def get_opset_version(self) -> int:
        """The version of the operator."""
        return self._operator.version

    def input_tensor(self, index: int) -> TfliteTensor:
        """The file's tensor of an input: its quantization, kind and shape; one without these for an omitted input."""
        key = self._operator.inputs[index]
        return TfliteTensor() if key is None else self._tensors[key]

    def output_tensor(self, index: int) -> TfliteTensor:
        """The file's tensor of an output: its element type, quantization and the shape at conversion time."""
        return self._tensors[self._operator.outputs[index]]

    def output_type(self, index: int) -> Type:
        """Return the element type of an output in the file. Raises FrontendError if it is dynamic."""
        tensor = self.output_tensor(index)
        if tensor.element_type.is_dynamic():
            raise FrontendError(f"a tensor of {tensor.kind} is not supported")
        return tensor.element_type

    @property
    def intermediate_tensors(self) -> list[TfliteTensor]:
        """Tensors that declare the quantization of values within the operator."""
        return [self._tensors[index] for index in self._operator.intermediates]

    @property
    def is_quantized(self) -> bool:
        """True if the first input and the first output are quantized."""
        return None not in (self.input_tensor(0).quantization, self.output_tensor(0).quantization)

    @property
    def custom_options(self) -> bytes:
        """The options of a custom operator as raw bytes."""
        return self._operator.custom_options

    def has_attribute(self, name: str) -> bool:
        return name in self._operator.attributes

    def read_attribute(self, name: str) -> Any:
        return self._operator.attributes[name]

    def set_variable_input(self, index: int, value: Output) -> None:
        """Assign a value to an input that is a variable tensor. It persists to later inferences."""
        self._builder.set_variable(self._operator.inputs[index], value)


translators = OperatorTable()
# Decorator that registers a translator for operator types, by their names in the schema's BuiltinOperator.
translator, rows = translators.register, translators.register_rows
