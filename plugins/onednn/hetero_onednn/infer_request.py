"""The infer request: binds the program for the shapes of its inputs, and runs it on its tensors."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from hetero.plugin import ProfilingInfo, SyncInferRequest
from hetero_onednn.bound_program import BoundProgram
from hetero_onednn.library.library import fork_guard
from hetero_onednn.program import PrimitiveProgram

if TYPE_CHECKING:
    from hetero_onednn.compiled_model import OneDnnCompiledModel


class OneDnnInferRequest(SyncInferRequest):
    """A request. Its program is bound at the first inference, and again when the shapes of inputs change."""

    compiled_model: OneDnnCompiledModel

    def __init__(self, compiled_model: OneDnnCompiledModel) -> None:
        super().__init__(compiled_model)
        self._bound: BoundProgram | None = None
        self._profile: list[ProfilingInfo] = []

    def start(self) -> None:
        fork_guard.check()
        compiled = self.compiled_model
        inputs: list[np.ndarray] = []
        for tensor in self.input_tensors():
            array = tensor.array
            inputs.append(array if array.flags.c_contiguous else np.ascontiguousarray(array))
        program = compiled.program_for(inputs)
        outputs: list[np.ndarray] = []
        strided: list[tuple[np.ndarray, np.ndarray]] = []  # what is computed elsewhere, and where it belongs
        for tensor, shape in zip(self.output_tensors(), program.output_shapes):
            array = tensor.array
            if array.shape != shape:
                tensor.set_shape(shape)
                array = tensor.array
            if not array.flags.c_contiguous:
                strided.append((np.empty(shape, array.dtype), array))
                array = strided[-1][0]
            outputs.append(array)
        self._profile = []
        observe = self._record_time if compiled.is_profiled else None
        bound = self._bound
        if bound is None or bound.program is not program:
            bound = self._bind(program)
        if not bound.run(inputs, outputs, self.check_cancelled, observe):
            program = compiled.program_for(inputs, keeps_nan=True)
            self._bind(program).run(inputs, outputs, self.check_cancelled, observe)
        for array, target in strided:
            np.copyto(target, array)

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return [*super().get_profiling_info(), *self._profile]

    def _bind(self, program: PrimitiveProgram) -> BoundProgram:
        self._bound = None  # frees its memory before the next one allocates
        self._bound = BoundProgram(program)
        return self._bound

    def _record_time(self, index: int, seconds: float) -> None:
        assert self._bound is not None
        step = self._bound.program.steps[index]
        took = timedelta(seconds=seconds)
        kind = step.role or step.node.type_info.name
        info = ProfilingInfo(step.node.friendly_name, kind, step.primitive.implementation, took, took)
        self._profile.append(info)
