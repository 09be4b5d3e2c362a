"""Translation of a decoded TensorFlow Lite model into a Model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hetero.frontend.extension import Extension
from hetero.frontend.tflite import translators as _  # noqa: F401 (fills the registry)
from hetero.frontend.tflite.decoded import TfliteGraph, TfliteModel, TfliteNode, TfliteTensor
from hetero.frontend.tflite.node_context import TfliteNodeContext, translators
from hetero.frontend.translation.decoded import DecodedNode
from hetero.frontend.translation.graph_builder import GraphBuilder
from hetero.frontend.translation.model_context import ModelContext
from hetero.frontend.translation.subgraph import ModelScope, Value
from hetero.frontend.translation.translators import Translator
from hetero.frontend.translation.variables import Variables
from hetero.graph import Constant, Model, Output, Parameter
from hetero.system.errors import FrontendError


def build_model(
    decoded: TfliteModel, extensions: Sequence[Extension], report_progress: Callable[[int, int], None]
) -> Model:
    """Translate the first graph, calling ``report_progress`` after each of its operators. Raises FrontendError."""
    context, graph, scope = TfliteContext(decoded, extensions, report_progress), decoded.graph, ModelScope()
    context.check(graph)
    builder = TfliteBuilder(context, graph, scope, Variables(scope))
    parameters = [builder.input(index) for index in graph.inputs]
    results = builder.results()
    for signature in decoded.signatures:
        if signature.graph == 0:
            _add_names(signature.inputs, dict(zip(graph.inputs, (p.output(0) for p in parameters))))
            _add_names(signature.outputs, dict(zip(graph.outputs, (r.output(0) for r in results))))
    model = Model(results, parameters, graph.name or "model", sinks=builder.variables.sinks())
    model.rt_info["metadata"], model.rt_info["description"] = dict(decoded.metadata), decoded.description
    return model


class TfliteContext(ModelContext):
    """The state of a model. ``tables``: the keys and values of each hash table, by the table's name."""

    def __init__(
        self, decoded: TfliteModel, extensions: Sequence[Extension], report_progress: Callable[[int, int], None]
    ) -> None:
        super().__init__(decoded, extensions, report_progress)
        self.tables: dict[str, tuple[Output, Output]] = {}

    def find_built_in(self, node: DecodedNode) -> Translator | None:
        assert isinstance(node, TfliteNode)
        return None if node.is_custom else translators.find(node.op_type, node.version)


class TfliteBuilder(GraphBuilder):
    """Translator of one graph, with variable tensors."""

    context: TfliteContext
    graph: TfliteGraph

    def input(self, index: int) -> Parameter:
        """Create the Parameter for an input tensor."""
        tensor = self.graph.tensors[index]
        if tensor.element_type.is_dynamic():
            raise FrontendError(f"input '{tensor.name}': a tensor of {tensor.kind} is not supported")
        return self.add_parameter(index, tensor.element_type, tensor.partial_shape)

    def node_context(self, node: DecodedNode, name: str) -> TfliteNodeContext:
        assert isinstance(node, TfliteNode)
        return TfliteNodeContext(node, name, self)

    def value(self, key: int, reader: str = "it") -> Value:
        if key not in self._values and self.graph.tensors[key].is_variable:
            return self.variables.read(self._variable_name(key), _initial_value(self.graph.tensors[key]))
        return super().value(key, reader)

    def constant(self, key: int) -> Output | None:
        tensor = self.graph.tensors[key]
        if tensor.data is None:
            return None
        return self.scope.name(Constant(tensor.data), self.prefix + tensor.name).output(0)

    def _variable_name(self, index: int) -> str:
        """Return the name of the variable that stores a variable tensor."""
        name = self.graph.tensors[index].name or str(index)
        return name if self.outer is None else f"{self.graph.name}/{name}"

    def set_variable(self, index: int, value: Output) -> None:
        """Set a variable tensor. Raises FrontendError if the tensor is not one."""
        if not self.graph.tensors[index].is_variable:
            raise FrontendError(f"tensor '{self.graph.tensors[index].name}' is not a variable tensor")
        self.variables.assign(self._variable_name(index), value)


def _initial_value(tensor: TfliteTensor) -> Output:
    """Return the initial value of a variable tensor, zero. Raises FrontendError if its type or shape is unknown."""
    if tensor.element_type.is_dynamic() or not tensor.partial_shape.is_static:
        raise FrontendError(f"variable tensor '{tensor.name}' must have a known type and a static shape")
    zero = np.array(
        0 if tensor.quantization is None else tensor.quantization.zero_point, tensor.element_type.to_dtype()
    )
    # A broadcast view of one element, because the shape in the file may be of any size.
    return Constant(np.broadcast_to(zero, tensor.partial_shape.to_shape())).output(0)


def _add_names(signature: Mapping[str, int], values: Mapping[int, Output]) -> None:
    """Add a signature's names to the tensor names of the values, except names that another value already has."""
    taken = {name for value in values.values() for name in value.names}
    for name, index in signature.items():
        if name not in taken and index in values:
            values[index].add_names({name})
