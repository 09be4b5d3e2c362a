"""HeteroInferRequest: runs the steps of a plan, with the tensors between them bound once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from hetero.graph import Output, VariableInfo
from hetero.plugin import ProfilingInfo, RemoteTensor, SyncInferRequest, VariableState
from hetero.tensor import Tensor
from hetero.tracing import span

if TYPE_CHECKING:
    from hetero.dispatch.compiled_model import HeteroCompiledModel


class HeteroInferRequest(SyncInferRequest):
    """A request of each step. One tensor object stands for a value in all requests that write or read it.

    A remote tensor does so too where all of them take it; else a tensor in host memory stands in for it, and is copied
    from before the steps, or to it after them.
    """

    compiled_model: HeteroCompiledModel

    def __init__(self, compiled_model: HeteroCompiledModel) -> None:
        super().__init__(compiled_model)
        plan = self._plan = compiled_model.plan
        self._requests = [step.create_request() for step in plan.steps]
        for request in self._requests:
            request.number = self.number  # in a trace all of it is one request
        self._times = [0.0] * len(plan.steps)
        self._states = _states_by_name(self._requests)
        self._tensor_of: dict[Output, Tensor] = {}
        self._value_of: dict[Output, Output] = dict(zip(compiled_model.inputs, plan.inputs))
        # Outputs that no step writes into: an input or a constant handed out, and a value handed out twice.
        self._copied: list[tuple[Output, Output]] = []
        self._stand_ins: dict[Output, Tensor] = {}
        self._bind_all()

    def query_state(self) -> list[VariableState]:
        return list(self._states.values())

    def _bind_all(self) -> None:
        for port, value in zip(self.compiled_model.inputs, self._plan.inputs):
            self._bind(value, self.get_tensor(port))
        for value, places in self._plan.places.items():
            if value not in self._tensor_of:
                self._bind(value, self._requests[places[0].step].get_tensor(places[0].port))
        for value, array in self._plan.constants.items():
            self._tensor_of[value] = Tensor(array, shared_memory=True)
        written = self._plan.places.keys() - set(self._plan.inputs)
        for port, value in zip(self.compiled_model.outputs, self._plan.outputs):
            if value in written and value not in self._value_of.values():
                self._value_of[port] = value
                self._tensors[port] = self._tensor_of[value]
            else:
                self._copied.append((value, port))

    def _bind(self, value: Output, tensor: Tensor) -> None:
        self._tensor_of[value] = tensor
        for place in self._plan.places.get(value, ()):
            self._requests[place.step].set_tensor(place.port, tensor)

    def preprocess(self) -> None:
        super().preprocess()
        for request in self._requests:
            request.cancelled = False
        for port in self.compiled_model.inputs:
            if port in self._stand_ins:
                self._stand_ins[port].copy_from(self.get_tensor(port))

    def start(self) -> None:
        for index, (step, request) in enumerate(zip(self._plan.steps, self._requests)):
            self.check_cancelled()
            started = time.perf_counter()
            with span(step.name, step.device, self.number):
                request.infer()
            self._times[index] = time.perf_counter() - started
        for value, port in self._copied:
            self.get_tensor(port).copy_from(self._tensor_of[value])
        for name, index in self._plan.setters.items():
            self._states[name].share(index)

    def postprocess(self) -> None:
        for port in self.compiled_model.outputs:
            if port in self._stand_ins:
                self.get_tensor(port).copy_from(self._stand_ins[port])

    def set_tensor(self, port: Output, tensor: Tensor) -> None:
        super().set_tensor(port, tensor)
        self._stand_ins.pop(port, None)
        if port not in self._value_of:
            return
        value = self._value_of[port]
        steps = [self._requests[place.step] for place in self._plan.places.get(value, ())]
        if isinstance(tensor, RemoteTensor) and not all(step.takes(tensor) for step in steps):
            tensor = self._stand_ins[port] = Tensor(tensor.element_type, tensor.shape)
        self._bind(value, tensor)

    def check_context(self, port: Output, tensor: RemoteTensor) -> None:
        """Any will do: what the steps do not take is copied."""

    def cancel(self) -> None:
        super().cancel()
        for request in self._requests:
            request.cancel()

    def get_profiling_info(self) -> list[ProfilingInfo]:
        """For each subgraph its time, followed by what its device tells of it."""
        infos = super().get_profiling_info()
        for index, (step, request) in enumerate(zip(self._plan.steps, self._requests)):
            took = timedelta(seconds=self._times[index])
            infos.append(ProfilingInfo(step.name, "Subgraph", step.device, took))
            infos += request.get_profiling_info()
        return infos


class _SharedState(VariableState):
    """A variable that the requests of several steps have, by the indices of the steps."""

    def __init__(self, info: VariableInfo) -> None:
        super().__init__(info)
        self.states: dict[int, VariableState] = {}

    def get_state(self) -> Tensor:
        return next(iter(self.states.values())).state

    def set_state(self, tensor: Tensor) -> None:
        for state in self.states.values():
            state.state = tensor

    def reset(self) -> None:
        for state in self.states.values():
            state.reset()

    def share(self, step: int) -> None:
        """Let all have what the request of one step has."""
        others = [state for index, state in self.states.items() if index != step]
        for state in others:
            state.state = self.states[step].state


def _states_by_name(requests: Sequence[SyncInferRequest]) -> dict[str, _SharedState]:
    shared: dict[str, _SharedState] = {}
    for index, request in enumerate(requests):
        for state in request.query_state():
            shared.setdefault(state.name, _SharedState(state.info)).states[index] = state
    return shared
