"""The infer request: OpenVINO's of the fast model, or of the exact one for inputs and other values that need it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import openvino

from hetero.core.tensor import Tensor
from hetero.passes.bounds.intervals import I32
from hetero.passes.bounds.value_bounds import is_ordinary
from hetero.plugin import ProfilingInfo, SyncInferRequest, VariableState
from hetero.system.errors import UnsupportedValueError
from hetero_openvino.engine_request import EngineRequest
from hetero_openvino.errors import fork_guard, message_of
from hetero_openvino.translation.finite_values import LARGEST_INPUT
from hetero_openvino.variable_state import OpenVinoVariableState, PortVariableState

if TYPE_CHECKING:
    from hetero_openvino.compiled_model import OpenVinoCompiledModel


class OpenVinoInferRequest(SyncInferRequest):
    """An inference on the caller's thread."""

    compiled_model: OpenVinoCompiledModel

    def __init__(self, compiled_model: OpenVinoCompiledModel) -> None:
        super().__init__(compiled_model)
        self._fast = self._running = EngineRequest(compiled_model.engine, len(compiled_model.outputs))
        self._exact: EngineRequest | None = None
        self._exposed = [PortVariableState(ports) for ports in compiled_model.exposed]

    @property
    def engine(self) -> openvino.InferRequest:
        """OpenVINO's request of the last inference."""
        return self._running.engine

    def start(self) -> None:
        fork_guard.check()
        compiled, inputs, outputs = self.compiled_model, self.input_tensors(), self.output_tensors()
        arrays: list[np.ndarray] = []
        for tensor in inputs:
            arrays.append(tensor.array)  # not in a comprehension, which is a call
        for index in compiled.wide_inputs:
            _check_integers(inputs[index], index)
        running = self._fast
        for index in compiled.deciding_inputs:
            if not is_ordinary(arrays[index], LARGEST_INPUT):
                running = self._exact_request()
                break
        results = self._run(running, inputs, arrays, outputs)
        is_checked = compiled.has_exact_engine and running is self._fast and running.bounds is not None
        if is_checked and not running.is_within_bounds(results):
            self.check_cancelled()
            running = self._exact_request()
            results = self._run(running, inputs, arrays, outputs)
        running.write_outputs(results, inputs, outputs)
        if self._exposed:
            assigned = iter(results[len(compiled.outputs) :])
            for state in self._exposed:
                if state.may_be_assigned:
                    state.assign(next(assigned), next(assigned))

    def _run(
        self, running: EngineRequest, inputs: Sequence[Tensor], arrays: Sequence[np.ndarray], outputs: Sequence[Tensor]
    ) -> list[np.ndarray]:
        self._running = running
        if self._exposed:
            variables = [tensor for state in self._exposed for tensor in (state.contents, state.is_set)]
            inputs, arrays = [*inputs, *variables], [*arrays, *(tensor.array for tensor in variables)]
        running.bind(inputs, arrays, outputs)
        try:
            return running.infer()
        except RuntimeError as error:
            self.check_cancelled()
            raise RuntimeError(message_of(error)) from error

    def _exact_request(self) -> EngineRequest:
        if self._exact is None:
            self._exact = EngineRequest(self.compiled_model.exact_engine(), len(self.compiled_model.outputs))
        return self._exact

    def cancel(self) -> None:
        super().cancel()
        self.engine.cancel()

    def get_profiling_info(self) -> list[ProfilingInfo]:
        infos = super().get_profiling_info()
        for info in self.engine.profiling_info if self.is_profiled else ():
            status = ProfilingInfo.Status[info.status.name]
            infos.append(
                ProfilingInfo(info.node_name, info.node_type, info.exec_type, info.real_time, info.cpu_time, status)
            )
        return infos

    def query_state(self) -> list[VariableState]:
        states: dict[str, VariableState] = {state.name: state for state in self._exposed}
        for engine in self.engine.query_state():
            states[engine.name] = OpenVinoVariableState(self.compiled_model.variables[engine.name], engine)
        return [states[name] for name in self.compiled_model.variables]


def _check_integers(tensor: Tensor, index: int) -> None:
    """Raise UnsupportedValueError if OpenVINO would cut off bits of an input."""
    array = tensor.array
    if array.size and not (I32.low <= array.min() and array.max() <= I32.high):
        worst = array.max() if array.max() > I32.high else array.min()
        raise UnsupportedValueError(
            f"input {index} contains {worst}, but OpenVINO computes {tensor.element_type} in 32 bits; "
            "HETERO with a further device, such as HETERO:OPENVINO.CPU,TEMPLATE, computes it there"
        )
