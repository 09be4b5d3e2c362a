"""The infer request: a proxy of a request that the worker keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hetero.plugin import ProfilingInfo, SyncInferRequest, VariableState
from hetero_ray.variable_state import RayVariableState

if TYPE_CHECKING:
    from hetero_ray.compiled_model import RayCompiledModel


class RayInferRequest(SyncInferRequest):
    compiled_model: RayCompiledModel

    def __init__(self, compiled_model: RayCompiledModel) -> None:
        super().__init__(compiled_model)
        self._key = compiled_model.number, compiled_model.client.new_number(self, compiled_model.number)
        self._results: Sequence[Any] = ()
        self._profile: list[ProfilingInfo] = []

    def start(self) -> None:
        compiled = self.compiled_model
        arrays = [tensor.data for tensor in self.input_tensors()]
        views = [None] * len(arrays)
        self._results = compiled.client.submit(compiled.infer_method, *self._key, views, *arrays)

    def wait(self) -> None:
        compiled = self.compiled_model
        references, self._results = self._results, ()
        outcome, *arrays = compiled.client.get(list(references), compiled.timeout)
        self._profile = outcome.profile
        for tensor, array in zip(self.output_tensors(), arrays):
            tensor.copy_from(array)

    def cancel(self) -> None:
        super().cancel()
        self.compiled_model.client.send("cancel", *self._key)

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return [*super().get_profiling_info(), *self._profile]

    def query_state(self) -> list[VariableState]:
        compiled = self.compiled_model
        return [RayVariableState(info, compiled.client, self._key) for info in compiled.variables]
