"""GraphWriter, which writes a Model or the body of an operation as an ONNX graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import GraphProto

from hetero.core.dimension import Symbol
from hetero.core.types import Type
from hetero.frontend.onnx import emitters as _  # noqa: F401 (fills the registry)
from hetero.frontend.onnx.node_writer import Argument, NodeWriter, NotInOnnx, find_emitter, onnx_type
from hetero.frontend.onnx.tensors import data_type, tensor_proto
from hetero.frontend.onnx.value_types import type_proto
from hetero.graph import Constant, Model, Node, Output, Parameter, Result, UniqueNames, is_constant, is_terminal


@dataclass
class SharedState:
    """State that all graphs of a model share.

    ``names``, ``node_names``: the names of values and of nodes. ``domains``: the domains of the operators.
    ``refused``: the names of the operations that ONNX cannot express, by type. ``symbols``: the names of dynamic
    dimensions.
    """

    names: UniqueNames = field(default_factory=UniqueNames)
    node_names: UniqueNames = field(default_factory=UniqueNames)
    domains: set[str] = field(default_factory=lambda: {""})
    refused: dict[str, list[str]] = field(default_factory=dict)
    symbols: dict[Symbol, str] = field(default_factory=dict)


class GraphWriter:
    """A writer of one graph. Operations without an equivalent are recorded in ``shared.refused``."""

    def __init__(self, shared: SharedState, name: str) -> None:
        self.shared = shared
        self.proto = GraphProto(name=name)
        self._values: dict[Output, str] = {}

    def write_model(self, model: Model) -> GraphProto:
        """Write the main graph."""
        for parameter in model.parameters:
            self.add_input(parameter)
        names = []
        for result in model.results:
            source, name = result.input_value(0), self.shared.names.take(result.output(0).any_name)
            names.append(name)
            if source not in self._values and not is_constant(source):
                self._values[source] = name
        self.write_nodes(model)
        for result, name in zip(model.results, names):
            self.add_output(result, name)
        return self.proto

    def nested(self, name: str) -> GraphWriter:
        """Return a writer of a graph in an attribute, which can read the values of this one."""
        return GraphWriter(self.shared, name)

    def bind(self, value: Output, name: str) -> None:
        """Let a value of the Model stand for a value of the file that has this name."""
        self._values[value] = name

    def add_input(self, parameter: Parameter) -> str:
        """Add a graph input and return its name."""
        name = self._define(parameter.output(0))
        self._declare(self.proto.input, name, parameter)
        return name

    def add_output(self, result: Result, name: str = "") -> None:
        """Add a graph output, by default with any name."""
        try:
            value = self.name_of(result.input_value(0))
        except NotInOnnx as reason:
            return self._refuse(result, str(reason))
        if value != name:
            name = name or self.shared.names.take(f"{result.friendly_name}/output")
            self.proto.node.add(
                op_type="Identity", input=[value], output=[name], name=self.shared.node_names.take(name)
            )
        self._declare(self.proto.output, name, result)

    def declare_output(self, name: str, port: Parameter) -> None:
        """Add a value of this graph, which has the type and shape of a Parameter, as a graph output."""
        self._declare(self.proto.output, name, port)

    def _declare(self, infos: Any, name: str, port: Parameter | Result) -> None:
        """Add the name, type and shape of an input or output. Dimensions of one symbol get one name."""
        value = port.output(0)
        if isinstance(value.element_type, Type) and not data_type(value.element_type):
            self._refuse(port, f"element type {value.element_type}")
        info = infos.add(name=name, type=type_proto(value))
        if value.partial_shape.has_rank:
            for axis, (dimension, proto) in enumerate(zip(value.partial_shape, info.type.tensor_type.shape.dim)):
                if dimension.symbol is not None:
                    own_name = dimension.name or f"{name}_{axis}"
                    proto.dim_param = self.shared.symbols.setdefault(dimension.symbol, own_name)

    def write_nodes(self, model: Model) -> None:
        """Write all nodes of a model but its Parameters, Constants and Results."""
        for node in model.get_ordered_ops():
            if not is_terminal(node):
                self._write_node(node)

    def _write_node(self, node: Node) -> None:
        writer, write = NodeWriter(node, self), find_emitter(type(node))
        try:
            if write is None:
                raise NotInOnnx
            written = write(writer)
        except NotInOnnx as reason:
            return self._refuse(node, str(reason))
        names = [written] if isinstance(written, str) else written
        if any(output.get_target_inputs() for output in node.outputs()[len(names) :]):
            return self._refuse(node, f"output {len(names)}")
        renamed: dict[str, str] = {}
        for output, name in zip(node.outputs(), names):
            new_name = self._values.get(output) or self._define(output)
            if name in renamed:
                writer.copy(renamed[name], new_name)
            else:
                writer.rename(name, new_name)
            renamed[name] = new_name
        writer.finish(self._values[node.output(0)])

    def _refuse(self, node: Node, reason: str) -> None:
        label = f"{node.type_info.name} with {reason}" if reason else node.type_info.name
        self.shared.refused.setdefault(label, []).append(node.friendly_name)

    def name_of(self, value: Output) -> str:
        """Return the name of a value; a Constant becomes an initializer of this graph when it is first used."""
        if value not in self._values:
            name = self._define(value)
            if isinstance(value.node, Constant):
                self._initialize(name, value.node.data)
        return self._values[value]

    def argument(self, argument: Argument, label: str) -> str:
        """Return the name of an argument of a node; numbers become an initializer."""
        if argument is None or isinstance(argument, str):
            return argument or ""
        array = argument if isinstance(argument, np.ndarray) else np.array(argument, np.int64)
        name = self.shared.names.take(f"{label}/constant")
        self._initialize(name, array)
        return name

    def _initialize(self, name: str, array: np.ndarray) -> None:
        onnx_type(Type(array.dtype))
        self.proto.initializer.append(tensor_proto(array, name))

    def _define(self, value: Output) -> str:
        """Choose a unique name: a name of the tensor, or else that of its node."""
        node = value.node
        plain = node.friendly_name if node.get_output_size() == 1 else f"{node.friendly_name}.{value.index}"
        name = self.shared.names.take(min(value.own_names, default=plain))
        self._values[value] = name
        return name
