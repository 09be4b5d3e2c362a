"""BoundPlan: a plan with sub-requests of its own, and the tensors between them bound once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta

from hetero.dispatch.plan import Plan
from hetero.graph import Output, VariableInfo
from hetero.plugin import ProfilingInfo, RemoteTensor, SyncInferRequest, VariableState
from hetero.tensor import Tensor
from hetero.tracing import is_traced, span


class BoundPlan:
    """A request of each step. One tensor object stands for a value in all requests that write or read it.

    A remote tensor of the user does so too where all of them take it; else a tensor in host memory stands in for it,
    and is copied from before the steps, or to it after them.
    """

    def __init__(self, plan: Plan, request: SyncInferRequest) -> None:
        self.plan = plan
        self._request = request  # the user's, whose tensors are bound
        self.requests = [step.create_request() for step in plan.steps]
        for step_request in self.requests:
            step_request.number = request.number  # in a trace all of it is one request
        self._times = [0.0] * len(plan.steps)
        self.states = _states_by_name(self.requests)
        self._tensor_of: dict[Output, Tensor] = {}
        self._value_of: dict[Output, Output] = dict(zip(request.compiled_model.inputs, plan.inputs))
        # Outputs that no step writes into: an input or a constant handed out, and a value handed out twice.
        self._copied: list[tuple[Output, Output]] = []
        self._stand_ins: dict[Output, Tensor] = {}
        self._bind_all()

    def _bind_all(self) -> None:
        plan, request = self.plan, self._request
        for port in request.compiled_model.inputs:
            self.bind(port, request.get_tensor(port))
        for value, array in plan.constants.items():
            self._tensor_of[value] = Tensor(array, shared_memory=True)
        written = plan.places.keys() - set(plan.inputs)
        for port, value in zip(request.compiled_model.outputs, plan.outputs):
            if value in written and value not in self._value_of.values():
                self._value_of[port] = value
            else:
                self._copied.append((value, port))
        for port, value in self._value_of.items():
            if value in written:
                self.bind(port, request.get_tensor(port))
        for value, places in plan.places.items():
            if value not in self._tensor_of:
                self._bind_value(value, self.requests[places[0].step].get_tensor(places[0].port))

    def bind(self, port: Output, tensor: Tensor) -> None:
        """Let the steps read or write a tensor of the user's."""
        self._stand_ins.pop(port, None)
        if port not in self._value_of:
            return
        value = self._value_of[port]
        steps = [self.requests[place.step] for place in self.plan.places.get(value, ())]
        if isinstance(tensor, RemoteTensor) and not all(step.takes(tensor) for step in steps):
            tensor = self._stand_ins[port] = Tensor(tensor.element_type, tensor.shape)
        self._bind_value(value, tensor)

    def _bind_value(self, value: Output, tensor: Tensor) -> None:
        self._tensor_of[value] = tensor
        for place in self.plan.places.get(value, ()):
            self.requests[place.step].set_tensor(place.port, tensor)

    def prepare(self) -> None:
        """Before the first step: requests that were cancelled may run again, and stand-ins get their contents."""
        for request in self.requests:
            request.cancelled = False
        for port in self._request.compiled_model.inputs if self._stand_ins else ():
            if port in self._stand_ins:
                self._stand_ins[port].copy_from(self._request.get_tensor(port))

    def run_step(self, index: int) -> None:
        """Run one step, unless the inference was cancelled."""
        if self._request.cancelled:
            self._request.check_cancelled()
        if self._request.is_profiled or is_traced():
            self._run_timed(index)
        else:
            self.requests[index].infer()

    def _run_timed(self, index: int) -> None:
        started = time.perf_counter()
        step = self.plan.steps[index]
        with span(step.name, step.device, self._request.number):
            self.requests[index].infer()
        self._times[index] = time.perf_counter() - started

    def hand_out(self) -> None:
        """After the last step: fill outputs that no step wrote to, and share what was assigned to variables."""
        for value, port in self._copied:
            self._request.get_tensor(port).copy_from(self._tensor_of[value])
        for name, index in self.plan.setters.items():
            self.states[name].share(index)
        for port in self._request.compiled_model.outputs if self._stand_ins else ():
            if port in self._stand_ins:
                self._request.get_tensor(port).copy_from(self._stand_ins[port])

    def cancel(self) -> None:
        for request in self.requests:
            request.cancel()

    def get_profiling_info(self) -> list[ProfilingInfo]:
        """For each subgraph its time, followed by what its device tells of it."""
        infos = []
        for step, request, seconds in zip(self.plan.steps, self.requests, self._times):
            infos.append(ProfilingInfo(step.name, "Subgraph", step.device, timedelta(seconds=seconds)))
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
