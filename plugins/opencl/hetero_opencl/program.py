"""A program: what an inference launches on the device, and the memory that it needs.

``Program`` is made once for a model of static shapes. ``BoundProgram`` is one request's copy of it, with buffers and
kernels of its own whose arguments are set once; an inference then only enqueues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
import pyopencl as cl

from hetero.errors import DeviceError
from hetero.graph import Model
from hetero.plugin import ExecutedStep, ProfilingInfo, Region
from hetero.tensor import Tensor
from hetero_opencl import exit_guard
from hetero_opencl.binaries import Binaries
from hetero_opencl.bindings import Bindings, Place, make_bindings
from hetero_opencl.device import SLACK, OpenCLDevice, opencl_errors
from hetero_opencl.memory import Arena
from hetero_opencl.memory_plan import Lifetime, MemoryPlan, plan_arenas
from hetero_opencl.remote import OpenCLContext
from hetero_opencl.transfers import copy_region

if TYPE_CHECKING:
    from hetero_opencl.lowering_report import LoweringReport


@dataclass(eq=False)
class Buffer:
    """Memory on the device: a place in the memory plan, or with ``memory`` a constant, which is there already."""

    byte_size: int
    memory: cl.Buffer | None = None
    source: np.ndarray | None = None  # what the constant was made from

    @property
    def is_planned(self) -> bool:
        return self.memory is None


@dataclass(frozen=True)
class Launch:
    """One kernel launch: the program's source text, the kernel in it, its arguments in order, and the work-items.

    ``written_in`` tells messages where code that is none of hetero's comes from.
    """

    source: str
    kernel: str
    arguments: tuple[Buffer | np.generic, ...]
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    node_name: str
    node_type: str
    written_in: str = ""

    @property
    def operation(self) -> str:
        return f"{self.node_type} '{self.node_name}'{self.written_in}"

    def buffers(self) -> list[Buffer]:
        return [argument for argument in self.arguments if isinstance(argument, Buffer)]

    def described_arguments(self) -> list[int | tuple[str, str]]:
        """Return the arguments for another process: a buffer's bytes, a number's type and hexadecimal bytes."""
        return [
            argument.byte_size + SLACK
            if isinstance(argument, Buffer)
            else (argument.dtype.str, argument.tobytes().hex())
            for argument in self.arguments
        ]


@dataclass(eq=False)
class Program:
    """Launches in order, with the buffers of the model's inputs and outputs.

    ``steps`` tell which kernels run the nodes of ``model``. An output whose shape the launches find out has its
    dimensions, as i64, in the buffer ``found_shapes[index]``, and None for its shape.
    """

    device: OpenCLDevice
    model: Model
    steps: list[ExecutedStep]
    launches: list[Launch]
    inputs: list[Buffer]
    outputs: list[Buffer]
    output_shapes: list[tuple[int, ...] | None]
    found_shapes: dict[int, Buffer]
    binaries: Binaries
    decisions: LoweringReport

    def __post_init__(self) -> None:
        self._plans: dict[frozenset[Buffer], MemoryPlan[Buffer]] = {}
        uses = Counter(buffer for launch in self.launches for buffer in set(launch.buffers()))
        # Besides the launch that writes an output others read it.
        self.read_again = {buffer for buffer in self.outputs if uses[buffer] > 1}
        self.built = self.device.build(self.launches, self.binaries)
        for launch, built in zip(self.launches, self.built):
            if launch.written_in:
                _check(self.device, launch, built)

    def constants(self) -> list[Buffer]:
        """The constants that kernels read or that are outputs, each once."""
        read = [buffer for launch in self.launches for buffer in launch.buffers()]
        return list(dict.fromkeys(buffer for buffer in (*read, *self.outputs) if not buffer.is_planned))

    def memory_plan(self, bound: frozenset[Buffer] = frozenset()) -> MemoryPlan[Buffer]:
        """Where buffers lie in the arena, but for those that are ``bound``: they have other memory."""
        if bound not in self._plans:
            lifetimes = {buffer: life for buffer, life in self._lifetimes().items() if buffer not in bound}
            handle = self.device.handle
            most = handle.max_mem_alloc_size - SLACK
            self._plans[bound] = plan_arenas(lifetimes, handle.mem_base_addr_align // 8, most)
        return self._plans[bound]

    def _lifetimes(self) -> dict[Buffer, Lifetime]:
        """Of each buffer that is no constant; inputs live before all launches, results behind them."""
        times = [(-1, self.inputs)]
        times += [(index, launch.buffers()) for index, launch in enumerate(self.launches)]
        times += [(len(self.launches), [*self.outputs, *self.found_shapes.values()])]
        first: dict[Buffer, int] = {}
        last: dict[Buffer, int] = {}
        for time, buffers in times:
            for buffer in buffers:
                if buffer.is_planned:
                    first.setdefault(buffer, time)
                    last[buffer] = time
        return {buffer: Lifetime(buffer.byte_size, first[buffer], last[buffer]) for buffer in first}


class BoundProgram:
    """A program with a queue of its own, in the arena of a request. Not for two threads at once."""

    def __init__(self, program: Program, context: OpenCLContext, profiled: bool, arena: Arena) -> None:
        self.program, self._context, self._arena = program, context, arena
        device = program.device
        with opencl_errors(f"making a queue on {device.name}"):
            self._queue = device.make_queue(profiled)
            self._profiled = profiled and bool(self._queue.properties & cl.command_queue_properties.PROFILING_ENABLE)
        self._kernels = [_bound_kernel(device, *pair) for pair in zip(program.launches, program.built)]
        self._bindings = Bindings()
        self._places: list[Place | None] | None = None  # before the first inference
        self._plan = MemoryPlan()
        self._version: int | None = None  # of the arena, when arguments were set
        self._launched: list[tuple[Launch, cl.Event]] = []
        self._told: list[ProfilingInfo] = []
        #: The shapes of the outputs; those that launches find out are known when ``finish`` has returned.
        self.output_shapes = list(program.output_shapes)
        self._sources: list[np.ndarray] = []
        exit_guard.watch(self)

    def _memory(self, buffer: Buffer) -> cl.Buffer:
        return buffer.memory or self._bindings.memory.get(buffer) or self._arena.part(self._plan.slots[buffer])

    def bind(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Let the kernels work in the memory of those that are the context's, from the next inference on."""
        self.output_shapes = list(self.program.output_shapes)
        for tensor, shape in zip(outputs, self.output_shapes):
            if shape is not None and self._context.holds(tensor):
                tensor.set_shape(shape)
        tensors = [*inputs, *(None if shape is None else t for t, shape in zip(outputs, self.output_shapes))]
        places = [None if tensor is None else Place.of(tensor, self._context) for tensor in tensors]
        if places != self._places:
            bindings = make_bindings(self.program, places[: len(inputs)], places[len(inputs) :])
        elif self._version == self._arena.version:
            return
        else:
            bindings = self._bindings
        plan = self.program.memory_plan(frozenset(bindings.memory))
        self._reserve(plan)
        is_new = plan is not self._plan or self._version != self._arena.version
        self._bindings, self._places, self._plan, self._version = bindings, places, plan, self._arena.version
        launch = None
        with opencl_errors(lambda: f"setting the arguments of {launch.operation} on {self.program.device.name}"):
            for launch, (kernel, *_) in zip(self.program.launches, self._kernels):
                if is_new:
                    kernel.set_args(*(self._memory(a) if isinstance(a, Buffer) else a for a in launch.arguments))
                    continue
                for index, argument in enumerate(launch.arguments):
                    if isinstance(argument, Buffer) and argument in bindings.memory:
                        kernel.set_arg(index, self._memory(argument))

    def _reserve(self, plan: MemoryPlan[Buffer]) -> None:
        try:
            self._arena.reserve(plan.arenas)
        except DeviceError as error:
            largest = max(self.program.launches, key=lambda launch: sum(b.byte_size for b in launch.buffers()))
            raise DeviceError(f"{error}; of '{self.program.model.name}' {largest.operation} uses the most") from error

    def upload(self, inputs: Sequence[Tensor]) -> None:
        """Begin to copy the inputs that are not bound to the device; their memory is needed until ``finish``."""
        local = [
            (buffer, np.ascontiguousarray(tensor.data))
            for buffer, tensor, place in zip(self.program.inputs, inputs, self._places)
            if place is None
        ]
        self._sources = [array for _, array in local]
        if not local and not self._bindings.before:
            return
        with opencl_errors(f"uploading inputs to {self.program.device.name}"):
            for buffer, array in local:
                if array.nbytes:
                    cl.enqueue_copy(self._queue, self._memory(buffer), array, is_blocking=False)
            for buffer, place in self._bindings.before:
                region = Region.whole(place.region.dtype, place.region.shape)
                copy_region(self._queue, self._memory(buffer), region, place.buffer, place.in_buffer())
            self._queue.flush()

    def launch(self, check: Callable[[], None]) -> None:
        """Begin to run all kernels, behind the uploads; ``check`` is called before each and may raise to end it."""
        self._launched, self._told = [], []
        enqueue, queue, launched = cl.enqueue_nd_range_kernel, self._queue, self._launched
        launch = None
        with opencl_errors(lambda: f"starting {launch.operation} on {self.program.device.name}"):
            for launch, bound in zip(self.program.launches, self._kernels):
                check()
                launched.append((launch, enqueue(queue, *bound)))
        with opencl_errors(lambda: f"running {self._culprit()} on {self.program.device.name}"):
            for buffer, place in self._bindings.after:
                region = Region.whole(place.region.dtype, place.region.shape)
                copy_region(queue, place.buffer, place.in_buffer(), self._memory(buffer), region)
            queue.flush()

    def settle(self) -> None:
        """Wait for what an inference that was cancelled left behind: its inputs may still be on their way."""
        if self._sources:
            self._queue.finish()

    def finish(self) -> None:
        """Wait until the kernels have run."""
        with opencl_errors(lambda: f"running {self._culprit()} on {self.program.device.name}"):
            self._queue.finish()
            if self._launched and (state := _state(self._launched[-1][1])) < cl.command_execution_status.COMPLETE:
                raise DeviceError(f"{self._culprit()} failed on {self.program.device.name}, by code {state}")
            for index, buffer in self.program.found_shapes.items():
                dims = np.empty(buffer.byte_size // 8, np.int64)
                if dims.size:
                    cl.enqueue_copy(self._queue, dims, self._memory(buffer), is_blocking=True)
                self.output_shapes[index] = tuple(dims.tolist())
        self._sources = []

    def _culprit(self) -> str:
        """The operation that failed, by the states of the launches; or the first one that did not end."""
        states = [(launch, _state(event)) for launch, event in self._launched]
        done = cl.command_execution_status.COMPLETE
        failed = [launch for launch, state in states if state < done] + [la for la, state in states if state > done]
        return failed[0].operation if failed else "kernels"

    def is_running(self) -> bool:
        """Whether launches have not ended yet; one that failed has."""
        return bool(self._launched) and _state(self._launched[-1][1]) > cl.command_execution_status.COMPLETE

    def download(self, outputs: Sequence[Tensor]) -> None:
        """Give the outputs their shapes, and copy those that are not bound to where they are wanted."""
        places = self._places[len(self.program.inputs) :]
        with opencl_errors(f"downloading outputs from {self.program.device.name}"):
            for buffer, tensor, shape, place in zip(self.program.outputs, outputs, self.output_shapes, places):
                if place is None:
                    tensor.set_shape(shape)
                    self._copy_out(buffer, tensor)

    def _copy_out(self, buffer: Buffer, tensor: Tensor) -> None:
        place = Place.of(tensor, self._context)
        if place is not None:
            region = Region.whole(place.region.dtype, place.region.shape)
            copy_region(self._queue, place.buffer, place.in_buffer(), self._memory(buffer), region)
            self._queue.finish()
        elif tensor.data.nbytes:
            array = tensor.data
            whole = array if array.flags.c_contiguous else np.empty(array.shape, array.dtype)
            cl.enqueue_copy(self._queue, whole, self._memory(buffer), is_blocking=True)
            if whole is not array:
                np.copyto(array, whole)

    def profile(self) -> list[ProfilingInfo]:
        """The kernels of the last inference, when they were profiled; drivers are asked once."""
        if self._profiled and not self._told:
            self._told = [_tell(launch, event) for launch, event in self._launched]
        return list(self._told)


def _bound_kernel(device: OpenCLDevice, launch: Launch, built: cl.Program) -> tuple[cl.Kernel, tuple, tuple | None]:
    with opencl_errors(f"making the kernel of {launch.operation} on {device.name}"):
        return cl.Kernel(built, launch.kernel), launch.global_size, launch.local_size


def _check(device: OpenCLDevice, launch: Launch, built: cl.Program) -> None:
    """Raises DeviceError for a kernel that is not there, or takes other arguments than those of the launch."""
    kernel, _, _ = _bound_kernel(device, launch, built)
    if kernel.num_args != len(launch.arguments):
        takes = f"takes {kernel.num_args} arguments, but is given {len(launch.arguments)}"
        raise DeviceError(f"the kernel {launch.kernel} of {launch.operation} {takes}")


def _state(event: cl.Event) -> int:
    """Negative where the command failed, or the driver does not even tell any more."""
    try:
        return event.command_execution_status
    except cl.Error:
        return -1


def _tell(launch: Launch, event: cl.Event) -> ProfilingInfo:
    info = ProfilingInfo(launch.node_name, launch.node_type, launch.kernel)
    info.real_time = timedelta(microseconds=(event.profile.end - event.profile.start) * 1e-3)
    return info
