"""An ONNX model as the translation core takes it: its graphs and functions, without their structure in protobuf."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    TensorProto,
    TypeProto,
)

from hetero.frontend.translation.decoded import DecodedGraph, DecodedModel, DecodedNode
from hetero.system.errors import FrontendError


@dataclass
class OnnxNode(DecodedNode):
    """A node. ``attributes``: as AttributeProto, by name. ``graphs``: those of the attributes that are graphs."""

    attributes: Mapping[str, AttributeProto] = field(default_factory=dict)
    graphs: Mapping[str, OnnxGraph] = field(default_factory=dict)
    proto: NodeProto = field(default_factory=NodeProto)

    @property
    def kind(self) -> str:
        return f"{self.domain or 'ai.onnx'}.{self.op_type} of version {self.version}"

    @property
    def has_effects(self) -> bool:
        return False

    def input_keys(self) -> Iterator[str]:
        yield from super().input_keys()
        for graph in self.graphs.values():
            yield from graph.outer_keys()


@dataclass
class OnnxGraph(DecodedGraph):
    """A graph, or the body of a function. The keys of values are their names.

    ``initializers``: the tensors of the file. ``declared``: the types that the file states for other values than the
    inputs. ``input_types``: the types of the inputs of a graph. ``defaults``: the attributes of a function that have
    default values. ``is_closed``: whether it cannot read values of the graphs around it, as a function of the model.
    """

    initializers: Mapping[str, TensorProto] = field(default_factory=dict)
    declared: Mapping[str, TypeProto] = field(default_factory=dict)
    input_types: Mapping[str, TypeProto] = field(default_factory=dict)
    defaults: Sequence[AttributeProto] = ()
    is_closed: bool = False

    def outer_keys(self) -> Iterator[str]:
        """Yield the keys of the values that the graph reads before it defines any of that name."""
        own = {*self.inputs, *self.initializers}
        for node in self.nodes:
            yield from (key for key in node.input_keys() if key not in own)
            own.update(node.output_keys())
        yield from (key for key in self.outputs if key not in own)


@dataclass
class OnnxModel(DecodedModel):
    """A model. ``versions``: of the operator sets that it imports, by domain."""

    versions: Mapping[str, int] = field(default_factory=dict)


def domain_of(name: str) -> str:
    """Return the normalized name of a domain. ONNX's own domain has two names, "" and "ai.onnx"."""
    return "" if name == "ai.onnx" else name


def decode_model(proto: ModelProto) -> OnnxModel:
    """Decode a model, whose functions have (domain, name, overload) as keys.

    Raises FrontendError if a graph defines a value twice, or has sparse tensors.
    """
    # Files older than operator sets use version 1.
    versions = {"": 1} | _versions_of(proto.opset_import)
    functions = {
        (domain_of(function.domain), function.name, function.overload): decode_function(
            function, versions, function.attribute_proto, is_closed=True
        )
        for function in proto.functions
    }
    graph = _decode_graph(proto.graph, versions)
    graph.inputs = [name for name in graph.inputs if name not in graph.initializers]
    return OnnxModel(graph, functions, versions)


def decode_function(
    proto: FunctionProto, versions: Mapping[str, int], defaults: Sequence[AttributeProto], is_closed: bool = False
) -> OnnxGraph:
    """Decode the body of a function. ``versions``: by domain, of the operator sets that it does not import itself."""
    nodes = _decode_nodes(proto.node, {**versions, **_versions_of(proto.opset_import)})
    declared = {info.name: info.type for info in proto.value_info}
    return OnnxGraph(
        proto.name, proto.input, proto.output, nodes, declared=declared, defaults=defaults, is_closed=is_closed
    )


def _versions_of(imports: Iterable[OperatorSetIdProto]) -> dict[str, int]:
    """Return the versions of the imported operator sets by domain."""
    return {domain_of(entry.domain): entry.version for entry in imports}


def _decode_graph(proto: GraphProto, versions: Mapping[str, int], outer: tuple[Set[str], ...] = ()) -> OnnxGraph:
    """Decode a graph. ``outer``: the names in each of the graphs around it."""
    if proto.sparse_initializer:
        raise FrontendError(f"sparse tensors such as '{proto.sparse_initializer[0].values.name}' are not supported")
    initializers: dict[str, TensorProto] = {}
    for tensor in proto.initializer:
        if tensor.name in initializers:
            raise FrontendError(f"two initializers have the name '{tensor.name}'")
        initializers[tensor.name] = tensor
    for node in proto.node:
        for name in initializers.keys() & set(node.output):
            raise FrontendError(f"'{name}' is an initializer and also an output of {node.op_type} node '{node.name}'")
    return OnnxGraph(
        str(proto.name),  # protobuf returns bytes if they are not UTF-8
        [info.name for info in proto.input],
        [info.name for info in proto.output],
        _decode_nodes(proto.node, versions, outer, {*(info.name for info in proto.input), *initializers}),
        initializers,
        declared={info.name: info.type for info in (*proto.value_info, *proto.output)},
        input_types={info.name: info.type for info in proto.input},
    )


def _decode_nodes(
    protos: Sequence[NodeProto],
    versions: Mapping[str, int],
    outer: tuple[Set[str], ...] = (),
    names: Set[str] = frozenset(),
) -> list[OnnxNode]:
    """Decode the nodes of a graph. ``names``: those of its values that no node computes."""
    nodes = []
    visible = (*outer, names | {name for proto in protos for name in proto.output})
    for proto in protos:
        domain = domain_of(proto.domain)
        graphs = {
            attribute.name: _decode_graph(attribute.g, versions, visible)
            for attribute in proto.attribute
            if attribute.type == AttributeProto.GRAPH
        }
        node = OnnxNode(
            name=str(proto.name or next(iter(proto.output), proto.op_type)),
            op_type=proto.op_type,
            inputs=[name or None for name in proto.input],
            outputs=[name or None for name in proto.output],
            attributes={attribute.name: attribute for attribute in proto.attribute},
            bodies=list(graphs.values()),
            domain=domain,
            version=versions.get(domain, 1),
            graphs=graphs,
            proto=proto,
        )
        nodes.append(node)
    return _in_topological_order(nodes, outer)


def _in_topological_order(nodes: list[OnnxNode], outer: tuple[Set[str], ...]) -> list[OnnxNode]:
    """Return nodes after those whose outputs they read, otherwise in the order of the file.

    A node that reads a name of a graph around it, which a later node has too, reads the outer value. Nodes of a cycle
    stay in some order: the builder reports what one of them reads.
    """
    makers = {key: index for index, node in enumerate(nodes) for key in node.output_keys()}
    sources = [
        {
            maker
            for key in node.input_keys()
            if (maker := makers.get(key)) is not None and (maker < index or not any(key in names for names in outer))
        }
        for index, node in enumerate(nodes)
    ]
    if all(source < index for index, before in enumerate(sources) for source in before):
        return nodes
    order: list[int] = []
    seen: set[int] = set()
    for first in range(len(nodes)):
        path = [] if first in seen else [(first, iter(sorted(sources[first])))]
        seen.add(first)
        while path:
            index, waiting = path[-1]
            source = next((source for source in waiting if source not in seen), None)
            if source is None:
                order.append(index)
                path.pop()
            else:
                seen.add(source)
                path.append((source, iter(sorted(sources[source]))))
    return [nodes[index] for index in order]
