"""Compiled model of the GPU plugin: programs for each combination of input shapes, and requests that run them."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hetero import ops
from hetero import properties as props
from hetero.compiler import constants_budget, give_lengths
from hetero.core.lengths.guards import Guards
from hetero.graph import Model, UniqueNames, is_terminal, walk_nested
from hetero.passes import with_folded_weights
from hetero.plugin import (
    STAGES,
    AsyncInferRequest,
    CompiledModel,
    ExecutedStep,
    Executor,
    PreparedModel,
    Section,
    make_runtime_model,
    model_programs,
    model_sections,
)
from hetero_opencl.compile.built_program import BuiltProgram
from hetero_opencl.compile.next_implementation import lower_and_build
from hetero_opencl.compile.program_cache import CreatedPrograms, SegmentCache, StatefulPrograms
from hetero_opencl.compile.variable_ports import append_to_caches, expose_variables, find_caches, find_growing
from hetero_opencl.device.caches import BinaryCache
from hetero_opencl.device.device import OpenCLDevice
from hetero_opencl.device.memory import allocations_on, memory_statistics
from hetero_opencl.execute.infer_request import OpenCLInferRequest
from hetero_opencl.execute.remote import OpenCLContext
from hetero_opencl.execute.tuner import measure_operations
from hetero_opencl.lowering.constants import Constants
from hetero_opencl.lowering.program import KernelProgram, memory_of, model_memory
from hetero_opencl.lowering.tuning import Tuning

# A likely number of beams.
_BEAMS = 4


class OpenCLCompiledModel(CompiledModel):
    """A model lowered at once if all shapes are static, else at the first inference of each input shape."""

    device: OpenCLDevice
    context: OpenCLContext

    def __init__(self, prepared: PreparedModel, context: OpenCLContext, binaries: BinaryCache) -> None:
        super().__init__(prepared)
        self.context = context
        self._model, self.device, self._binaries = prepared.model, context.device, binaries
        self._tuning = Tuning.load(self.device, self.properties.value_of(props.tuning_file))
        _name_generators(prepared.model)
        self._decompressed = with_folded_weights(prepared.model, takes_compressed=True)
        self.variables = [variable.info for variable in prepared.model.variables]
        self._growing, self._caches = find_growing(self._decompressed), find_caches(self._decompressed)
        self._constants = Constants(self.device.upload)
        self._lowered: CreatedPrograms = weakref.WeakKeyDictionary()
        # By PERF_COUNT, as launches that are measured are not merged, whether caches are appended to, and by which
        # variables are set.
        self._stateful: dict[tuple[bool, ...], StatefulPrograms] = {}
        self._lock = threading.Lock()
        self._feeding = Executor(f"{self.device_name} {self.name} feeding")
        # Variables are unset in the first inference of a request, and set in later ones.
        for are_set in dict.fromkeys((is_set,) * len(self.variables) for is_set in (False, True)):
            for appends in (False, True)[: 1 + bool(self._caches)]:
                self._make_ahead(self.programs_for(are_set, appends))

    def _make_ahead(self, stateful: StatefulPrograms) -> None:
        # Several beams are as likely as one text.
        for items in (_BEAMS, 1) if stateful.chosen else (1,):
            stateful.programs.make_ahead(stateful.grows, items)
            for built in stateful.programs.last_chain()[-1:]:
                built.program.plan_ahead(stateful.in_place)

    def programs_for(self, are_set: Sequence[bool], appends: bool = False) -> StatefulPrograms:
        """Return the programs for requests in which the variables are set or not as ``are_set`` says.

        ``appends``: whether they append to caches that are inputs and outputs.
        """
        key = (self.is_profiled, appends, *are_set)
        with self._lock:
            if key not in self._stateful:
                caches = self._caches if appends else ()
                whole = append_to_caches(self._decompressed, caches) if caches else self._decompressed
                model, read, written = expose_variables(whole, are_set, self._growing)
                beams = {name: g.beams for name, g in self._growing.items() if name in read and g.beams is not None}
                lower = partial(self._lower, is_profiled=self.is_profiled)
                programs = SegmentCache(model, lower, self._lowered, self._is_full)
                grows = [*(0 if name in self._growing else None for name in read), *[0] * bool(beams)]
                beams_input = next(iter(beams.values()), 0)
                count = len(model.results)
                in_place = [*(cache.output for cache in caches), *range(count - len(written), count)]
                self._stateful[key] = StatefulPrograms(programs, read, written, grows, in_place, [*beams], beams_input)
            self._last_used = self._stateful[key].programs
            return self._stateful[key]

    def _is_full(self) -> bool:
        """Return whether the constants of all programs, in the layouts of each, take too much memory."""
        made = [built for key in self._lowered.keyrefs() if (built := key()) is not None]
        largest = max((built.constant_bytes for built in made), default=0)
        return self._constants.byte_size > constants_budget(largest)

    def _lower(self, model: Model, guards: Guards | None, is_profiled: bool) -> BuiltProgram:
        return lower_and_build(model, self.device, self._constants, self._binaries, self._tuning, is_profiled, guards)

    def export_sections(self) -> dict[str, Section]:
        """Return the transformed model, and the binaries of the kernels built so far.

        If shapes are dynamic, also those for other likely lengths, so that an imported model compiles none for them.
        With CACHE_DIR these are not built ahead, as they are found there once a request has needed them.
        """
        # Each in one step, while requests make programs for other shapes.
        made, stateful = [*self._lowered.keyrefs()], [*self._stateful.values()]
        if self.properties.get(props.cache_dir):
            stateful = []
        likely = (segment.program for each in stateful for segment in each.programs.programs_of_buckets(each.grows))
        kernels: dict[str, bytes] = {}
        for program in itertools.chain((program for reference in made if (program := reference())), likely):
            names = self.device.binary_names(program.program.commands)
            kernels.update({name: built.binaries[0] for name, built in dict(zip(names, program.built)).items()})
        return {**model_sections(self, self._model), **kernels}

    def get_runtime_model(self) -> Model:
        """Return the model that runs, with the kernels of the program used last.

        There is no kernel information before the first program is used, nor if the model is a chain of several programs
        or has variables, as these are inputs and outputs of a program.
        """
        segment = self._last_used.last_used
        program = segment.program.program if segment and segment.rest is None and not self.variables else None
        if program is not None and (program.varying is None or program.lengths):
            executed = make_runtime_model(program.model, program.steps, self.execution_times)
            if program.varying is not None:
                give_lengths(executed, dict(zip(program.varying.symbols, program.lengths)))
            return executed
        order = self._model.get_ordered_ops()
        steps = [ExecutedStep(node) for node in order if not is_terminal(node)]
        return make_runtime_model(self._model, steps, self.execution_times)

    def last_programs(self) -> list[KernelProgram]:
        """Return the programs used last, in order; empty before any program is made."""
        return [built.program for built in self._last_used.last_chain()]

    def tune(self, file: str | Path = "", progress: Callable[[str, int, int], None] | None = None) -> Path:
        """Measure the operations of the programs used last. What a file has before stays."""
        path = Path(file) if file else self._tuning.file
        tuning = Tuning.load(self.device, str(path)) if path.exists() else Tuning(self._tuning.device, path)
        try:
            measure_operations(self.last_programs(), self.context, self._binaries, tuning, progress)
        finally:
            tuning.save()
        return path

    def get_property(self, key: str) -> Any:
        """Return a property. Memory use is measured at the call."""
        if key == model_memory:
            made = [built.program for key in self._lowered.keyrefs() if (built := key()) is not None]
            return memory_of(self.last_programs(), made)
        if key == model_programs:
            return tuple(line for each in [*self._stateful.values()] for line in each.programs.describe())
        if key == memory_statistics:
            return allocations_on(self.device.handle).statistics()
        return super().get_property(key)

    def create_sync_infer_request(self) -> OpenCLInferRequest:
        return OpenCLInferRequest(self, self.context, self._growing, self.variables, self._caches, self.programs_for)

    def create_infer_request(self) -> AsyncInferRequest:
        """Create a request whose stages run on two threads, so that one uploads while another computes or downloads."""
        if self.properties.get(props.exclusive_async_requests):
            return super().create_infer_request()
        request = self.create_sync_infer_request()
        stages = zip((self._feeding, self._feeding, self.executor, self.executor), STAGES)
        return AsyncInferRequest(request, [(executor, partial(request.run_stage, stage)) for executor, stage in stages])


def _name_generators(model: Model) -> None:
    """Give generators of random numbers names of their own, by which they keep their state; those in bodies last."""
    unique, order = UniqueNames(), model.get_ordered_ops()
    for node in dict.fromkeys((*order, *walk_nested(order))):
        if isinstance(node, (ops.RandomUniform, ops.Multinomial)):
            node.friendly_name = unique.take(node.friendly_name)
