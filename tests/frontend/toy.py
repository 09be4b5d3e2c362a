"""A frontend for tests, for JSON models in the style of frameworks that have no frontend yet.

Ports are named as in PaddlePaddle, or counted; what is constant may be an input, as attributes are in TorchScript::

    {"format": "paddle", "inputs": {"x": [2]}, "constants": {"k": 2}, "outputs": ["y"], "nodes": [
        {"type": "top_k_v2", "inputs": {"X": ["x"], "K": ["k"]}, "outputs": {"Out": ["y"]}, "attributes": {}}]}
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np

from hetero.frontend import FrontEnd, NodeContext
from hetero.frontend.translation.control_flow import make_if
from hetero.frontend.translation.decoded import DecodedGraph, DecodedModel, DecodedNode
from hetero.frontend.translation.graph_builder import GraphBuilder
from hetero.frontend.translation.model_context import ModelContext
from hetero.frontend.translation.subgraph import ModelScope
from hetero.frontend.translation.translators import OperatorTable
from hetero.frontend.translation.variables import Variables
from hetero.graph import Constant, Model
from hetero.ops import Relu

translators = OperatorTable()


@translators.register("relu")
def relu(node):
    return Relu(node.get_input(0))


@translators.register("call")
def call(node):
    """Inline a graph of the model."""
    return node.get_subgraph(0).inline(node.get_inputs(), node.name)


@translators.register("branch")
def branch(node):
    """Run one of two graphs, which read values of this one."""
    return make_if(node.get_input(0), [node.get_subgraph(0).build([], []), node.get_subgraph(1).build([], [])])


class ToyFrontEnd(FrontEnd):
    """A reader of the models whose "format" is its name. It has "graphs" by name, the "bodies" of nodes."""

    def __init__(self, name: str) -> None:
        self.name = name

    def supported(self, source):
        return isinstance(source, bytes) and json.loads(source)["format"] == self.name

    def convert(self, source, weights=None):
        written, scope = json.loads(source), ModelScope()
        self.transform_decoded(written)
        graph = decoded("toy", written)
        functions = {name: decoded(name, one) for name, one in written.get("graphs", {}).items()}
        context = ToyContext(DecodedModel(graph, functions), self.extensions, self.report_progress)
        context.check(graph)
        builder = ToyBuilder(context, graph, scope, Variables(scope))
        parameters = [builder.add_parameter(name, np.float32, shape) for name, shape in written["inputs"].items()]
        return Model(builder.results(), parameters, graph.name)


def decoded(name, written):
    nodes = []
    for one in written["nodes"]:
        inputs, outputs = _flat(one["inputs"]), _flat(one["outputs"])
        nodes.append(ToyOperator(one.get("name", "mine"), one["type"], inputs, outputs, written=one))
        nodes[-1].bodies = one.get("bodies", ())
    return ToyGraph(name, list(written["inputs"]), written["outputs"], nodes, written.get("constants", {}))


@dataclass
class ToyOperator(DecodedNode):
    written: dict = field(default_factory=dict)


@dataclass
class ToyGraph(DecodedGraph):
    constants: dict = field(default_factory=dict)


class ToyContext(ModelContext):
    def find_built_in(self, node):
        return translators.find(node.op_type)


class ToyBuilder(GraphBuilder):
    reads_outer_values = True

    def constant(self, key):
        if key not in self.graph.constants:
            return None
        return self.scope.name(Constant(np.array(self.graph.constants[key])), key).output(0)

    def node_context(self, node, name):
        return ToyNode(node.written, {key: self.value(key) for key in node.input_keys()}, name, self.subgraphs_of(node))


class ToyNode(NodeContext):
    def __init__(self, described, values, name="mine", subgraphs=()):
        inputs = [None if name is None else values[name] for name in _flat(described["inputs"])]
        super().__init__(described["type"], name, inputs, len(_flat(described["outputs"])), subgraphs)
        self._described = described

    def get_input_indices(self, name):
        ports = self._described["inputs"]
        return _places(ports).get(name, ()) if isinstance(ports, dict) else super().get_input_indices(name)

    def get_output_names(self):
        ports = self._described["outputs"]
        return list(ports) if isinstance(ports, dict) else []

    def get_output_indices(self, name):
        return _places(self._described["outputs"])[name]

    def has_attribute(self, name):
        return name in self._described.get("attributes", {})

    def read_attribute(self, name):
        return self._described["attributes"][name]


def toy(framework, op_type, inputs, outputs=("y",), constants=None, **attributes):
    """Return a model of one node, whose inputs are the node's inputs that are not constant."""
    constants = constants or {}
    node = {"type": op_type, "inputs": inputs, "outputs": outputs, "attributes": attributes}
    read = dict.fromkeys(name for name in _flat(inputs) if name is not None and name not in constants)
    model = {"format": framework, "inputs": {name: [5] for name in read}, "constants": constants, "nodes": [node]}
    return json.dumps({**model, "outputs": _flat(outputs)}).encode()


def _flat(ports):
    """Return the values of ports, which may be a dict by name or a list."""
    return [value for values in ports.values() for value in values] if isinstance(ports, dict) else list(ports)


def _places(ports):
    """Return the indices of the values of each named port."""
    places, count = {}, 0
    for name, values in ports.items():
        places[name] = range(count, count + len(values))
        count += len(values)
    return places
