"""The compiled model: programs for the input shapes that it met, and requests that run them."""

from __future__ import annotations

import weakref
from functools import partial

import numpy as np

from hetero import properties as props
from hetero.graph import Constant, Model, Parameter, Result
from hetero.plugin import (
    STAGES,
    AsyncInferRequest,
    CompiledModel,
    ExecutedStep,
    Executor,
    Plugin,
    Section,
    make_runtime_model,
    model_sections,
)
from hetero.properties import PropertyTable
from hetero_opencl.binaries import Binaries
from hetero_opencl.constants import Constants
from hetero_opencl.device import binary_of
from hetero_opencl.infer_request import OpenCLInferRequest
from hetero_opencl.lowering import lower_model
from hetero_opencl.program import Program
from hetero_opencl.programs import Programs
from hetero_opencl.remote import OpenCLContext


class OpenCLCompiledModel(CompiledModel):
    """Lowers the model at once where all shapes are known, else at the first inference of each input shape."""

    def __init__(
        self,
        model: Model,
        transformed: Model,
        plugin: Plugin,
        properties: PropertyTable,
        context: OpenCLContext,
        binaries: Binaries,
    ) -> None:
        super().__init__(model, plugin, properties, context)
        self._model, self.device, self._binaries = transformed, context.device, binaries
        self.variables = [variable.info for variable in transformed.variables]
        self._constants = Constants(self.device)
        self._made: weakref.WeakSet[Program] = weakref.WeakSet()
        self.programs = Programs(transformed, self._lower, self._made)
        self._feeding = Executor(f"{self.device_name} {self.name} feeding")
        if self.programs.is_known:
            self.programs.segment_for([np.broadcast_to(np.zeros((), np.uint8), port.shape) for port in self.inputs])

    def _lower(self, model: Model) -> Program:
        return lower_model(model, self.device, self._constants, self._binaries)

    def export_sections(self) -> dict[str, Section]:
        """The transformed model, and the binaries of the kernels that were built so far."""
        built = [pair for program in list(self._made) for pair in zip(program.launches, program.built)]
        binaries = {launch.source: binary_of(program) for launch, program in built}
        kernels = {self.device.binary_name(source): binary for source, binary in binaries.items()}
        return {**model_sections(self, self._model), **kernels}

    def get_runtime_model(self) -> Model:
        """The program that was used last; nothing is known of kernels before that, and where there are several."""
        segment = self.programs.last_used
        if segment and segment.rest is None:
            return make_runtime_model(segment.program.model, segment.program.steps, self.execution_times)
        order = self._model.get_ordered_ops()
        steps = [ExecutedStep(node) for node in order if not isinstance(node, (Parameter, Constant, Result))]
        return make_runtime_model(self._model, steps, self.execution_times)

    def create_sync_infer_request(self) -> OpenCLInferRequest:
        return OpenCLInferRequest(self)

    def create_infer_request(self) -> AsyncInferRequest:
        """Its stages on threads of their own: one request uploads and is started while others compute and download."""
        if self.properties.get(props.exclusive_async_requests):
            return super().create_infer_request()
        request = self.create_sync_infer_request()
        stages = zip((self._feeding, self._feeding, self.executor, self.executor), STAGES)
        return AsyncInferRequest(request, [(executor, partial(request.run_stage, stage)) for executor, stage in stages])
