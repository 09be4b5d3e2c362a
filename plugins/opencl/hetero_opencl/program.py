"""Programs: the kernel launches of a model of static shapes, and the memory they need.

``Program`` is made once per model and input shapes. ``BoundProgram`` is the copy of one request, with its own buffers
and kernels. Kernel arguments are set once, so an inference only enqueues launches.
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
from hetero.plugin import ExecutedStep, ProfilingInfo
from hetero.tensor import Tensor
from hetero_opencl import exit_guard
from hetero_opencl.binary_cache import BinaryCache
from hetero_opencl.bindings import Bindings, DeviceRegion, make_bindings
from hetero_opencl.device import SLACK, OpenCLDevice, opencl_errors
from hetero_opencl.memory import Arena
from hetero_opencl.memory_plan import Lifetime, MemoryPlan, plan_arenas
from hetero_opencl.remote import OpenCLContext
from hetero_opencl.transfers import contiguous_target, copy_region

if TYPE_CHECKING:
    from hetero_opencl.lowering_report import LoweringReport

# Statuses below are errors; those above are of commands that have not ended.
COMPLETE = cl.command_execution_status.COMPLETE


@dataclass(eq=False)
class Buffer:
    """A value or scratch memory on the device. A constant has its ``memory``; other buffers are placed by a plan."""

    byte_size: int
    memory: cl.Buffer | None = None
    source: np.ndarray | None = None  # the array that a constant was made from

    @property
    def is_planned(self) -> bool:
        return self.memory is None


@dataclass(frozen=True)
class Launch:
    """A kernel launch: the source text, the name of the kernel in it, its arguments in order, and its work sizes.

    ``origin`` is a suffix for messages that says where a user-defined kernel comes from, empty for kernels of hetero.
    """

    source: str
    kernel: str
    arguments: tuple[Buffer | np.generic, ...]
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    node_name: str
    node_type: str
    origin: str = ""

    @property
    def operation(self) -> str:
        """The operation as messages name it."""
        return f"{self.node_type} '{self.node_name}'{self.origin}"

    def buffers(self) -> list[Buffer]:
        return [argument for argument in self.arguments if isinstance(argument, Buffer)]

    def described_arguments(self) -> list[int | tuple[str, str]]:
        """Describe the arguments for a build process: the byte size of a buffer, the type and hex bytes of a number."""
        return [
            one.byte_size + SLACK if isinstance(one, Buffer) else (one.dtype.str, one.tobytes().hex())
            for one in self.arguments
        ]


@dataclass(eq=False)
class Program:
    """Launches in order, with the buffers of the model's inputs and outputs.

    ``steps`` lists the nodes of ``model`` with the kernels that run them. If the shape of an output depends on data,
    its entry in ``output_shapes`` is None, and launches write its dimensions, as i64, to ``shape_buffers[index]``.
    """

    device: OpenCLDevice
    model: Model
    steps: list[ExecutedStep]
    launches: list[Launch]
    inputs: list[Buffer]
    outputs: list[Buffer]
    output_shapes: list[tuple[int, ...] | None]
    shape_buffers: dict[int, Buffer]
    binaries: BinaryCache
    lowering_report: LoweringReport

    def __post_init__(self) -> None:
        self._plans: dict[frozenset[Buffer], MemoryPlan[Buffer]] = {}
        uses = Counter(buffer for launch in self.launches for buffer in set(launch.buffers()))
        # Outputs that other launches read, besides the one that writes them.
        self.read_again = {buffer for buffer in self.outputs if uses[buffer] > 1}
        self.built = self.device.build(self.launches, self.binaries)
        for launch, built in zip(self.launches, self.built):
            if launch.origin:
                _check_custom_kernel(self.device, launch, built)

    def constants(self) -> list[Buffer]:
        """Return the constants that kernels read or that are outputs, each once."""
        read = [buffer for launch in self.launches for buffer in launch.buffers()]
        return list(dict.fromkeys(buffer for buffer in (*read, *self.outputs) if not buffer.is_planned))

    def memory_plan(self, bound: frozenset[Buffer] = frozenset()) -> MemoryPlan[Buffer]:
        """Return the offsets of all buffers in the arena except the ``bound`` ones, which have other memory."""
        if bound not in self._plans:
            lifetimes = {buffer: life for buffer, life in self._lifetimes().items() if buffer not in bound}
            handle = self.device.handle
            arena_limit = handle.max_mem_alloc_size - SLACK
            self._plans[bound] = plan_arenas(lifetimes, handle.mem_base_addr_align // 8, arena_limit)
        return self._plans[bound]

    def _lifetimes(self) -> dict[Buffer, Lifetime]:
        """Return the lifetime of each buffer but constants. Inputs live before all launches, results after them."""
        results = [*self.outputs, *self.shape_buffers.values()]
        lifetimes: dict[Buffer, Lifetime] = {}
        for time, buffers in enumerate([self.inputs, *(launch.buffers() for launch in self.launches), results], -1):
            for buffer in buffers:
                if buffer.is_planned:
                    first = lifetimes[buffer].first if buffer in lifetimes else time
                    lifetimes[buffer] = Lifetime(buffer.byte_size, first, time)
        return lifetimes


class BoundProgram:
    """A program with its own queue, in the arena of a request. Not thread-safe."""

    def __init__(self, program: Program, context: OpenCLContext, profiled: bool, arena: Arena) -> None:
        self.program, self.arena, self._context = program, arena, context
        device = program.device
        with opencl_errors(f"making a queue on {device.full_name}"):
            self.queue = device.make_queue(profiled)
            self._profiled = profiled and bool(self.queue.properties & cl.command_queue_properties.PROFILING_ENABLE)
        self._kernels = [_make_kernel(device, *pair) for pair in zip(program.launches, program.built)]
        self._bindings = Bindings()
        self._regions: list[DeviceRegion | None] = []
        self.memory_plan = MemoryPlan[Buffer]()
        self._arena_version: int | None = None  # the arena's version when the arguments were set
        self.launched: list[tuple[Launch, cl.Event]] = []
        self._profile: list[ProfilingInfo] = []
        #: The shapes of the outputs. Those that depend on data are set by ``finish``.
        self.output_shapes = [shape or () for shape in program.output_shapes]
        self._uploading: list[np.ndarray] = []  # host arrays that asynchronous copies read
        exit_guard.watched.add(self)

    def memory(self, buffer: Buffer) -> cl.Buffer:
        """Return the memory that kernels use for a buffer."""
        return buffer.memory or self._bindings.memory.get(buffer) or self.arena.part(self.memory_plan.slots[buffer])

    def bind(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Let kernels work directly in the tensors that are in the context's memory, from the next inference on."""
        shaped_outputs = list(zip(outputs, self.program.output_shapes))
        # First all shapes: memory that grows gets another buffer, and several tensors may be in it.
        for tensor, shape in shaped_outputs:
            if shape is not None and self._context.holds(tensor):
                tensor.set_shape(shape)
        regions = [DeviceRegion.of(tensor, self._context) for tensor in inputs]
        for tensor, shape in shaped_outputs:
            regions.append(None if shape is None else DeviceRegion.of(tensor, self._context))
        if regions != self._regions:
            bindings = make_bindings(self.program, regions[: len(inputs)], regions[len(inputs) :])
        elif self._arena_version == self.arena.version:
            return
        else:
            bindings = self._bindings
        plan = self.program.memory_plan(frozenset(bindings.memory))
        self._reserve(plan)
        is_moved = plan is not self.memory_plan or self._arena_version != self.arena.version
        self._bindings, self._regions = bindings, regions
        self.memory_plan, self._arena_version = plan, self.arena.version
        with opencl_errors(lambda: f"setting the arguments of {launch.operation} on {self.program.device.full_name}"):
            for launch, (kernel, *_) in zip(self.program.launches, self._kernels):
                if is_moved:
                    kernel.set_args(*(self.memory(a) if isinstance(a, Buffer) else a for a in launch.arguments))
                    continue
                for index, argument in enumerate(launch.arguments):
                    if isinstance(argument, Buffer) and argument in bindings.memory:
                        kernel.set_arg(index, self.memory(argument))

    def _reserve(self, plan: MemoryPlan[Buffer]) -> None:
        try:
            self.arena.reserve(plan.arenas)
        except DeviceError as error:
            largest = max(self.program.launches, key=lambda launch: sum(b.byte_size for b in launch.buffers()))
            name = self.program.model.name
            raise DeviceError(f"{error}; in model '{name}', {largest.operation} uses the most") from error

    def upload(self, inputs: Sequence[Tensor]) -> None:
        """Start copying the inputs that are not bound to the device. They must stay alive until ``finish``."""
        from_host = [
            (buffer, np.ascontiguousarray(tensor.data))
            for buffer, tensor, region in zip(self.program.inputs, inputs, self._regions)
            if region is None
        ]
        self._uploading = [array for _, array in from_host]
        if not from_host and not self._bindings.copies_before:
            return
        with opencl_errors(f"uploading inputs to {self.program.device.full_name}"):
            for buffer, array in from_host:
                if array.nbytes:
                    cl.enqueue_copy(self.queue, self.memory(buffer), array, is_blocking=False)
            for buffer, source in self._bindings.copies_before:
                copy_region(self.queue, self.memory(buffer), source.dense(), source.buffer, source.region_in_buffer())
            self.queue.flush()

    def launch(self, check: Callable[[], None]) -> None:
        """Start all kernels, after the uploads. ``check`` is called before each launch and may raise to stop."""
        self.launched, self._profile = [], []
        enqueue, queue, launched = cl.enqueue_nd_range_kernel, self.queue, self.launched
        with opencl_errors(lambda: f"starting {launch.operation} on {self.program.device.full_name}"):
            for launch, bound in zip(self.program.launches, self._kernels):
                check()
                launched.append((launch, enqueue(queue, *bound)))
        with opencl_errors(lambda: f"running {self._failed_operation()} on {self.program.device.full_name}"):
            for buffer, target in self._bindings.copies_after:
                self._copy_to_region(target, buffer)
            queue.flush()

    def _copy_to_region(self, target: DeviceRegion, buffer: Buffer) -> None:
        copy_region(self.queue, target.buffer, target.region_in_buffer(), self.memory(buffer), target.dense())

    def wait_for_uploads(self) -> None:
        """Wait for the uploads of an inference that was canceled before ``finish``."""
        if self._uploading:
            self.queue.finish()

    def finish(self) -> None:
        """Wait until the kernels have run, and read the output shapes that depend on data."""
        with opencl_errors(lambda: f"running {self._failed_operation()} on {self.program.device.full_name}"):
            self.queue.finish()
            if self.launched and (status := execution_status(self.launched[-1][1])) < COMPLETE:
                name = self._failed_operation()
                raise DeviceError(f"{name} failed on {self.program.device.full_name} with OpenCL error code {status}")
            for index, buffer in self.program.shape_buffers.items():
                dims = np.empty(buffer.byte_size // 8, np.int64)
                if dims.size:
                    cl.enqueue_copy(self.queue, dims, self.memory(buffer), is_blocking=True)
                self.output_shapes[index] = tuple(dims.tolist())
        self._uploading = []

    def _failed_operation(self) -> str:
        """Name the first operation whose launch failed, else the first one that did not end."""
        statuses = [(launch, execution_status(event)) for launch, event in self.launched]
        failed = [launch for launch, status in statuses if status < COMPLETE]
        unfinished = [launch for launch, status in statuses if status > COMPLETE]
        return next((launch.operation for launch in failed + unfinished), "kernels")

    def is_running(self) -> bool:
        """Return whether launches have neither ended nor failed."""
        return bool(self.launched) and execution_status(self.launched[-1][1]) > COMPLETE

    def download(self, outputs: Sequence[Tensor]) -> None:
        """Set the shapes of the outputs, and copy those that are not bound."""
        regions = self._regions[len(self.program.inputs) :]
        with opencl_errors(f"downloading outputs from {self.program.device.full_name}"):
            for buffer, tensor, shape, region in zip(self.program.outputs, outputs, self.output_shapes, regions):
                if region is not None:
                    continue
                tensor.set_shape(shape)
                target = DeviceRegion.of(tensor, self._context)
                if target is not None:
                    self._copy_to_region(target, buffer)
                    self.queue.finish()
                elif tensor.data.nbytes:
                    with contiguous_target(tensor.data) as array:
                        cl.enqueue_copy(self.queue, array, self.memory(buffer), is_blocking=True)

    def profile(self) -> list[ProfilingInfo]:
        """Return the kernel times of the last inference if profiling is on. The driver is queried once."""
        if self._profiled and not self._profile:
            self._profile = [
                ProfilingInfo(launch.node_name, launch.node_type, launch.kernel, _duration(event))
                for launch, event in self.launched
            ]
        return list(self._profile)


def _make_kernel(device: OpenCLDevice, launch: Launch, built: cl.Program) -> tuple[cl.Kernel, tuple, tuple | None]:
    """Return the arguments of ``enqueue_nd_range_kernel`` after the queue."""
    with opencl_errors(f"making the kernel of {launch.operation} on {device.full_name}"):
        return cl.Kernel(built, launch.kernel), launch.global_size, launch.local_size


def _check_custom_kernel(device: OpenCLDevice, launch: Launch, built: cl.Program) -> None:
    """Raise DeviceError if the kernel does not exist or takes a different number of arguments than the launch."""
    kernel, _, _ = _make_kernel(device, launch, built)
    if kernel.num_args != len(launch.arguments):
        takes = f"takes {kernel.num_args} arguments, but is given {len(launch.arguments)}"
        raise DeviceError(f"the kernel {launch.kernel} of {launch.operation} {takes}")


def execution_status(event: cl.Event) -> int:
    """Return the status of a command: negative if it failed or the driver no longer answers."""
    try:
        return event.command_execution_status
    except cl.Error:
        return -1


def _duration(event: cl.Event) -> timedelta:
    return timedelta(microseconds=(event.profile.end - event.profile.start) * 1e-3)
