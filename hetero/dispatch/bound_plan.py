"""BoundPlan: a plan with sub-requests of its own, and the tensors between them bound once."""

from __future__ import annotations

import time
from datetime import timedelta

from hetero.dispatch.boundaries import HOST, Boundary, context_of, is_plain, smallest_shape
from hetero.dispatch.boundary_tensor import BoundaryTensor
from hetero.dispatch.plan import Place, Plan, StepError, step_errors
from hetero.dispatch.read_only_tensor import ReadOnlyTensor
from hetero.dispatch.shared_state import SharedState, states_by_name
from hetero.dispatch.unwritten import PATTERNS, MarkedOutput
from hetero.errors import DeviceError, TensorError, device_errors
from hetero.graph import Output, port_name
from hetero.plugin import ProfilingInfo, RemoteTensor, SharedTensor, SyncInferRequest, overlap
from hetero.tensor import Tensor
from hetero.tracing import is_traced, span
from hetero.types import Type


class BoundPlan:
    """A request of each step. One tensor object stands for a value in all requests that write or read it.

    A remote tensor does so where all of them take it. Where some do not, a tensor in host memory stands in for it: for
    these where it is a value between steps, for all where it is the user's, which is copied from before the steps, or
    to after them. So it is too for an output in the memory of an input, which a later step may read again. With
    ``protects`` this is so for all outputs of the user, so that a step that is left behind cannot write into them
    later. With ``keeps`` variables can be restored.

    Readers get the tensor as a ReadOnlyTensor, except in memory of their own device, which cannot be protected.
    """

    def __init__(self, plan: Plan, request: SyncInferRequest, protects: bool = False, keeps: bool = False) -> None:
        self.plan = plan
        self._protects, self._keeps = protects, keeps
        #: Whether the requests must not be used again: a step hangs in one of them, or one did not take a tensor.
        self.is_abandoned = False
        self._request = request  # the user's, whose tensors are bound
        self.requests = [step.create_request() for step in plan.steps]
        for step_request in self.requests:
            step_request.number = request.number  # in a trace all of it is one request
        self._times = [0.0] * len(plan.steps)
        self.states = states_by_name(plan.steps, self.requests, keeps)
        self._tensor_of: dict[Output, Tensor] = {}
        # For each step the outputs that are checked for being written. Those in memory that only a device sees are
        # not, as that would take transfers.
        self._outputs: list[dict[Output, BoundaryTensor | MarkedOutput]] = [{} for _ in plan.steps]
        self._setters = frozenset(plan.setters.values())
        self._inputs = frozenset(plan.inputs)
        self._value_of: dict[Output, Output] = dict(zip(request.compiled_model.inputs, plan.inputs))
        # Outputs that no step writes into: an input or a constant handed out, and a value handed out twice.
        self._copied: list[tuple[Output, Output]] = []
        self._stand_ins: dict[Output, Tensor] = {}
        # Outputs in the memory of inputs, which are looked for when tensors of the user's have changed.
        self._shared: list[Output] = []
        self._is_changed = True
        # By the step after which it is done: values that are copied to other memory, from the first to the second
        # tensor, and memory that is let go.
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
        written = plan.places.keys() - set(plan.inputs)
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
            writer = self.plan.steps[self.plan.places[value][0].step]
            with step_errors(writer.device):
                tensor = self._boundary_tensor(value, boundary, slots)
            if boundary.memory.is_remote and boundary.copies:
                self._bind_mixed(value, tensor, BoundaryTensor(tensor.element_type, tensor.shape))
            else:
                self._bind_value(value, tensor)

    def _boundary_tensor(self, value: Output, boundary: Boundary, slots: dict[int, Tensor]) -> Tensor:
        port, memory = self.plan.writer_of(value), boundary.memory
        if not is_plain(port):
            return self.requests[self.plan.places[value][0].step].get_tensor(port)
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
        """Let the steps read or write a tensor of the user's."""
        self._is_changed = True
        self._stand_ins.pop(port, None)
        if port not in self._value_of:
            return
        value = self._value_of[port]
        steps = [self.requests[place.step] for place in self.plan.places.get(value, ())]
        is_protected = self._protects and port in self._request.compiled_model.outputs
        if is_protected or (isinstance(tensor, RemoteTensor) and not all(step.takes(tensor) for step in steps)):
            tensor = self._stand_ins[port] = Tensor(tensor.element_type, tensor.shape)
        self._bind_value(value, tensor)

    def _keep_inputs(self) -> None:
        """Let steps write no output into the memory of an input."""
        request = self._request
        for port in self._shared:
            self.bind(port, request.get_tensor(port))
        self._is_changed = False
        inputs, outputs = request.input_tensors(), request.compiled_model.outputs
        self._shared = [port for port in outputs if any(overlap(request.get_tensor(port), given) for given in inputs)]
        if len(self.plan.steps) == 1 and not self._copied:
            for port in self._shared:  # the device computes in place: the input must reach it as it is
                self._outputs[0].pop(self.plan.writer_of(self._value_of[port]), None)
            return
        for port in self._shared:
            if port not in self._stand_ins:
                tensor = self._stand_ins[port] = _one_like(request.get_tensor(port))
                if port in self._value_of:
                    self._bind_value(self._value_of[port], tensor)

    def _bind_value(self, value: Output, tensor: Tensor) -> None:
        self._tensor_of[value] = tensor
        readers = self.plan.places.get(value, [])
        if readers and value not in self._inputs:
            writer, *readers = readers
            self._bind_output(writer, tensor)
        for place in readers:
            self._bind_input(place, tensor)

    def _bind_output(self, place: Place, tensor: Tensor) -> None:
        self._set_tensor(place, tensor)
        outputs = self._outputs[place.step]
        outputs.pop(place.port, None)
        if isinstance(tensor, BoundaryTensor):
            outputs[place.port] = tensor
        elif is_plain(place.port) and not isinstance(tensor, RemoteTensor):
            outputs[place.port] = MarkedOutput(place.port, tensor)

    def _bind_input(self, place: Place, tensor: Tensor) -> None:
        is_of_device = isinstance(tensor, RemoteTensor) or (
            isinstance(tensor, SharedTensor) and tensor.context == context_of(self.plan.steps[place.step].compiled)
        )
        self._set_tensor(place, tensor if is_of_device else ReadOnlyTensor(tensor))

    def _set_tensor(self, place: Place, tensor: Tensor) -> None:
        try:
            self.requests[place.step].set_tensor(place.port, tensor)
        except TensorError:
            raise
        except Exception as error:
            step = self.plan.steps[place.step]
            where = f"{step.device} failed to take a tensor of '{step.compiled.name}'"
            raise StepError(step.device, DeviceError(f"{where}: {type(error).__name__}: {error}")) from error

    def _bind_mixed(self, value: Output, remote: RemoteTensor, local: BoundaryTensor) -> None:
        """Let some of the steps use a remote tensor, and others one in host memory, of which one is a copy."""
        self._tensor_of[value] = remote
        writer, *readers = self.plan.places[value]
        written, copy = (remote, local) if self.requests[writer.step].takes(remote) else (local, remote)
        self._bind_output(writer, written)
        for place in readers:
            self._bind_input(place, remote if self.requests[place.step].takes(remote) else local)
        self._copies.setdefault(writer.step, []).append((value, written, copy))
        self._release_after_use(value, local)

    def _release_after_use(self, value: Output, tensor: BoundaryTensor) -> None:
        step = self.plan.boundaries.released.get(value)
        if step is not None:
            self._released.setdefault(step, []).append(tensor)

    def prepare(self) -> None:
        """Before the first step: requests that were cancelled may run again, and stand-ins get their contents."""
        for request in self.requests:
            request.cancelled = False
        if self._is_changed:
            self._keep_inputs()
        for port in self._request.compiled_model.inputs if self._stand_ins else ():
            if port in self._stand_ins:
                self._stand_ins[port].copy_from(self._request.get_tensor(port))

    def run_step(self, index: int) -> None:
        """Run one step, unless the inference was cancelled. Raises StepError."""
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
        """Run the request of a step. Raises DeviceError if it leaves an output unwritten."""
        outputs = self._outputs[index]
        for output in outputs.values():
            output.mark(pattern)
        self.requests[index].infer()
        for port, output in outputs.items():
            if output.is_unwritten():
                # A step that sets variables can only run twice if they can be restored.
                if pattern == PATTERNS[0] and (self._keeps or index not in self._setters):
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
        """After the last step: fill outputs that no step wrote to, and share what was assigned to variables.

        Raises StepError where a device fails at that; variables can be restored then.
        """
        assigned = self._share_assigned()
        for value, port in self._copied:
            self._stand_ins.get(port, self._request.get_tensor(port)).copy_from(self._tensor_of[value])
        for port in self._request.compiled_model.outputs if self._stand_ins else ():
            if port in self._stand_ins:
                self._request.get_tensor(port).copy_from(self._stand_ins[port])
        for state, tensor in assigned:
            state.keep(tensor)

    def _share_assigned(self) -> list[tuple[SharedState, Tensor]]:
        found = []
        for name, index in self.plan.setters.items():
            state = self.states[name]
            with step_errors(self.plan.steps[index].device):
                tensor = state.assigned(index)
                if tensor is not None:
                    state.share(index, tensor)
                    found.append((state, tensor))
        return found

    def resume_from(self, before: BoundPlan) -> None:
        """Go on with the variables of another plan of the request. Raises StepError."""
        for name, state in before.states.items():
            state.states = self.states[name].states
            self.states[name] = state
        self.restore()

    def restore(self) -> None:
        """Let variables be as they were after the last ``write_outputs``. Raises StepError."""
        for index in range(len(self.requests)):
            self._restore_step(index)

    def _restore_step(self, index: int) -> None:
        for state in self.states.values():
            if state.keeps and index in state.states:
                with step_errors(self.plan.steps[index].device):
                    state.restore(index)

    def abandon(self, index: int) -> None:
        """A step hangs: perhaps its device notices that nobody waits for it any more."""
        self.is_abandoned = True
        self.requests[index].cancel()

    def cancel(self) -> None:
        for request in self.requests:
            request.cancel()

    def get_profiling_info(self) -> list[ProfilingInfo]:
        """For each subgraph its time, followed by what its device tells of it; then copies between subgraphs."""
        infos = []
        for step, request, seconds in zip(self.plan.steps, self.requests, self._times):
            infos.append(ProfilingInfo(step.name, "Subgraph", step.device, timedelta(seconds=seconds)))
            infos += request.get_profiling_info()
        for value, seconds in self._copy_times.items():
            infos.append(ProfilingInfo(f"copy of '{port_name(value)}'", "Copy", "host", timedelta(seconds=seconds)))
        return infos


def _one_like(tensor: Tensor) -> Tensor:
    """Another tensor of the same type and shape in memory of the same kind."""
    if isinstance(tensor, RemoteTensor):
        return tensor.context.create_tensor(tensor.element_type, tensor.shape)
    return Tensor(tensor.element_type, tensor.shape)
