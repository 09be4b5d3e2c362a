"""The infer request: one inference at a time, from the input tensors to the output tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hetero.plugin import SyncInferRequest

if TYPE_CHECKING:
    from hetero_example.compiled_model import ExampleCompiledModel


class ExampleInferRequest(SyncInferRequest):
    compiled_model: ExampleCompiledModel

    def start(self) -> None:
        """Compute the outputs. A device with a command queue starts here and waits for the end in ``wait``."""
        compiled = self.compiled_model
        values = dict(compiled.constants)
        for port, tensor in zip(compiled.reads, self.input_tensors()):
            values[port] = tensor.array
        for function, node, inputs, output in compiled.steps:
            self.check_cancelled()
            values[output] = function(node, *(values[port] for port in inputs))
        for port, tensor in zip(compiled.writes, self.output_tensors()):
            tensor.copy_from(values[port])  # sets the shape too if it was dynamic
