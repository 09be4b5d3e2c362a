"""The infer request: runs the Program on the tensors."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from hetero.graph import Node
from hetero.plugin import ProfilingInfo, RemoteTensor, SyncInferRequest, VariableState
from hetero.tensor import Tensor
from hetero_template.variable_state import TemplateVariableState

if TYPE_CHECKING:
    from hetero_template.compiled_model import TemplateCompiledModel


class TemplateInferRequest(SyncInferRequest):
    compiled_model: TemplateCompiledModel

    def __init__(self, compiled_model: TemplateCompiledModel) -> None:
        super().__init__(compiled_model)
        self._profile: list[ProfilingInfo] = []
        self._variables: dict[str, np.ndarray] = {}

    def start(self) -> None:
        inputs = [_array_of(tensor) for tensor in self.input_tensors()]
        self._profile = []
        observe = self._note_time if self.is_profiled else None
        results = self.compiled_model.run(inputs, self._variables, observe, self.check_cancelled)
        self._write_outputs(results, [*inputs, *self._variables.values()])

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return [*super().get_profiling_info(), *self._profile]

    def query_state(self) -> list[VariableState]:
        return [TemplateVariableState(info, self._variables) for info in self.compiled_model.variables]

    def _note_time(self, node: Node, seconds: float) -> None:
        took = timedelta(seconds=seconds)
        self._profile.append(ProfilingInfo(node.friendly_name, node.type_info.name, "numpy", took, took))

    def _write_outputs(self, results: list[np.ndarray], others: list[np.ndarray]) -> None:
        is_constant = self.compiled_model.program.is_constant
        taken = set(map(id, others))
        for index, array in enumerate(results):
            # The user may write to an output tensor, so it must not hold an input, a constant or a view of one.
            if not array.flags.owndata or id(array) in taken or is_constant(array):
                results[index] = array.copy()
            taken.add(id(array))
        for array, tensor in zip(results, self.output_tensors()):
            tensor.take(array)


def _array_of(tensor: Tensor) -> np.ndarray:
    return tensor.memory.array(tensor.region) if isinstance(tensor, RemoteTensor) else tensor.data
