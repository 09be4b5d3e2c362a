"""The compiled model: a program for every combination of input shapes that it met, the last few kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from hetero import properties as props
from hetero.graph import Model
from hetero.passes import specialize, value_parameters
from hetero.plugin import STAGES, AsyncInferRequest, CompiledModel, Executor, Plugin
from hetero.properties import PropertyTable
from hetero_opencl.constants import Constants
from hetero_opencl.device import OpenCLDevice
from hetero_opencl.infer_request import OpenCLInferRequest
from hetero_opencl.lowering import lower_model
from hetero_opencl.program import Program

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
        device: OpenCLDevice,
        cache_folder: Path,
    ) -> None:
        super().__init__(model, plugin, properties)
        properties.fill({props.optimal_number_of_infer_requests: properties.get(props.num_streams)})
        self._model, self.device, self._cache_folder = transformed, device, cache_folder
        self.variables = [variable.info for variable in transformed.variables]
        self._constants = Constants(device)
        deciding = value_parameters(transformed)
        self._deciding = [index for index, node in enumerate(transformed.parameters) if node in deciding]
        self._programs: OrderedDict[Key, Program] = OrderedDict()
        self._lock = threading.Lock()
        self._feeding = Executor(f"{self.device_name} {self.name} feeding")
        if not self._deciding and all(port.partial_shape.is_static for port in transformed.inputs):
            self.program_for([np.broadcast_to(np.zeros((), np.uint8), port.shape) for port in transformed.inputs])

    def create_sync_infer_request(self) -> OpenCLInferRequest:
        return OpenCLInferRequest(self)

    def create_infer_request(self) -> AsyncInferRequest:
        """Its stages on threads of their own: one request uploads and is started while others compute and download."""
        request = self.create_sync_infer_request()
        stages = zip((self._feeding, self._feeding, self.executor, self.executor), STAGES)
        return AsyncInferRequest(request, [(executor, partial(request.run_stage, stage)) for executor, stage in stages])

    def program_for(self, inputs: Sequence[np.ndarray]) -> Program:
        """The program for inputs of these shapes, made when it is not among the last ones used."""
        values = {index: inputs[index] for index in self._deciding}
        key = (*(array.shape for array in inputs), *(value.tobytes() for value in values.values()))
        with self._lock:
            program = self._programs.get(key)
            if program is None:
                shapes = {index: array.shape for index, array in enumerate(inputs)}
                special = specialize(self._model, shapes, values)
                program = self._programs[key] = lower_model(special, self.device, self._constants, self._cache_folder)
                if len(self._programs) > MOST_PROGRAMS:
                    self._programs.popitem(last=False)
            self._programs.move_to_end(key)
        return program
