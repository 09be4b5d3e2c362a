"""Pieces of a model: the operations between two cuts of its topological order, as models of their own.

Cut ``k`` is between the first ``k`` operations and the others. A value crosses it if one of the first ``k`` operations
computes the value, and another one, or a Result, reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hetero.core.containers import ContainerType
from hetero.dispatch.cutting.partition import DeviceSubgraph
from hetero.dispatch.cutting.parts import extract
from hetero.dispatch.devices import ListedDevice
from hetero.graph import Constant, Model, Node, Output, Parameter, is_terminal
from hetero.ops.checks import is_exact
from hetero.passes import fold_constant_if

Values = Mapping[Output, np.ndarray]


@dataclass(frozen=True)
class Piece:
    """Operations of a model as a model, and the values of the whole model that are its inputs and outputs."""

    model: Model
    nodes: list[Node]
    inputs: list[Output]
    outputs: list[Output]


class Pieces:
    """The operations of a model in topological order, and its pieces.

    ``cuts`` has the cuts that no sequence or optional value crosses, because such values cannot be outputs.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.nodes = [node for node in model.get_ordered_ops() if not is_terminal(node)]
        self._positions = {node: index for index, node in enumerate(self.nodes)}
        # The index of the last reader of each value: the number of operations for values that a Result reads.
        self._last: dict[Output, int] = {}
        for index, node in enumerate(self.nodes):
            self._last.update(dict.fromkeys(node.input_values(), index))
        self._last.update({result.input_value(0): len(self.nodes) for result in model.results})
        uncut = {
            cut
            for value, last in self._last.items()
            if isinstance(value.element_type, ContainerType) and value.node in self._positions
            for cut in range(self._positions[value.node] + 1, last + 1)
        }
        self.cuts = [cut for cut in range(len(self.nodes) + 1) if cut not in uncut]

    def values_at(self, cut: int) -> list[Output]:
        """Return the values that cross a cut."""
        return [v for node in self.nodes[:cut] for v in node.outputs() if self._last.get(v, -1) >= cut]

    def with_outputs(self, values: Sequence[Output]) -> Model:
        """Return a copy of the whole model with more outputs."""
        model, copies = self.model.clone_with_nodes()
        model.add_outputs([copies[value.node].output(value.index) for value in values])
        return model

    def piece(self, start: int, stop: int, outputs: Sequence[Output], device: ListedDevice) -> Piece:
        """Return the operations from ``start`` to ``stop`` that compute ``outputs``.

        Values that shape inference knows are Constants in the piece, because devices compile them into their code.
        """
        inside = set(self.nodes[start:stop])
        needed, waiting = {value.node for value in outputs}, [value.node for value in outputs]
        while waiting:
            sources = {value.node for value in waiting.pop().input_values()}
            waiting += [node for node in sources if node in inside and node not in needed]
            needed |= sources & inside
        nodes = [node for node in self.nodes[start:stop] if node in needed]
        read = dict.fromkeys(value for node in nodes for value in node.input_values())
        inputs = [v for v in read if v.node not in needed and not isinstance(v.node, Constant)]
        model = extract(DeviceSubgraph(device, nodes, inputs, list(outputs)), self.model.friendly_name)
        for parameter, value in zip(model.parameters, inputs):
            if is_exact(value.value):
                _replace_by_constant(model, parameter, value.value)
        return Piece(model, nodes, [v for v in inputs if not is_exact(v.value)], list(outputs))


def taken_branch(node: Node, piece: Piece, inputs: Sequence[np.ndarray]) -> tuple[Model, list[np.ndarray]]:
    """Return the branch that an If, the only operation of a piece, takes with these inputs, and the branch's inputs."""
    model = piece.model.clone()
    (branching,) = (
        candidate
        for candidate in model.get_ordered_ops()
        if candidate.friendly_name == node.friendly_name and candidate.bodies
    )
    condition = branching.input_value(0).node
    kept = [array for parameter, array in zip(model.parameters, inputs) if parameter is not condition]
    if isinstance(condition, Parameter):
        _replace_by_constant(model, condition, inputs[model.get_parameter_index(condition)])
        model.validate_nodes_and_infer_types()
    fold_constant_if(model)
    return model, kept


def _replace_by_constant(model: Model, parameter: Parameter, value: np.ndarray) -> None:
    constant = Constant(value.astype(parameter.element_type.to_dtype()), name=parameter.friendly_name)
    parameter.output(0).replace(constant.output(0))
    model.remove_parameter(parameter)
