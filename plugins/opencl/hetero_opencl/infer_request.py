"""The infer request: uploads, runs the programs for the shapes at hand, downloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import properties as props
from hetero.containers import ContainerType
from hetero.plugin import ProfilingInfo, SyncInferRequest, VariableState
from hetero.tensor import Tensor
from hetero_opencl.bound_model import BoundModel
from hetero_opencl.variable_state import OpenCLVariableState

if TYPE_CHECKING:
    from hetero_opencl.compiled_model import OpenCLCompiledModel


class OpenCLInferRequest(SyncInferRequest):
    compiled_model: OpenCLCompiledModel

    def __init__(self, compiled_model: OpenCLCompiledModel) -> None:
        super().__init__(compiled_model)
        device = compiled_model.device
        self._variables = {info.variable_id: OpenCLVariableState(info, device) for info in compiled_model.variables}
        profiled = compiled_model.properties.get(props.enable_profiling)
        self._bound = BoundModel(compiled_model.programs, compiled_model.context, profiled, self._variables)

    def preprocess(self) -> None:
        super().preprocess()
        self._bound.begin(self.input_tensors(), self.output_tensors())

    def start(self) -> None:
        self._bound.launch(self.check_cancelled)

    def wait(self) -> None:
        self._bound.finish()

    def postprocess(self) -> None:
        self._bound.download()
        for tensor in self.output_tensors():
            if isinstance(tensor.element_type, ContainerType):
                tensor.data[()] = _on_host(tensor.data[()])

    def query_state(self) -> list[VariableState]:
        return list(self._variables.values())

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return [*super().get_profiling_info(), *self._bound.profile()]


def _on_host(held: Any) -> Any:
    """What a sequence or an optional holds, with arrays in the place of tensors."""
    if isinstance(held, list):
        return [_on_host(item) for item in held]
    if not isinstance(held, Tensor):
        return held
    array = np.empty(held.shape, held.element_type.to_dtype())
    held.copy_to(array)
    return array
