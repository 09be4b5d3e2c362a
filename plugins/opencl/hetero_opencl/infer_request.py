"""The infer request: uploads, runs the program for the shapes at hand, downloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hetero import properties as props
from hetero.plugin import ProfilingInfo, RemoteTensor, SharedTensor, SyncInferRequest, VariableState
from hetero_opencl.program import BoundProgram
from hetero_opencl.variable_state import OpenCLVariableState

if TYPE_CHECKING:
    from hetero_opencl.compiled_model import OpenCLCompiledModel


class OpenCLInferRequest(SyncInferRequest):
    compiled_model: OpenCLCompiledModel

    def __init__(self, compiled_model: OpenCLCompiledModel) -> None:
        super().__init__(compiled_model)
        self._bound: BoundProgram | None = None
        device = compiled_model.device
        self._variables = {info.variable_id: OpenCLVariableState(info, device) for info in compiled_model.variables}

    def preprocess(self) -> None:
        super().preprocess()
        if self._bound:
            self._bound.settle()
        inputs, outputs = self.input_tensors(), self.output_tensors()
        program = self.compiled_model.program_for(
            [tensor if isinstance(tensor, RemoteTensor) else tensor.data for tensor in inputs]
        )
        if self._bound is None or self._bound.program is not program:
            profiled = self.compiled_model.properties.get(props.enable_profiling)
            self._bound = None  # its memory goes before the next one's is taken
            self._bound = BoundProgram(program, self.compiled_model.context, profiled, self._variables)
        for tensor, shape in zip(outputs, program.output_shapes):
            if isinstance(tensor, (RemoteTensor, SharedTensor)):
                tensor.set_shape(shape)
        self._bound.bind(inputs, outputs)
        self._bound.upload(inputs)

    def start(self) -> None:
        self._bound.launch(self.check_cancelled)

    def wait(self) -> None:
        self._bound.finish()

    def postprocess(self) -> None:
        outputs = self.output_tensors()
        for tensor, shape in zip(outputs, self._bound.program.output_shapes):
            tensor.set_shape(shape)
        self._bound.download(outputs)

    def query_state(self) -> list[VariableState]:
        return list(self._variables.values())

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return [*super().get_profiling_info(), *(self._bound.profile() if self._bound else [])]
