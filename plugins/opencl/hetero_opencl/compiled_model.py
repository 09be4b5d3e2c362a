"""The compiled model: programs for the input shapes that it met, and requests that run them."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from hetero import properties as props
from hetero.graph import Constant, Model, Parameter, Result
from hetero.passes import fold_weights
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
from hetero_opencl.memory_use import memory_of, memory_statistics, model_memory, statistics_of
from hetero_opencl.program import Program
from hetero_opencl.program_cache import ProgramCache
from hetero_opencl.remote import OpenCLContext
from hetero_opencl.variable_ports import expose_variables, variables_of


@dataclass(frozen=True)
class StatefulPrograms:
    """Programs of a model whose last inputs are the variables ``read``, and whose last outputs those ``written``."""

    programs: ProgramCache
    read: list[str]
    written: list[str]


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
        # Kernels want weights arranged; what is exported has them as small as they are.
        self._computed = transformed.clone()
        fold_weights(self._computed)
        self.variables = variables_of(transformed)
        self._constants = Constants(self.device)
        self._made: weakref.WeakSet[Program] = weakref.WeakSet()
        self._stateful: dict[tuple[bool, ...], StatefulPrograms] = {}
        self._lock = threading.Lock()
        self._feeding = Executor(f"{self.device_name} {self.name} feeding")
        # Without contents in the first inference of a request, and with them in those that follow.
        for are_set in dict.fromkeys((is_set,) * len(self.variables) for is_set in (False, True)):
            self.programs_for(are_set).programs.make_if_static()

    def programs_for(self, are_set: Sequence[bool]) -> StatefulPrograms:
        """The programs for requests in which these of the variables have contents."""
        key = tuple(are_set)
        with self._lock:
            if key not in self._stateful:
                model, read, written = expose_variables(self._computed, key)
                programs = ProgramCache(model, self._lower, self._made)
                self._stateful[key] = StatefulPrograms(programs, read, written)
            self._last_used = self._stateful[key].programs
            return self._stateful[key]

    def _lower(self, model: Model) -> Program:
        return lower_model(model, self.device, self._constants, self._binaries)

    def export_sections(self) -> dict[str, Section]:
        """The transformed model, and the binaries of the kernels that were built so far."""
        kernels: dict[str, bytes] = {}
        for program in list(self._made):
            names = self.device.binary_names(program.launches)
            kernels.update({name: binary_of(built) for name, built in dict(zip(names, program.built)).items()})
        return {**model_sections(self, self._model), **kernels}

    def get_runtime_model(self) -> Model:
        """The program that was used last.

        Before that nothing is known of kernels, nor where there are several programs or variables, which are inputs and
        outputs of a program.
        """
        with self._lock:
            segment = self._last_used.last_used
        if segment and segment.rest is None and not self.variables:
            return make_runtime_model(segment.program.model, segment.program.steps, self.execution_times)
        order = self._model.get_ordered_ops()
        steps = [ExecutedStep(node) for node in order if not isinstance(node, (Parameter, Constant, Result))]
        return make_runtime_model(self._model, steps, self.execution_times)

    def last_programs(self) -> list[Program]:
        """The programs that were used last, in order; none while no shape is known."""
        with self._lock:
            last = self._last_used
        return last.last_chain()

    def get_property(self, key: str) -> Any:
        """The memory that is used is counted when it is asked for."""
        if key == model_memory:
            return memory_of(self.last_programs())
        if key == memory_statistics:
            return statistics_of(self.device.handle)
        return super().get_property(key)

    def create_sync_infer_request(self) -> OpenCLInferRequest:
        return OpenCLInferRequest(self)

    def create_infer_request(self) -> AsyncInferRequest:
        """Its stages on threads of their own: one request uploads and is started while others compute and download."""
        if self.properties.get(props.exclusive_async_requests):
            return super().create_infer_request()
        request = self.create_sync_infer_request()
        stages = zip((self._feeding, self._feeding, self.executor, self.executor), STAGES)
        return AsyncInferRequest(request, [(executor, partial(request.run_stage, stage)) for executor, stage in stages])
