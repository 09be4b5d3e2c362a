"""The compiled model: a program for every combination of input shapes that it met, the last few kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial

import numpy as np

from hetero import properties as props
from hetero.graph import Constant, Model, Parameter, Result
from hetero.passes import specialize, value_parameters
from hetero.plugin import (
    STAGES,
    AsyncInferRequest,
    CompiledModel,
    ExecutedStep,
    Executor,
    Plugin,
    RemoteTensor,
    Section,
    make_runtime_model,
    model_sections,
)
from hetero.properties import PropertyTable
from hetero.tracing import span
from hetero_opencl.binaries import Binaries
from hetero_opencl.constants import Constants
from hetero_opencl.device import binary_of
from hetero_opencl.infer_request import OpenCLInferRequest
from hetero_opencl.lowering import lower_model
from hetero_opencl.program import Program
from hetero_opencl.remote import OpenCLContext

# Programs share the weights; each request has buffers of its own for the program that it ran last.
MOST_PROGRAMS = 8

Key = tuple


class OpenCLCompiledModel(CompiledModel):
    """Lowers the model at once where all shapes are known, else at the first inference of each input shape.

    The contents of integer inputs that decide shapes are a part of what tells programs apart.
    """

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
        deciding = value_parameters(transformed)
        self._deciding = [index for index, node in enumerate(transformed.parameters) if node in deciding]
        self._programs: OrderedDict[Key, Program] = OrderedDict()
        self._lock = threading.Lock()
        self._feeding = Executor(f"{self.device_name} {self.name} feeding")
        if not self._deciding and all(port.partial_shape.is_static for port in transformed.inputs):
            self.program_for([np.broadcast_to(np.zeros((), np.uint8), port.shape) for port in transformed.inputs])

    def export_sections(self) -> dict[str, Section]:
        """The transformed model, and the binaries of the kernels that were built so far."""
        with self._lock:
            built = [pair for program in self._programs.values() for pair in zip(program.launches, program.built)]
        binaries = {launch.source: binary_of(program) for launch, program in built}
        kernels = {self.device.binary_name(source): binary for source, binary in binaries.items()}
        return {**model_sections(self, self._model), **kernels}

    def get_runtime_model(self) -> Model:
        """The program that was used last; before the first inference of dynamic shapes nothing is known of kernels."""
        with self._lock:
            program = next(reversed(self._programs.values()), None)
        if program:
            return make_runtime_model(program.model, program.steps, self.execution_times)
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

    def program_for(self, inputs: Sequence[np.ndarray | RemoteTensor]) -> Program:
        """The program for inputs of these shapes, made when it is not among the last ones used."""
        values = {index: _on_host(inputs[index]) for index in self._deciding}
        key = (*(array.shape for array in inputs), *(value.tobytes() for value in values.values()))
        with self._lock:
            program = self._programs.get(key)
            if program is None:
                with span("make program", self.name):
                    program = self._programs[key] = self._make_program([array.shape for array in inputs], values)
                if len(self._programs) > MOST_PROGRAMS:
                    self._programs.popitem(last=False)
            self._programs.move_to_end(key)
        return program

    def _make_program(self, shapes: Sequence[tuple[int, ...]], values: dict[int, np.ndarray]) -> Program:
        special = specialize(self._model, dict(enumerate(shapes)), values)
        return lower_model(special, self.device, self._constants, self._binaries)


def _on_host(tensor: np.ndarray | RemoteTensor) -> np.ndarray:
    if not isinstance(tensor, RemoteTensor):
        return tensor
    array = np.empty(tensor.shape, tensor.element_type.to_dtype())
    tensor.copy_to(array)
    return array
