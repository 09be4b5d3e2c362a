"""Infer request of the GPU plugin: uploads inputs, runs the programs for their shapes, downloads outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hetero.core.containers import ContainerType
from hetero.core.tensor import Tensor
from hetero.graph import VariableInfo
from hetero.plugin import CompiledModel, ProfilingInfo, SyncInferRequest, VariableState
from hetero_opencl.compile.program_cache import StatefulPrograms
from hetero_opencl.compile.variable_ports import CachePorts, Growth
from hetero_opencl.device.process_guard import fork_guard
from hetero_opencl.device.transfers import on_host
from hetero_opencl.execute.bound_model import BoundModel
from hetero_opencl.execute.cache import Cache
from hetero_opencl.execute.remote import OpenCLContext
from hetero_opencl.execute.variable_state import OpenCLVariableState, chosen_items, no_items
from hetero_opencl.execute.workspace import Workspace


class OpenCLInferRequest(SyncInferRequest):
    """A request. Its programs are bound in ``preprocess``, and again when shapes or set variables change."""

    def __init__(
        self,
        compiled_model: CompiledModel,
        context: OpenCLContext,
        growing: Mapping[str, Growth],
        variables: Sequence[VariableInfo],
        caches: Sequence[CachePorts],
        programs_for: Callable[[Sequence[bool], bool], StatefulPrograms],
    ) -> None:
        """``programs_for`` returns the programs for requests in which these variables are set or not.

        Its second argument is whether they append to the ``caches``. Variables that are ``growing`` grow in place.
        """
        super().__init__(compiled_model)
        self._context, self._programs_for = context, programs_for
        self._states = {v.variable_id: OpenCLVariableState(v, context, growing.get(v.variable_id)) for v in variables}
        self._caches = [Cache(ports, context) for ports in caches]
        self._appends = False
        kinds = [port.element_type for port in compiled_model.outputs]
        self._containers = [index for index, kind in enumerate(kinds) if isinstance(kind, ContainerType)]
        self._stateful: StatefulPrograms | None = None
        self.bound_model: BoundModel
        self._use_programs()

    def _use_programs(self) -> StatefulPrograms:
        """Return the programs for the variables that are set now, and bind them if they are others than before."""
        stateful = self._programs_for([state.is_set for state in self._states.values()], self._appends)
        if stateful is not self._stateful:
            if self._stateful is not None:
                del self.bound_model  # frees its memory before the next one allocates
            self._stateful, self._has_profile = stateful, self.compiled_model.is_profiled
            self.bound_model = BoundModel(stateful.programs, Workspace(self._context, self._has_profile))
        return stateful

    def _items(self, stateful: StatefulPrograms) -> list[Tensor]:
        """Return the items of the batch that go on, in each row of the variables that have beams."""
        states = [self._states[name] for name in stateful.chosen]
        if not states:
            return []
        for state in states:
            state.restore()
        beams, first = on_host(self.input_tensors()[stateful.beams]), states[0]
        if beams.size == first.items.shape[1] and all(state.has_rows_of(first) for state in states):
            items = chosen_items(first.items, first.current.lengths[0], beams)
            for state in states:
                state.begin_choice(items)
        else:
            items = no_items(beams.size)
            for state in states:
                state.begin_copy(beams, items)
        return [Tensor(items)]

    def preprocess(self) -> None:
        fork_guard.check()
        inputs, outputs = self.input_tensors(), self.output_tensors()
        if self._caches:
            inputs, outputs = self._in_caches(inputs, outputs)
        if self._states or self._caches:
            stateful = self._use_programs()
            items = self._items(stateful)
            inputs = [*inputs, *(self._states[name].current for name in stateful.read), *items]
            outputs = [*outputs, *(self._states[name].following for name in stateful.written)]
        elif self.compiled_model.is_profiled is not self._has_profile:
            self._use_programs()
        self.bound_model.begin(inputs, outputs)

    def _in_caches(
        self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        """Return tensors that programs append to in place of those that are inputs and outputs, if all caches are."""
        pairs = [(cache, inputs[cache.ports.input], outputs[cache.ports.output]) for cache in self._caches]
        self._appends = all(read is written and cache.takes(read) for cache, read, written in pairs)
        if self._appends:
            inputs, outputs = list(inputs), list(outputs)
            for cache, tensor, _ in pairs:
                inputs[cache.ports.input], outputs[cache.ports.output] = cache.begin(tensor)
        return inputs, outputs

    def start(self) -> None:
        self.bound_model.launch(self.check_cancelled)

    def wait(self) -> None:
        self.bound_model.finish()

    def postprocess(self) -> None:
        self.bound_model.download()
        for name, state in self._states.items():
            state.is_assigned = self._stateful is not None and name in self._stateful.written
            if state.is_assigned:
                state.advance()
        for cache in self._caches if self._appends else ():
            cache.end(self.output_tensors()[cache.ports.output])
        for index in self._containers:
            array = self.output_tensors()[index].array
            array[()] = _with_arrays(array[()])

    def query_state(self) -> list[VariableState]:
        return list(self._states.values())

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return [*super().get_profiling_info(), *self.bound_model.profile()]


def _with_arrays(content: Any) -> Any:
    """Replace the tensors in the content of a sequence or an optional by host arrays."""
    if isinstance(content, list):
        return [_with_arrays(item) for item in content]
    return on_host(content) if isinstance(content, Tensor) else content
