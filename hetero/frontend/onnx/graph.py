"""From a parsed ONNX graph to a hetero Model: values by their names, node by node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

from hetero.errors import FrontendError
from hetero.frontend.onnx import translators as _  # noqa: F401 (fills the registry)
from hetero.frontend.onnx.names import UniqueNames, name_new_nodes
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import Translator, find_translator
from hetero.frontend.onnx.tensors import TensorReader
from hetero.frontend.onnx.value_types import value_type
from hetero.graph import Constant, Model, Node, Output, Parameter, Result, as_output

# How many names of nodes a message lists.
_NAMES_LISTED = 3


def build_model(proto: ModelProto, tensors: TensorReader) -> Model:
    """The model, with its metadata in rt_info. Raises FrontendError, for all unknown operators at once."""
    model = _GraphBuilder(proto.graph, _operator_sets(proto), tensors).build()
    model.rt_info["metadata"] = {entry.key: entry.value for entry in proto.metadata_props}
    model.rt_info["producer_name"], model.rt_info["producer_version"] = proto.producer_name, proto.producer_version
    return model


def _operator_sets(proto: ModelProto) -> dict[str, int]:
    """Versions by domain; files older than operator sets mean the first."""
    return {"": 1} | {_domain(entry.domain): entry.version for entry in proto.opset_import}


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


class _GraphBuilder:
    def __init__(self, graph: GraphProto, opsets: dict[str, int], tensors: TensorReader) -> None:
        if graph.sparse_initializer:
            raise FrontendError(f"sparse tensors such as '{graph.sparse_initializer[0].values.name}' are not supported")
        self._graph, self._opsets, self._tensors = graph, opsets, tensors
        self._initializers = {tensor.name: tensor for tensor in graph.initializer}
        self._values: dict[str, Output] = {}
        self._named: set[Node] = set()
        self._unique = UniqueNames()

    def build(self) -> Model:
        translators = self._find_translators()
        parameters = [self._add_parameter(info) for info in self._graph.input if info.name not in self._initializers]
        # Inputs and the nodes of the file keep their names; whatever is made besides takes one that is left.
        names = [self._unique.take(node.name or next(iter(node.output), node.op_type)) for node in self._graph.node]
        for node, name, translate in zip(self._graph.node, names, translators):
            self._translate(node, name, translate)
        results = [self._make_result(info) for info in self._graph.output]
        return Model(results, parameters, self._graph.name)

    def _find_translators(self) -> list[Translator]:
        found: list[Translator] = []
        missing: dict[str, list[str]] = {}
        for node in self._graph.node:
            domain = _domain(node.domain)
            version = self._opsets.get(domain, 1)
            translate = find_translator(node.op_type, version, domain)
            if translate is None:
                operator = f"{domain or 'ai.onnx'}.{node.op_type} of version {version}"
                missing.setdefault(operator, []).append(node.name or next(iter(node.output), "without a name"))
            else:
                found.append(translate)
        if missing:
            raise FrontendError(
                "there is no translation of " + "; ".join(f"{o} ({_nodes(names)})" for o, names in missing.items())
            )
        return found

    def _add_parameter(self, info: ValueInfoProto) -> Parameter:
        try:
            parameter = Parameter(*value_type(info.type))
        except FrontendError as error:
            raise FrontendError(f"input '{info.name}': {error}") from error
        parameter.friendly_name = self._unique.take(info.name)
        self._named.add(parameter)
        self._define(info.name, parameter.output(0))
        return parameter

    def _translate(self, node: NodeProto, name: str, translate: Translator) -> None:
        place = f"{node.op_type} node '{name}'"
        inputs = [self._value(read, place) if read else None for read in node.input]
        context = OnnxNodeContext(node, name, inputs, self._tensors)
        try:
            outputs = _as_outputs(translate(context))
            wanted = sum(map(bool, node.output[len(outputs) :]))
            if wanted:
                raise FrontendError(f"only its first {len(outputs)} of {len(node.output)} outputs are supported")
        except Exception as error:
            # The file is not to be trusted, so anything may go wrong over it.
            raise FrontendError(f"{place}: {error}") from error
        name_new_nodes(outputs, name, self._named, self._unique)
        for written, output in zip(node.output, outputs):
            if written:
                self._define(written, output)

    def _define(self, name: str, output: Output) -> None:
        if name in self._values:
            raise FrontendError(f"the value '{name}' is made twice")
        self._values[name] = output
        output.names.add(name)

    def _value(self, name: str, reader: str) -> Output:
        if name not in self._values:
            if name not in self._initializers:
                raise FrontendError(f"{reader} reads the value '{name}', which nothing before it makes")
            constant = Constant(self._tensors.read(self._initializers[name]))
            constant.friendly_name = self._unique.take(name)
            self._named.add(constant)
            self._define(name, constant.output(0))
        return self._values[name]

    def _make_result(self, info: ValueInfoProto) -> Result:
        result = Result(self._value(info.name, "the model's output"), name=self._unique.take(f"{info.name}/result"))
        # Only the model's own name for it: the value may have others, of Identity nodes.
        result.output(0).names = {info.name}
        return result


def _as_outputs(translation: Node | Output | Sequence[Output]) -> list[Output]:
    if isinstance(translation, Node):
        return translation.outputs()
    return [translation] if isinstance(translation, Output) else [as_output(value) for value in translation]


def _nodes(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - _NAMES_LISTED} more" if len(names) > _NAMES_LISTED else ""
    return ("nodes " if len(names) > 1 else "node ") + ", ".join(names[:_NAMES_LISTED]) + more
