"""The compiled model: everything that is prepared once for all inferences."""

from __future__ import annotations

from hetero.graph import Constant
from hetero.plugin import CompiledModel, PreparedModel

from hetero_example.infer_request import ExampleInferRequest
from hetero_example.operations import find


class ExampleCompiledModel(CompiledModel):
    """The steps in order: for each operation its function, its node, what it reads and what it writes."""

    def __init__(self, prepared: PreparedModel) -> None:
        super().__init__(prepared)  # keeps the names and ports of the user's model
        nodes = prepared.model.get_ordered_ops()
        self.reads = [parameter.output(0) for parameter in prepared.model.parameters]
        self.constants = {node.output(0): node.data for node in nodes if isinstance(node, Constant)}
        self.steps = [(run, node, node.input_values(), node.output(0)) for node in nodes if (run := find(node))]
        self.writes = [result.input_value(0) for result in prepared.model.results]

    def create_sync_infer_request(self) -> ExampleInferRequest:
        return ExampleInferRequest(self)
