"""The infer request: runs the Program on the tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from hetero.core.tensor import Tensor
from hetero.graph import Node
from hetero.plugin import ProfilingInfo, RemoteTensor, SyncInferRequest, VariableState
from hetero.reference import VariableValues
from hetero_template.variable_state import TemplateVariableState

if TYPE_CHECKING:
    from hetero_template.compiled_model import TemplateCompiledModel


class TemplateInferRequest(SyncInferRequest):
    compiled_model: TemplateCompiledModel

    def __init__(self, compiled_model: TemplateCompiledModel) -> None:
        super().__init__(compiled_model)
        self._profile: list[ProfilingInfo] = []
        self.variables: VariableValues = {}
        self.assigned: set[str] = set()  # the names of the variables that the last inference assigned

    def start(self) -> None:
        compiled = self.compiled_model
        self._profile, observe = [], self._record_time if compiled.is_profiled else None
        before = dict(self.variables) if compiled.variables else {}
        results = compiled.run(map(_view_of, self._input_tensors or self.input_tensors()), self, observe)
        if compiled.variables:
            self.assigned = {name for name, array in self.variables.items() if array is not before.get(name)}
        if len(results) > 1:
            results = _distinct(results)
        for tensor, array in zip(self._output_tensors or self.output_tensors(), results):
            # The user may write to an output tensor. Inputs, constants and variables are views, so what owns its memory
            # is new.
            tensor.take(array if array.base is None else array.copy())

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return [*super().get_profiling_info(), *self._profile]

    def query_state(self) -> list[VariableState]:
        return [TemplateVariableState(info, self) for info in self.compiled_model.variables]

    def _record_time(self, node: Node, seconds: float) -> None:
        took = timedelta(seconds=seconds)
        self._profile.append(ProfilingInfo(node.friendly_name, node.type_info.name, "numpy", took, took))


def _view_of(tensor: Tensor) -> np.ndarray:
    """Return a view of the elements of a tensor."""
    array = tensor.memory.array(tensor.region) if isinstance(tensor, RemoteTensor) else tensor.array
    return array.view() if array.base is None else array


def _distinct(arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """Return these arrays, with views of those that are there more than once."""
    counts = Counter(map(id, arrays))
    return [array if counts[id(array)] == 1 else array.view() for array in arrays]
