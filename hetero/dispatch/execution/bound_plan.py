"""BoundPlan: a plan with a sub-request of each step, whose tensors are bound once."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace

from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.dispatch.cutting.plan import (
    HOST,
    Boundary,
    Plan,
    StepPort,
    byte_size,
    context_of,
    is_plain,
    smallest_shape,
    step_errors,
)
from hetero.dispatch.execution.bound_step import BoundStep
from hetero.dispatch.execution.boundary_tensor import (
    BoundaryTensor,
    HostMemory,
    MarkedOutput,
    ReadOnlyTensor,
    UnmarkedOutput,
)
from hetero.dispatch.execution.shared_variable import SharedVariable, states_by_name
from hetero.graph import Output, port_name
from hetero.plugin import ProfilingInfo, RemoteTensor, SharedTensor, SyncInferRequest, overlap
from hetero.plugin.requests.profiling import COPY, STAGE, SUBGRAPH
from hetero.system.tracing import is_traced


class BoundPlan:
    """A sub-request of each step of a plan. One tensor object holds a value in all sub-requests that use it.

    A remote tensor is used directly if all of these steps take it. Otherwise a tensor in host memory (a stand-in)
    replaces it: for a value between steps only in the steps that do not take it; for a user's tensor in all steps, with
    a copy before the first step or after the last one. An output in the memory of an input gets a stand-in too, as a
    later step may read the input again.

    With ``protects_outputs`` all outputs of the user get one, so that a step that was abandoned cannot write to them
    later. With ``keeps_snapshots`` variables can be restored.

    Steps read a tensor through a ReadOnlyTensor, except in memory of their own device, which cannot be protected.
    """

    def __init__(
        self, plan: Plan, request: SyncInferRequest, protects_outputs: bool = False, keeps_snapshots: bool = False
    ) -> None:
        self.plan = plan
        self._protects_outputs = protects_outputs
        #: Whether a step hangs in one of the sub-requests, so that they must not be used again.
        self.is_abandoned = False
        self._is_cancelled = False  # whether sub-requests may be cancelled
        self._request = request  # the user's, whose tensors are bound
        setters = {index for use in plan.variables for index in use.setters}
        self.states: dict[str, SharedVariable] = {}
        self.steps = [
            BoundStep(step, index, request, self.states, can_repeat=keeps_snapshots or index not in setters)
            for index, step in enumerate(plan.steps)
        ]
        requests = [step.request for step in self.steps]
        self.states |= states_by_name(plan.variables, plan.steps, requests, keeps_snapshots)
        self._tensor_of: dict[Output, Tensor] = {}
        self._inputs = frozenset(plan.inputs)
        self._value_of: dict[Output, Output] = dict(zip(request.compiled_model.inputs, plan.inputs))
        # Outputs that no step writes to: an input or a constant as an output, and the second output of one value.
        self._copied: list[tuple[Output, Output]] = []
        self._stand_ins: dict[Output, Tensor] = {}
        # Outputs in the memory of inputs; found again after a tensor of the user has changed.
        self._in_place: list[Output] = []
        self._is_changed = True
        self._bind_all()

    def _bind_all(self) -> None:
        plan, request = self.plan, self._request
        for port in request.compiled_model.inputs:
            self.bind(port, request.get_tensor(port))
        for value, array in plan.constants.items():
            self._tensor_of[value] = Tensor(array, shared_memory=True)
        written = plan.ports.keys() - set(plan.inputs)
        for port, value in zip(request.compiled_model.outputs, plan.outputs):
            if value in written and value not in self._value_of.values():
                self._value_of[port] = value
            else:
                self._copied.append((value, port))
        for port, value in self._value_of.items():
            if value in written:
                self.bind(port, request.get_tensor(port))
        self._bind_boundaries()

    def _bind_boundaries(self) -> None:
        slots: dict[int, Tensor | HostMemory] = {}
        for value, boundary in self.plan.boundaries.by_value.items():
            if value in self._tensor_of:
                continue
            writer = self.plan.steps[self.plan.ports[value][0].step]
            with step_errors(writer.device, f"allocate '{port_name(value)}'"):
                tensor = self._boundary_tensor(value, boundary, slots)
            if isinstance(tensor, RemoteTensor) and boundary.copies:
                self._bind_mixed(value, tensor, BoundaryTensor(value.element_type, tensor.shape))
            else:
                self._bind_value(value, tensor)

    def _boundary_tensor(self, value: Output, boundary: Boundary, slots: dict[int, Tensor | HostMemory]) -> Tensor:
        port, memory = self.plan.ports[value][0].port, boundary.memory
        if not is_plain(port):
            return self.steps[self.plan.ports[value][0].step].request.get_tensor(port)
        kind, shape, number = port.element_type, smallest_shape(port), self.plan.boundaries.slot_of.get(value)
        if number is not None and number not in slots:
            _, byte_size = self.plan.boundaries.slots[number]
            slots[number] = HostMemory(byte_size) if memory is HOST else memory.create(Type.u8, [byte_size])
        slot = None if number is None else slots[number]
        if memory is HOST:
            is_lent = value in self.plan.boundaries.lent
            tensor = BoundaryTensor(kind, shape, slot if isinstance(slot, HostMemory) else None, is_lent)
            self._release_after_use(value, tensor)
            return tensor
        return memory.create_in(slot, kind, shape) if isinstance(slot, Tensor) else memory.create(kind, shape)

    def bind(self, port: Output, tensor: Tensor) -> None:
        """Bind a tensor of the user to the steps that read or write it. Raise StepError if a device refuses it."""
        self._is_changed = True
        self._stand_ins.pop(port, None)
        if port not in self._value_of:
            return
        value = self._value_of[port]
        requests = [self.steps[user.step].request for user in self.plan.ports.get(value, ())]
        is_protected = self._protects_outputs and port in self._request.compiled_model.outputs
        if is_protected or (
            isinstance(tensor, RemoteTensor) and not all(request.takes(tensor) for request in requests)
        ):
            tensor = self._stand_ins[port] = Tensor(tensor.element_type, tensor.shape)
        self._bind_value(value, tensor)

    def note_other_memory(self) -> None:
        """Note that a tensor of the user, which stays bound, has other memory, which may be that of an output."""
        self._is_changed = True

    def _separate_outputs(self) -> None:
        """Give stand-ins to outputs in the memory of inputs."""
        request = self._request
        for port in self._in_place:
            self.bind(port, request.get_tensor(port))
        self._is_changed = False
        inputs = request.input_tensors()
        outputs = [(port, request.get_tensor(port)) for port in request.compiled_model.outputs]
        self._in_place = [port for port, tensor in outputs if any(overlap(tensor, source) for source in inputs)]
        if len(self.plan.steps) == 1 and not self._copied:
            for port in self._in_place:  # the device computes in place, so no pattern may overwrite the input
                written = self.plan.ports[self._value_of[port]][0].port
                if written in self.steps[0].outputs:
                    self.steps[0].outputs[written] = UnmarkedOutput(written, request.get_tensor(port))
            return
        for port in self._in_place:
            if port not in self._stand_ins:
                tensor = self._stand_ins[port] = _tensor_like(request.get_tensor(port))
                if port in self._value_of:
                    self._bind_value(self._value_of[port], tensor)

    def _bind_value(self, value: Output, tensor: Tensor) -> None:
        self._tensor_of[value] = tensor
        readers = self.plan.ports.get(value, [])
        if readers and value not in self._inputs:
            writer, *readers = readers
            self._bind_output(writer, tensor)
        for reader in readers:
            self._bind_input(reader, tensor)

    def _bind_output(self, writer: StepPort, tensor: Tensor) -> None:
        step = self.steps[writer.step]
        step.set_tensor(writer.port, tensor)
        if isinstance(tensor, BoundaryTensor) and (tensor.is_lent or not step.writes_outputs):
            step.outputs[writer.port] = tensor
        elif isinstance(tensor, BoundaryTensor) and byte_size(writer.port) is not None:
            step.outputs.pop(writer.port, None)
            tensor.is_fixed = True
        elif step.writes_outputs:
            step.outputs[writer.port] = UnmarkedOutput(writer.port, tensor)
        else:
            kind = UnmarkedOutput if isinstance(tensor, RemoteTensor) else MarkedOutput
            step.outputs[writer.port] = kind(writer.port, tensor)

    def _bind_input(self, reader: StepPort, tensor: Tensor) -> None:
        step = self.steps[reader.step]
        is_of_device = isinstance(tensor, RemoteTensor) or (
            isinstance(tensor, SharedTensor) and tensor.context == context_of(step.step.compiled)
        )
        step.set_tensor(reader.port, tensor if is_of_device else ReadOnlyTensor(tensor))

    def _bind_mixed(self, value: Output, remote: RemoteTensor, local: BoundaryTensor) -> None:
        """Bind a remote tensor to the steps that take it, a host tensor to the others; one is copied to the other."""
        self._tensor_of[value] = remote
        writer, *readers = self.plan.ports[value]
        written, copy = (remote, local) if self.steps[writer.step].request.takes(remote) else (local, remote)
        self._bind_output(writer, written)
        for reader in readers:
            self._bind_input(reader, remote if self.steps[reader.step].request.takes(remote) else local)
        self.steps[writer.step].copies.append((value, written, copy))
        self._release_after_use(value, local)

    def _release_after_use(self, value: Output, tensor: BoundaryTensor) -> None:
        step = self.plan.boundaries.released.get(value)
        if step is not None:
            self.steps[step].released.append(tensor)

    def prepare(self) -> None:
        """Prepare an inference: reset cancelled sub-requests, and copy inputs to their stand-ins."""
        if self._is_cancelled:
            self._is_cancelled = False
            for step in self.steps:
                step.request.cancelled = False
        if self._is_changed:
            self._separate_outputs()
        for port in self._request.compiled_model.inputs if self._stand_ins else ():
            if port in self._stand_ins:
                copy_between(self._request.get_tensor(port), self._stand_ins[port])

    @property
    def needs_threads(self) -> bool:
        """Whether steps of several devices can run at the same time, and more than one of them blocks its thread.

        A profiled or traced inference runs on several threads too, as spans on one thread must not overlap.
        """
        if self.plan.is_chain:
            return False
        blocking = {step.step.device for step in self.steps if not step.is_asynchronous}
        return len(blocking) > 1 or self._is_timed()

    def _is_timed(self) -> bool:
        return self._request.is_profiled or is_traced()

    def run_on_this_thread(self) -> BaseException | None:
        """Run all steps. Return the first error, None if all succeeded."""
        try:
            for action in [step.run for step in self.steps] if self._is_timed() else self._actions:
                action()
        except BaseException as error:
            for step in self.steps:
                step.drain()
            return error
        return None

    @functools.cached_property
    def _actions(self) -> list[Callable[[], None]]:
        """The order in which one thread starts steps and waits for them.

        A step starts as soon as the steps before it have ended, first those of asynchronous devices, for which the
        thread waits when it has nothing else to do. Events between two steps of one context would save no wait: if a
        subgraph reads another one of its device, there is a third one between them, of another device.
        """
        actions: list[Callable[[], None]] = []
        blockers = [len(step.waits_for) for step in self.plan.steps]
        ready, running = deque[int](), deque[int]()

        def add_ready(indices: Iterable[int]) -> None:
            for index in indices:
                if not blockers[index]:
                    (ready.appendleft if self.steps[index].is_asynchronous else ready.append)(index)

        add_ready(range(len(self.steps)))
        while ready or running:
            if ready:
                index = ready.popleft()
                actions.append(self.steps[index].actions[0])
                if self.steps[index].is_asynchronous:
                    running.append(index)
                    continue
            else:
                index = running.popleft()
                actions.append(self.steps[index].actions[1])
            for reader in self.plan.steps[index].readers:
                blockers[reader] -= 1
            add_ready(self.plan.steps[index].readers)
        return actions

    def write_outputs(self) -> None:
        """After the last step: copy to outputs that no step writes to, and share the variables that were assigned.

        Raises StepError if a device fails at that; ``restore`` gives variables the contents from before then.
        """
        assigned = [(state, state.assigned(self.plan.steps)) for state in self.states.values()]
        for value, port in self._copied:
            copy_between(self._tensor_of[value], self._stand_ins.get(port, self._request.get_tensor(port)))
        for port in self._request.compiled_model.outputs if self._stand_ins else ():
            if port in self._stand_ins:
                copy_between(self._stand_ins[port], self._request.get_tensor(port))
        for state, contents in assigned:
            if contents is not None:
                state.keep(contents)

    def resume_from(self, before: BoundPlan) -> None:
        """Take over the variables of the plan that the request used before. Raise StepError if a device fails."""
        for name, state in before.states.items():
            state.rebind(self.states[name])
            self.states[name] = state
        self.restore()

    def restore(self) -> None:
        """Restore the variables as after the last ``write_outputs``, if kept. Raise StepError if a device fails."""
        for step in self.steps:
            step.restore()

    def abandon(self, index: int) -> None:
        """Give up a step that hangs, and cancel it: its device may notice that."""
        self.is_abandoned = True
        self.steps[index].cancel()

    def cancel(self) -> None:
        self._is_cancelled = True
        for step in self.steps:
            step.cancel()

    def get_profiling_info(self) -> list[ProfilingInfo]:
        """Return the time of each subgraph, followed by its device's own profile; then the copies between subgraphs.

        The stages of a subgraph have its name before theirs, as in ``subgraph 0: start``.
        """
        infos = []
        for bound in self.steps:
            name, timer = bound.step.name, bound.timer
            infos.append(ProfilingInfo(name, SUBGRAPH, bound.step.device, timer.real_time, timer.cpu_time))
            for info in bound.request.get_profiling_info():
                is_operation = info.node_type not in (STAGE, SUBGRAPH, COPY)
                infos.append(info if is_operation else replace(info, node_name=f"{name}: {info.node_name}"))
        for bound in self.steps:
            for value, timer in bound.copy_timers.items():
                name = f"copy of '{port_name(value)}'"
                infos.append(ProfilingInfo(name, COPY, "host", timer.real_time, timer.cpu_time))
        return infos


def copy_between(source: Tensor, target: Tensor) -> None:
    """Copy a tensor to another one, which takes on its type too if it owns its memory: the port's may be dynamic."""
    if source.element_type is target.element_type:
        target.copy_from(source)
    else:
        target.take(Tensor(source).array)


def _tensor_like(tensor: Tensor) -> Tensor:
    """Return a new tensor of the same type and shape in the same kind of memory."""
    if isinstance(tensor, RemoteTensor):
        return tensor.context.create_tensor(tensor.element_type, tensor.shape)
    return Tensor(tensor.element_type, tensor.shape)
