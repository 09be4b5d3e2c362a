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
        inputs = [np.ascontiguousarray(tensor.array).reshape(tensor.shape) for tensor in self.input_tensors()]
        bound = self._bind(self.compiled_model.program_for(inputs))
        outputs = []
        for tensor, shape in zip(self.output_tensors(), bound.program.output_shapes):
            tensor.set_shape(shape)
            outputs.append(tensor.array if tensor.is_continuous() else np.empty(shape, tensor.array.dtype))
        self._profile = []
        observe = self._record_time if self.is_profiled else None
        if not bound.run(inputs, outputs, self.check_cancelled, observe):
            bound = self._bind(self.compiled_model.program_for(inputs, keeps_nan=True))
            bound.run(inputs, outputs, self.check_cancelled, observe)
        for tensor, array in zip(self.output_tensors(), outputs):
            if not tensor.is_continuous():
                np.copyto(tensor.array, array)

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return [*super().get_profiling_info(), *self._profile]

    def _bind(self, program: PrimitiveProgram) -> BoundProgram:
        if self._bound is None or self._bound.program is not program:
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
