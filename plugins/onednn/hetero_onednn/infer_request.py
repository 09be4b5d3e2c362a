"""The infer request: binds the program for the shapes of its inputs, and runs it on its tensors."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from hetero.plugin import ProfilingInfo, SyncInferRequest
from hetero_onednn.bound_program import BoundProgram, Workspace
from hetero_onednn.library.library import fork_guard
from hetero_onednn.program import PrimitiveProgram

if TYPE_CHECKING:
    from hetero_onednn.compiled_model import OneDnnCompiledModel


class OneDnnInferRequest(SyncInferRequest):
    """A request. The program for the shapes of its inputs is bound once, for as long as the compiled model keeps it."""

    compiled_model: OneDnnCompiledModel

    def __init__(self, compiled_model: OneDnnCompiledModel) -> None:
        super().__init__(compiled_model)
        self._workspace = Workspace()
        self._bound: WeakKeyDictionary[PrimitiveProgram, BoundProgram] = WeakKeyDictionary()
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
        if not self._run(program, inputs, outputs):
            self._run(compiled.program_for(inputs, keeps_nan=True), inputs, outputs)
        for array, target in strided:
            np.copyto(target, array)

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return [*super().get_profiling_info(), *self._profile]

    def _run(self, program: PrimitiveProgram, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> bool:
        """Run a program. Returns False, without valid results, if a value that is checked is not finite."""
        bound = self._bound.get(program)
        if bound is None:
            self._workspace.grow(program)
            bound = self._bound[program] = BoundProgram(program, self._workspace)
        observe = partial(self._record_time, program) if self.compiled_model.is_profiled else None
        return bound.run(inputs, outputs, self.check_cancelled, observe)

    def _record_time(self, program: PrimitiveProgram, index: int, seconds: float) -> None:
        step = program.steps[index]
        took = timedelta(seconds=seconds)
        kind = step.role or step.node.type_info.name
        info = ProfilingInfo(step.node.friendly_name, kind, step.primitive.implementation, took, took)
        self._profile.append(info)
