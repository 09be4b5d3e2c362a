"""The infer request: runs the Program on the tensors."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from hetero.graph import Node
from hetero.plugin import ProfilingInfo, RemoteTensor, SyncInferRequest, VariableState
from hetero.reference import VariableValues
from hetero.tensor import Tensor
from hetero_template.variable_state import TemplateVariableState

if TYPE_CHECKING:
    from hetero_template.compiled_model import TemplateCompiledModel


class TemplateInferRequest(SyncInferRequest):
    compiled_model: TemplateCompiledModel

    def __init__(self, compiled_model: TemplateCompiledModel) -> None:
        super().__init__(compiled_model)
        self._profile: list[ProfilingInfo] = []
        self.variables: VariableValues = {}

    def start(self) -> None:
        inputs = [_array_of(tensor) for tensor in self.input_tensors()]
        self._profile = []
        observe = self._record_time if self.is_profiled else None
        results = self.compiled_model.run(inputs, self, observe)
        self._write_outputs(results, inputs)

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return [*super().get_profiling_info(), *self._profile]

    def query_state(self) -> list[VariableState]:
        return [TemplateVariableState(info, self.variables) for info in self.compiled_model.variables]

    def _record_time(self, node: Node, seconds: float) -> None:
        took = timedelta(seconds=seconds)
        self._profile.append(ProfilingInfo(node.friendly_name, node.type_info.name, "numpy", took, took))

    def _write_outputs(self, results: list[np.ndarray], inputs: list[np.ndarray]) -> None:
        constants = self.compiled_model.program.constant_ids
        used = set(map(id, inputs))
        if self.variables:
            used.update(map(id, self.variables.values()))
        for index, array in enumerate(results):
            # The user may write to an output tensor, so it must not hold an input, a constant or a view of one.
            if array.base is not None or id(array) in used or id(array) in constants:
                results[index] = array = array.copy()
            used.add(id(array))
        for tensor, array in zip(self.output_tensors(), results):
            tensor.take(array)


def _array_of(tensor: Tensor) -> np.ndarray:
    return tensor.memory.array(tensor.region) if isinstance(tensor, RemoteTensor) else tensor.data
