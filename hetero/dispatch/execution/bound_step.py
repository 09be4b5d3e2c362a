"""BoundStep: a step of a plan with the sub-request that runs it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence

from hetero.core.tensor import Tensor
from hetero.dispatch.cutting.plan import ExecutionStep, StepError, step_errors
from hetero.dispatch.execution.boundary_tensor import BoundaryTensor, MarkedOutput, UnmarkedOutput
from hetero.dispatch.execution.shared_variable import SharedVariable
from hetero.dispatch.report import log
from hetero.graph import Output, port_name
from hetero.plugin import SyncInferRequest, Timer, check_tensor
from hetero.system.errors import DeviceError, HeteroError, device_errors
from hetero.system.tracing import is_traced

# Minimum number of unchanged bytes that prove an output unwritten if the step cannot run again to confirm it: shorter
# results may equal the pattern by chance.
MIN_CERTAIN_BYTES = 8


class BoundStep:
    """A step, its sub-request, and the tensors to check, to copy and to release when it has run.

    ``parent`` is the user's request, ``states`` its variables. ``can_repeat``: whether the step may run twice in one
    inference, as the variables that it assigns can be restored in between.
    """

    def __init__(
        self,
        step: ExecutionStep,
        index: int,
        parent: SyncInferRequest,
        states: Mapping[str, SharedVariable],
        can_repeat: bool,
    ) -> None:
        self.step, self._index = step, index
        self._parent, self._states = parent, states
        self.request: SyncInferRequest = step.create_request()
        self.request.number = parent.number  # a trace shows both as one request
        self._can_repeat = can_repeat
        #: Whether outputs of static shapes are written for certain, and fit.
        self.writes_outputs = step.compiled.device.writes_outputs
        self._is_running = False  # the device computes in the background
        #: Whether the device computes in the background after ``start``.
        self.is_asynchronous = "wait" in self.request.waiting_stages
        #: The outputs to check, by port.
        self.outputs: dict[Output, BoundaryTensor | MarkedOutput | UnmarkedOutput] = {}
        #: Copies of values to other tensors after the step: the value, the source and the target.
        self.copies: list[tuple[Output, Tensor, Tensor]] = []
        #: Tensors that no later step reads.
        self.released: list[BoundaryTensor] = []
        #: The time of the last inference that was profiled or traced, and of its copies.
        self.timer = Timer()
        self.copy_timers: dict[Output, Timer] = {}

    def set_tensor(self, port: Output, tensor: Tensor) -> None:
        """Bind a tensor to a port. Raise TensorError if it does not fit, StepError if the device fails."""
        try:
            with step_errors(self.step.device, f"take a tensor of '{self.step.compiled.name}'"):
                self.request.set_tensor(port, tensor)
        except StepError:
            check_tensor(port, tensor)
            raise

    def run(self) -> None:
        """Start the step and wait for it. Raises as ``advance`` does."""
        if not (self._parent.is_profiled or is_traced()):
            self.advance(self.request.all_stages)
            return
        with self.request.span(self.step.name), self.timer:
            self.advance(self.request.all_stages, is_timed=True)
        self.request.record_profile()

    @property
    def actions(self) -> list[Callable[[], None]]:
        """The parts that ``run`` consists of: starting and waiting if the device computes in the background."""
        if not self.is_asynchronous:
            return [functools.partial(self.advance, self.request.all_stages)]
        starting, waiting = self.request.starting_stages, self.request.waiting_stages
        return [
            functools.partial(self.advance, starting, is_last=False),
            functools.partial(self.advance, waiting, is_first=False),
        ]

    def advance(
        self, stages: Sequence[str], is_first: bool = True, is_last: bool = True, is_timed: bool = False
    ) -> None:
        """Run stages of the device. One method for all parts of a step, as a call takes longer than a small part.

        Raises StepError if the step fails, leaves an output unwritten or of another type or shape, or if the user
        cancelled the inference.
        """
        request, outputs, stage = self.request, self.outputs, ""
        try:
            if is_first:
                if self._parent.cancelled:
                    self._parent.check_cancelled()
                if outputs:  # a loop over nothing takes as long as a call
                    for output in outputs.values():
                        output.mark(0)
            self._is_running = False
            if is_timed:
                request.run_stages(stages)
            else:  # without run_stages, which takes as long as a small operation
                for stage in stages:
                    getattr(request, stage)()
            if not is_last:
                self._is_running = True
                return
            if outputs and not all([output.is_valid() for output in outputs.values()]):
                self._check_outputs()
            if self.copies:
                self._copy()
        except BaseException as error:
            raise StepError(self.step.device, request.device_error(error, stage or "start")) from error
        for tensor in self.released:
            tensor.release()

    def drain(self) -> None:
        """Wait for the end of an asynchronous step, if it is running, after another step failed."""
        if self._is_running:
            self._is_running = False
            with contextlib.suppress(Exception):
                self.request.run_stages(self.request.waiting_stages)

    def cancel(self) -> None:
        """Cancel the step, without an error if the device fails at that: other steps are to be cancelled too."""
        self.request.cancelled = True
        try:
            with device_errors(f"{self.step.device} failed to cancel an inference of '{self.step.compiled.name}'"):
                self.request.cancel()
        except HeteroError as error:
            log.warning("%s", error)

    def _check_outputs(self) -> None:
        """Raise DeviceError if an output is unwritten, or of a type or shape that does not fit its port."""
        unwritten = self._unwritten()
        if unwritten and self._can_repeat:
            self.restore()
            for output in self.outputs.values():
                output.mark(1)
            self.request.run_stages()
            unwritten = self._unwritten()
        for port, output in unwritten:
            if self._can_repeat or output.marked_bytes >= MIN_CERTAIN_BYTES:
                what = f"the output '{port_name(port)}' of '{self.step.compiled.name}'"
                raise DeviceError(f"{self.step.device} did not write {what}")
        self.request.check_outputs()

    def _unwritten(self) -> list[tuple[Output, BoundaryTensor | MarkedOutput | UnmarkedOutput]]:
        return [(port, output) for port, output in self.outputs.items() if output.is_unwritten()]

    def _copy(self) -> None:
        for value, source, target in self.copies:
            timer = self.copy_timers.setdefault(value, Timer())
            with (
                self.request.span(f"copy of '{port_name(value)}'"),
                timer,
                device_errors(f"{self.step.device} failed to copy '{port_name(value)}'"),
            ):
                target.copy_from(source)

    def restore(self) -> None:
        """Restore the variables that are kept. Raise StepError if the device fails."""
        for state in self._states.values():
            with step_errors(self.step.device, f"restore the variable '{state.name}'"):
                state.restore(self._index)
