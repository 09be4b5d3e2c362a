"""BoundPlan: a plan with a sub-request of each step, whose tensors are bound once."""

from __future__ import annotations

import time
from datetime import timedelta

from hetero.dispatch.boundaries import HOST, Boundary, context_of, is_plain, smallest_shape
from hetero.dispatch.boundary_tensor import BoundaryTensor
from hetero.dispatch.plan import Plan
from hetero.dispatch.read_only_tensor import ReadOnlyTensor
from hetero.dispatch.shared_state import SharedState, states_by_name
from hetero.dispatch.step import StepError, StepPort, step_errors
from hetero.dispatch.unwritten import PATTERNS, MarkedOutput
from hetero.errors import DeviceError, TensorError, device_errors
from hetero.graph import Output, port_name
from hetero.plugin import ProfilingInfo, RemoteTensor, SharedTensor, SyncInferRequest, overlap
from hetero.tensor import Tensor
from hetero.tracing import is_traced, span
from hetero.types import Type

# Minimum number of unchanged bytes that prove an output unwritten if the step cannot run again to confirm it: shorter
# results may equal the pattern by chance.
MIN_CERTAIN_BYTES = 8


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
        self._protects_outputs, self._keeps_snapshots = protects_outputs, keeps_snapshots
        #: Whether a step hangs in one of the sub-requests, so that they must not be used again.
        self.is_abandoned = False
        self._request = request  # the user's, whose tensors are bound
        self.requests = [step.create_request() for step in plan.steps]
        for step_request in self.requests:
            step_request.number = request.number  # a trace shows them as one request
        self._times = [0.0] * len(plan.steps)
        self.states = states_by_name(plan.steps, self.requests, keeps_snapshots)
        self._tensor_of: dict[Output, Tensor] = {}
        # The outputs of each step that are checked for being written: those in host memory, as others need a transfer.
        self._outputs: list[dict[Output, BoundaryTensor | MarkedOutput]] = [{} for _ in plan.steps]
        self._setters = frozenset(plan.setters.values())
        self._inputs = frozenset(plan.inputs)
        self._value_of: dict[Output, Output] = dict(zip(request.compiled_model.inputs, plan.inputs))
        # Outputs that no step writes to: an input or a constant as an output, and the second output of one value.
        self._copied: list[tuple[Output, Output]] = []
        self._stand_ins: dict[Output, Tensor] = {}
        # Outputs in the memory of inputs; found again after a tensor of the user has changed.
        self._in_place: list[Output] = []
        self._is_changed = True
        # By the step after which it happens: copies of values from one tensor to another, and releases of memory.
        self._copies: dict[int, list[tuple[Output, Tensor, Tensor]]] = {}
        self._released: dict[int, list[BoundaryTensor]] = {}
        self._copy_times: dict[Output, float] = {}
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
        slots: dict[int, Tensor] = {}
        for value, boundary in self.plan.boundaries.by_value.items():
            if value in self._tensor_of:
                continue
            writer = self.plan.steps[self.plan.ports[value][0].step]
            with step_errors(writer.device):
                tensor = self._boundary_tensor(value, boundary, slots)
            if boundary.memory.is_remote and boundary.copies:
                self._bind_mixed(value, tensor, BoundaryTensor(tensor.element_type, tensor.shape))
            else:
                self._bind_value(value, tensor)

    def _boundary_tensor(self, value: Output, boundary: Boundary, slots: dict[int, Tensor]) -> Tensor:
        port, memory = self.plan.ports[value][0].port, boundary.memory
        if not is_plain(port):
            return self.requests[self.plan.ports[value][0].step].get_tensor(port)
        kind, shape, slot = port.element_type, smallest_shape(port), self.plan.boundaries.slot_of.get(value)
        if memory is HOST:
            tensor = BoundaryTensor(kind, shape)
            self._release_after_use(value, tensor)
            return tensor
        if slot is None:
            return memory.create(kind, shape)
        if slot not in slots:
            slot_memory, byte_size = self.plan.boundaries.slots[slot]
            slots[slot] = slot_memory.create(Type.u8, [byte_size])
        return memory.create_in(slots[slot], kind, shape)

    def bind(self, port: Output, tensor: Tensor) -> None:
        """Bind a tensor of the user to the steps that read or write it. Raise StepError if a device refuses it."""
        self._is_changed = True
        self._stand_ins.pop(port, None)
        if port not in self._value_of:
            return
        value = self._value_of[port]
        requests = [self.requests[user.step] for user in self.plan.ports.get(value, ())]
        is_protected = self._protects_outputs and port in self._request.compiled_model.outputs
        if is_protected or (isinstance(tensor, RemoteTensor) and not all(one.takes(tensor) for one in requests)):
            tensor = self._stand_ins[port] = Tensor(tensor.element_type, tensor.shape)
        self._bind_value(value, tensor)

    def _separate_outputs(self) -> None:
        """Give stand-ins to outputs in the memory of inputs."""
        request = self._request
        for port in self._in_place:
            self.bind(port, request.get_tensor(port))
        self._is_changed = False
        inputs = request.input_tensors()
        outputs = [(port, request.get_tensor(port)) for port in request.compiled_model.outputs]
        self._in_place = [port for port, tensor in outputs if any(overlap(tensor, one) for one in inputs)]
        if len(self.plan.steps) == 1 and not self._copied:
            for port in self._in_place:  # the device computes in place, so no pattern may overwrite the input
                self._outputs[0].pop(self.plan.ports[self._value_of[port]][0].port, None)
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
        self._set_tensor(writer, tensor)
        outputs = self._outputs[writer.step]
        outputs.pop(writer.port, None)
        if isinstance(tensor, BoundaryTensor):
            outputs[writer.port] = tensor
        elif is_plain(writer.port) and not isinstance(tensor, RemoteTensor):
            outputs[writer.port] = MarkedOutput(writer.port, tensor)

    def _bind_input(self, reader: StepPort, tensor: Tensor) -> None:
        is_of_device = isinstance(tensor, RemoteTensor) or (
            isinstance(tensor, SharedTensor) and tensor.context == context_of(self.plan.steps[reader.step].compiled)
        )
        self._set_tensor(reader, tensor if is_of_device else ReadOnlyTensor(tensor))

    def _set_tensor(self, user: StepPort, tensor: Tensor) -> None:
        try:
            self.requests[user.step].set_tensor(user.port, tensor)
        except TensorError:
            raise
        except Exception as error:
            step = self.plan.steps[user.step]
            where = f"{step.device} failed to take a tensor of '{step.compiled.name}'"
            raise StepError(step.device, DeviceError(f"{where}: {type(error).__name__}: {error}")) from error

    def _bind_mixed(self, value: Output, remote: RemoteTensor, local: BoundaryTensor) -> None:
        """Bind a remote tensor to the steps that take it, a host tensor to the others; one is copied to the other."""
        self._tensor_of[value] = remote
        writer, *readers = self.plan.ports[value]
        written, copy = (remote, local) if self.requests[writer.step].takes(remote) else (local, remote)
        self._bind_output(writer, written)
        for reader in readers:
            self._bind_input(reader, remote if self.requests[reader.step].takes(remote) else local)
        self._copies.setdefault(writer.step, []).append((value, written, copy))
        self._release_after_use(value, local)

    def _release_after_use(self, value: Output, tensor: BoundaryTensor) -> None:
        step = self.plan.boundaries.released.get(value)
        if step is not None:
            self._released.setdefault(step, []).append(tensor)

    def prepare(self) -> None:
        """Prepare an inference: reset cancelled sub-requests, and copy inputs to their stand-ins."""
        for request in self.requests:
            request.cancelled = False
        if self._is_changed:
            self._separate_outputs()
        for port in self._request.compiled_model.inputs if self._stand_ins else ():
            if port in self._stand_ins:
                self._stand_ins[port].copy_from(self._request.get_tensor(port))

    def run_step(self, index: int) -> None:
        """Run one step. Raise StepError if it fails, CancelledError if the inference was cancelled."""
        if self._request.cancelled:
            self._request.check_cancelled()
        try:
            if self._request.is_profiled or is_traced():
                self._run_timed(index)
            else:
                self._infer(index)
            if index in self._copies:
                self._copy(index)
        except Exception as error:
            raise StepError(self.plan.steps[index].device, error) from error
        for tensor in self._released.get(index, ()):
            tensor.release()

    def _infer(self, index: int, pattern: bytes = PATTERNS[0]) -> None:
        """Run the sub-request of a step. Raise DeviceError if it leaves an output unwritten."""
        outputs = self._outputs[index]
        for output in outputs.values():
            output.mark(pattern)
        self.requests[index].infer()
        for port, output in outputs.items():
            if output.is_unwritten():
                # A step that assigns variables can only run again if they can be restored.
                can_repeat = self._keeps_snapshots or index not in self._setters
                if not can_repeat and output.marked_bytes < MIN_CERTAIN_BYTES:
                    continue
                if can_repeat and pattern == PATTERNS[0]:
                    self._restore_step(index)
                    self._infer(index, PATTERNS[1])
                    return
                step = self.plan.steps[index]
                what = f"the output '{port_name(port)}' of '{step.compiled.name}'"
                raise DeviceError(f"{step.device} did not write {what}")

    def _copy(self, index: int) -> None:
        step = self.plan.steps[index]
        for value, source, target in self._copies[index]:
            started = time.perf_counter()
            with (
                span("copy", port_name(value), self._request.number),
                device_errors(f"{step.device} failed to copy '{port_name(value)}'"),
            ):
                target.copy_from(source)
            self._copy_times[value] = time.perf_counter() - started

    def _run_timed(self, index: int) -> None:
        started = time.perf_counter()
        step = self.plan.steps[index]
        with span(step.name, step.device, self._request.number):
            self._infer(index)
        self._times[index] = time.perf_counter() - started

    def write_outputs(self) -> None:
        """After the last step: copy to outputs that no step writes to, and share the variables that were assigned.

        Raises StepError if a device fails at that; snapshots of variables are those from before then.
        """
        assigned = self._share_assigned()
        for value, port in self._copied:
            self._stand_ins.get(port, self._request.get_tensor(port)).copy_from(self._tensor_of[value])
        for port in self._request.compiled_model.outputs if self._stand_ins else ():
            if port in self._stand_ins:
                self._request.get_tensor(port).copy_from(self._stand_ins[port])
        for state, tensor in assigned:
            state.take_snapshot(tensor)

    def _share_assigned(self) -> list[tuple[SharedState, Tensor]]:
        shared = []
        for name, index in self.plan.setters.items():
            state = self.states[name]
            with step_errors(self.plan.steps[index].device):
                tensor = state.assigned(index)
                if tensor is not None:
                    state.share(index, tensor)
                    shared.append((state, tensor))
        return shared

    def resume_from(self, before: BoundPlan) -> None:
        """Take over the variables of the plan that the request used before. Raise StepError if a device fails."""
        for name, state in before.states.items():
            state.states = self.states[name].states
            self.states[name] = state
        self.restore()

    def restore(self) -> None:
        """Restore the variables as they were after the last ``write_outputs``. Raise StepError if a device fails."""
        for index in range(len(self.requests)):
            self._restore_step(index)

    def _restore_step(self, index: int) -> None:
        for state in self.states.values():
            if state.keeps_snapshot and index in state.states:
                with step_errors(self.plan.steps[index].device):
                    state.restore(index)

    def abandon(self, index: int) -> None:
        """Give up a step that hangs, and cancel it: its device may notice that."""
        self.is_abandoned = True
        self.requests[index].cancel()

    def cancel(self) -> None:
        for request in self.requests:
            request.cancel()

    def get_profiling_info(self) -> list[ProfilingInfo]:
        """Return the time of each subgraph, followed by its device's own profile; then the copies between subgraphs."""
        infos = []
        for step, request, seconds in zip(self.plan.steps, self.requests, self._times):
            infos.append(ProfilingInfo(step.name, "Subgraph", step.device, timedelta(seconds=seconds)))
            infos += request.get_profiling_info()
        for value, seconds in self._copy_times.items():
            infos.append(ProfilingInfo(f"copy of '{port_name(value)}'", "Copy", "host", timedelta(seconds=seconds)))
        return infos


def _tensor_like(tensor: Tensor) -> Tensor:
    """Return a new tensor of the same type and shape in the same kind of memory."""
    if isinstance(tensor, RemoteTensor):
        return tensor.context.create_tensor(tensor.element_type, tensor.shape)
    return Tensor(tensor.element_type, tensor.shape)
