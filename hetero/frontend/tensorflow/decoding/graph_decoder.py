"""Decoding of GraphDef and FunctionDef messages into graphs whose inputs are references by index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hetero.core.types import Type
from hetero.frontend.protobuf import Message, decode
from hetero.frontend.tensorflow.decoded import Reference, TensorflowGraph, TensorflowNode
from hetero.frontend.tensorflow.decoding.attributes import Attributes
from hetero.frontend.tensorflow.decoding.messages import FUNCTION, FUNCTION_SIGNATURE
from hetero.frontend.tensorflow.decoding.output_names import output_ranges
from hetero.system.errors import FrontendError

# Operators whose value a user gives.
PLACEHOLDERS = ("Placeholder", "PlaceholderV2")
# Nodes that are no output of a graph although nothing reads them.
_NO_OUTPUT = ("NoOp", "Assert", "Const", "VarHandleOp", "SaveV2", "Print", *PLACEHOLDERS)


def decode_graph(graph: Message) -> TensorflowGraph:
    """Return a GraphDef. Inputs are its Placeholders, outputs the values that no other node reads."""
    nodes = _nodes(graph.node)
    # A resource is no input: functions of loops that TensorFlow has replaced leave such nodes behind.
    inputs = [
        node.name
        for node in nodes.values()
        if node.op_type in PLACEHOLDERS and node.attributes.get("dtype") is not Type.dynamic
    ]
    return TensorflowGraph("model", inputs, leaves(nodes), nodes)


def leaves(nodes: Mapping[str, TensorflowNode]) -> list[Reference]:
    """Return the nodes that no node reads."""
    read = {reference.node for node in nodes.values() for reference in node.inputs}
    read.update(name for node in nodes.values() for name in node.control_inputs)
    return [
        Reference(node.name, -1)
        for node in nodes.values()
        if node.name not in read and node.op_type not in _NO_OUTPUT and not node.is_assignment
    ]


def parse_reference(text: str) -> Reference:
    """Return the output that a tensor name stands for: ``node:1``, or ``node`` for its first output."""
    name, colon, index = text.rpartition(":")
    return Reference(name, int(index)) if colon and index.isdecimal() and len(index) < 10 else Reference(text, 0)


def _nodes(messages: Iterable[Message]) -> dict[str, TensorflowNode]:
    nodes: dict[str, TensorflowNode] = {}
    for message in messages:
        node = TensorflowNode(message.name, message.op, attributes=Attributes(message.attr))
        for text in message.input:
            if text.startswith("^"):
                node.control_inputs.append(text[1:])
            elif node.control_inputs:
                raise FrontendError(f"node '{node.name}' has input '{text}' after a control input")
            else:
                node.inputs.append(parse_reference(text))
        if not node.name or node.name in nodes:
            raise FrontendError(f"several nodes have the name '{node.name}'" if node.name else "a node has no name")
        nodes[node.name] = node
    return nodes


class Functions(Mapping[str, TensorflowGraph]):
    """The functions of a library by name, decoded when they are used.

    ``known_outputs``: the outputs of operators that the file describes, in the form of the table of ``output_names``.
    """

    def __init__(self, messages: Iterable[memoryview], known_outputs: dict[str, str]) -> None:
        self._messages: dict[str, memoryview] = {}
        self._known_outputs = {**known_outputs}
        for message in messages:
            signature = decode(message, FUNCTION_SIGNATURE).signature
            self._messages[signature.name] = message
            self._known_outputs[signature.name] = outputs_text(signature)
        self._graphs: dict[str, TensorflowGraph] = {}

    def __getitem__(self, name: str) -> TensorflowGraph:
        if name not in self._graphs:
            self._graphs[name] = _function(decode(self._messages[name], FUNCTION), self._known_outputs)
        return self._graphs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._messages)

    def __len__(self) -> int:
        return len(self._messages)

    def __contains__(self, name: object) -> bool:
        return name in self._messages


def outputs_text(operator: Message) -> str:
    """Return the outputs of an OpDef in the form of the table of ``output_names``."""
    return " ".join(
        f"{output.name}*{output.number_attr or output.type_list_attr}"
        if output.number_attr or output.type_list_attr
        else output.name
        for output in operator.output_arg
    )


def _function(function: Message, known_outputs: dict[str, str]) -> TensorflowGraph:
    """Return a function. Its arguments become nodes of the type _Arg with the argument's name."""
    name = function.signature.name
    arguments = [argument.name for argument in function.signature.input_arg]
    nodes = _nodes(function.node_def)
    for argument in arguments:
        if argument in nodes:
            raise FrontendError(f"function '{name}' has a node and an argument '{argument}'")
    resolver = _OutputNames(nodes, known_outputs)
    for node in nodes.values():
        node.inputs = [resolver.resolve(reference) for reference in node.inputs]
    nodes.update({argument: TensorflowNode(argument, "_Arg") for argument in arguments})
    outputs = []
    for output in function.signature.output_arg:
        if output.name not in function.ret:
            raise FrontendError(f"function '{name}' has no value for its output '{output.name}'")
        outputs.append(resolver.resolve(parse_reference(function.ret[output.name])))
    return TensorflowGraph(name, arguments, outputs, nodes, list(function.control_ret.values()))


class _OutputNames:
    """References within a function: ``node:output:index`` with the name of the output, or an argument's name."""

    def __init__(self, nodes: Mapping[str, TensorflowNode], known: dict[str, str]) -> None:
        self._nodes, self._known = nodes, known
        self._ranges: dict[str, dict[str, range]] = {}

    def resolve(self, reference: Reference) -> Reference:
        name, _, output = reference.node.partition(":")
        if not output:
            return reference
        if name not in self._nodes:
            raise FrontendError(f"a node reads '{name}', which is not in the function")
        if name not in self._ranges:
            self._ranges[name] = output_ranges(self._nodes[name], self._known)
        ranges = self._ranges[name]
        if not ranges:
            return Reference(name, reference.port)
        if output not in ranges or reference.port >= len(ranges[output]):
            raise FrontendError(f"{self._nodes[name].op_type} node '{name}' has no output {output}:{reference.port}")
        return Reference(name, ranges[output][reference.port])
