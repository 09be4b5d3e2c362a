"""The infer request: uploads, runs the programs for the shapes at hand, downloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hetero import properties as props
from hetero.containers import ContainerType
from hetero.plugin import ProfilingInfo, SyncInferRequest, VariableState
from hetero.tensor import Tensor
from hetero_opencl.bound_model import BoundModel
from hetero_opencl.forks import check_process
from hetero_opencl.transfers import on_host
from hetero_opencl.variable_state import OpenCLVariableState

if TYPE_CHECKING:
    from hetero_opencl.compiled_model import OpenCLCompiledModel, StatefulPrograms


class OpenCLInferRequest(SyncInferRequest):
    compiled_model: OpenCLCompiledModel

    def __init__(self, compiled_model: OpenCLCompiledModel) -> None:
        super().__init__(compiled_model)
        context = compiled_model.context
        self._states = {info.variable_id: OpenCLVariableState(info, context) for info in compiled_model.variables}
        self._bound: BoundModel | None = None
        self._stateful: StatefulPrograms | None = None

    def preprocess(self) -> None:
        check_process()
        super().preprocess()
        stateful = self.compiled_model.programs_for([state.is_set for state in self._states.values()])
        if self._bound is None or self._stateful is not stateful:
            profiled = self.compiled_model.properties.get(props.enable_profiling)
            self._bound = None  # its memory goes before the next one's is taken
            self._bound = BoundModel(stateful.programs, self.compiled_model.context, profiled)
            self._stateful = stateful
        read = [self._states[name].current for name in stateful.read]
        written = [self._states[name].following for name in stateful.written]
        self._bound.begin([*self.input_tensors(), *read], [*self.output_tensors(), *written])

    def start(self) -> None:
        self._bound.launch(self.check_cancelled)

    def wait(self) -> None:
        self._bound.finish()

    def postprocess(self) -> None:
        self._bound.download()
        for name in self._stateful.written:
            self._states[name].advance()
        for tensor in self.output_tensors():
            if isinstance(tensor.element_type, ContainerType):
                tensor.data[()] = _with_arrays(tensor.data[()])

    def query_state(self) -> list[VariableState]:
        return list(self._states.values())

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return [*super().get_profiling_info(), *(self._bound.profile() if self._bound else [])]


def _with_arrays(held: Any) -> Any:
    """What a sequence or an optional holds, with arrays in the place of tensors."""
    if isinstance(held, list):
        return [_with_arrays(item) for item in held]
    return on_host(held) if isinstance(held, Tensor) else held
