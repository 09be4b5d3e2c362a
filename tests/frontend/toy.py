"""A frontend for tests, for JSON models in the style of frameworks that have no frontend yet.

Ports are named as in PaddlePaddle, or counted; what is constant may be an input, as attributes are in TorchScript::

    {"format": "paddle", "inputs": {"x": [2]}, "constants": {"k": 2}, "outputs": ["y"], "nodes": [
        {"type": "top_k_v2", "inputs": {"X": ["x"], "K": ["k"]}, "outputs": {"Out": ["y"]}, "attributes": {}}]}
"""

from __future__ import annotations

import json

import numpy as np

from hetero.frontend import FrontEnd, NodeContext
from hetero.frontend.extension import conversion_for
from hetero.frontend.translation.operator_table import OperatorTable
from hetero.frontend.translation.subgraph import ModelScope, name_new_nodes
from hetero.frontend.translation.translators import as_outputs
from hetero.graph import Constant, Model, Parameter
from hetero.ops import Relu
from hetero.system.errors import FrontendError

translators = OperatorTable()


@translators.register("relu")
def relu(node):
    return Relu(node.get_input(0))


class ToyFrontEnd(FrontEnd):
    """A reader of the models whose "format" is its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def supported(self, source):
        return isinstance(source, bytes) and json.loads(source)["format"] == self.name

    def convert(self, source, weights=None):
        written, host = json.loads(source), ModelScope()
        self.transform_decoded(written)
        values = {name: Parameter(np.float32, shape) for name, shape in written["inputs"].items()}
        parameters = list(values.values())
        values |= {name: Constant(np.array(value)) for name, value in written.get("constants", {}).items()}
        values = {name: host.name(node, name).output(0) for name, node in values.items()}
        for index, described in enumerate(written["nodes"]):
            node = ToyNode(described, values)
            extension = conversion_for(self.extensions, node.get_op_type())
            translate = extension.get_converter() if extension else translators.find(node.get_op_type())
            try:
                outputs = as_outputs(translate(node))
            except FrontendError as error:
                raise FrontendError(f"{node.get_op_type()} node '{node.name}': {error}") from error
            name_new_nodes(outputs, host.unique.take(node.name), host.named, host.unique)
            for name, output in zip(_flat(described["outputs"]), outputs, strict=True):
                values[name] = output
                output.add_names({name})
            self.report_progress(len(written["nodes"]), index + 1)
        return Model([values[name] for name in written["outputs"]], parameters, "toy")


class ToyNode(NodeContext):
    def __init__(self, described, values):
        inputs = [None if name is None else values[name] for name in _flat(described["inputs"])]
        super().__init__(described["type"], described.get("name", "mine"), inputs, len(_flat(described["outputs"])))
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
