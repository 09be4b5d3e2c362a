"""Bound programs: the programs of one request, with their kernels and buffers.

Kernel arguments are set once per place of the inputs and outputs, so an inference only enqueues launches.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, cast

import numpy as np
import pyopencl as cl

from hetero.core.tensor import Tensor
from hetero.plugin import ProfilingInfo, RemoteTensor, SharedTensor
from hetero.system.errors import DeviceError
from hetero_opencl.compile.built_program import BuiltProgram
from hetero_opencl.device.device import OPENCL_ERRORS, opencl_error, opencl_errors
from hetero_opencl.device.launch import Buffer, Launch
from hetero_opencl.device.transfers import copy_region, finish
from hetero_opencl.execute.bindings import Bindings, DeviceRegion, make_bindings
from hetero_opencl.execute.workspace import COMPLETE, Arena, Workspace, execution_status
from hetero_opencl.lowering.memory_plan import MemoryPlan
from hetero_opencl.lowering.varying import Numbers, Varying

# For how many places of the inputs and outputs kernels keep their arguments. Tensors often swap places: the state of a
# loop or a variable is read from where it was written before.
MAX_ARGUMENT_SETS = 3


# Results of fewer bytes are copied, which takes less time than to set their memory as arguments.
_LARGE = 1 << 20


class _ArgumentSet:
    """Kernels with arguments for inputs and outputs in ``regions``; None is a tensor on the host."""

    def __init__(self, built: BuiltProgram) -> None:
        self._program, self._device_name = built.program, built.device.full_name
        self.kernels = built.make_kernels()
        #: The arguments of ``enqueue_nd_range_kernel`` after the queue.
        self.launches = [
            (k, launch.global_size, launch.local_size) for k, launch in zip(self.kernels, self._program.commands)
        ]
        varying, context = built.program.varying, built.device.context
        # The memory of words, and the values of the expressions that the arguments have.
        self._words = (
            {buffer: cl.Buffer(context, cl.mem_flags.READ_ONLY, buffer.byte_size) for buffer in varying.words}
            if varying
            else {}
        )
        self._values: Sequence[int] = varying.hints if varying else ()
        self._lengths: tuple[int, ...] = ()
        self.regions: list[DeviceRegion | None] = []
        self.bindings, self.plan = Bindings(), MemoryPlan[Buffer]()
        self._arena_version: int | None = None  # the arena's version when the arguments were set

    def is_for(self, tensors: Sequence[Tensor]) -> bool:
        """Return whether the tensors are in ``regions`` if that is known without asking the context."""
        return bool(self.regions) and all(map(_is_in, tensors, self.regions))

    def serves(self, regions: Sequence[DeviceRegion | None]) -> bool:
        """Return whether the kernels have the same arguments for these regions."""
        alone = self.bindings.alone
        if len(regions) != len(self.regions):
            return False
        for number, (mine, other) in enumerate(zip(self.regions, regions)):
            is_grown = number in alone and mine is not None and other is not None and mine.has_grown_to(other)
            if not is_grown and mine != other:
                return False
        return True

    def is_current(self, arena: Arena) -> bool:
        """Return whether the arguments are those for the arena."""
        return self._arena_version == arena.version

    def bind(
        self,
        regions: list[DeviceRegion | None],
        arena: Arena,
        lengths: tuple[int, ...],
        numbers: Numbers | None,
        queue: cl.CommandQueue,
    ) -> None:
        """Set the arguments that are not set yet."""
        is_rebound, is_resized = regions is not self.regions, lengths != self._lengths
        if not is_rebound and not is_resized and self.is_current(arena):
            return
        program, count = self._program, len(self._program.inputs)
        if is_rebound:
            self.bindings = make_bindings(program, regions[:count], regions[count:])
        if is_resized and numbers is not None:
            self._resize(numbers, queue)
            self._lengths = lengths
        plan = program.memory_plan(frozenset(self.bindings.memory), lengths)
        self._reserve(plan, arena)
        is_moved = plan is not self.plan or self._arena_version != arena.version
        self.plan = plan
        self.regions, self._arena_version = [], None  # in case of an error
        with opencl_errors(lambda: f"setting the arguments of {launch.operation} on {self._device_name}"):
            for buffer in program.uses if is_moved else self.bindings.memory if is_rebound else ():
                memory = self.memory(buffer, arena)
                for at, index in program.uses.get(buffer, ()):
                    launch = program.commands[at]
                    self.kernels[at].set_arg(index, memory)
        self.regions, self._arena_version = regions, arena.version

    def _resize(self, numbers: Numbers, queue: cl.CommandQueue) -> None:
        """Set the numbers that differ for these lengths."""
        varying, values = cast(Varying, self._program.varying), numbers.values
        before, self._values = self._values, ()
        with opencl_errors(lambda: f"setting the arguments of a program on {self._device_name}"):
            for at, index, expression in varying.arguments:
                if not before or before[expression] != values[expression]:
                    self.kernels[at]._set_arg_buf(index, _as_i32(values[expression]))  # type: ignore[attr-defined]
            for buffer, places in varying.words.items():
                words = np.array(buffer.words, np.int32)
                words[[index for _, index, _ in places]] = [values[expression] for _, _, expression in places]
                cl.enqueue_copy(queue, self._words[buffer], words)
        for at, size in numbers.global_sizes.items():
            kernel, _, local = self.launches[at]
            self.launches[at] = kernel, size, local
        self._values = values

    def unbind(self) -> None:
        """Forget the tensors, so that their memory can be freed. The kernels are kept."""
        self.regions, self.bindings = [], Bindings()

    def _reserve(self, plan: MemoryPlan[Buffer], arena: Arena) -> None:
        try:
            arena.reserve(plan.arenas)
        except DeviceError as error:
            largest = max(self._program.launches, key=lambda launch: sum(b.byte_size for b in launch.buffers()))
            name = self._program.model.name
            raise DeviceError(f"{error}; in model '{name}', {largest.operation} uses the most") from error

    def memory(self, buffer: Buffer, arena: Arena) -> cl.Buffer:
        """Return the memory that kernels use for a buffer."""
        if buffer.is_zero:
            return arena.counters(buffer.byte_size)
        if buffer.words:
            return self._words[buffer]
        return buffer.memory or self.bindings.memory.get(buffer) or arena.part(self.plan.slots[buffer])


def _as_i32(number: int) -> bytes:
    try:
        return number.to_bytes(4, sys.byteorder, signed=True)
    except OverflowError:
        raise DeviceError(f"a kernel takes numbers of 32 bits, not {number}: the shapes are too large") from None


def _is_in(tensor: Tensor, region: DeviceRegion | None) -> bool:
    return not isinstance(tensor, (RemoteTensor, SharedTensor)) if region is None else region.is_of(tensor)


class BoundProgram:
    """A program in the workspace of a request. Not thread-safe."""

    def __init__(self, built: BuiltProgram, workspace: Workspace) -> None:
        self.program, self._built, self._workspace = built.program, built, workspace
        self.arena, self.queue = workspace.arena, workspace.queue
        self._sets = [_ArgumentSet(built)]  # the one in use, then those used before
        self._on_device: list[tuple[Any, DeviceRegion]] = []  # the bound tensors in the context's memory
        self.launched: list[tuple[Launch, cl.Event]] = []
        self._profile: list[ProfilingInfo] = []
        self._lengths: tuple[int, ...] = ()
        self._numbers: Numbers | None = None
        # The shapes of the outputs, None if they depend on data.
        self._shapes = built.program.output_shapes
        #: The shapes of the outputs. Those that depend on data are set by ``finish``.
        self.output_shapes = [shape or () for shape in self._shapes]
        # Copies from the host that were started. Their end is waited for when they are deleted.
        self._uploads: list[cl.Event] = []
        self._has_large = self._finds_large()
        # Memory that kernels write large outputs to and their tensors take, and the array that a tensor has taken.
        self._large: dict[int, tuple[SharedTensor, np.ndarray]] = {}

    def _finds_large(self) -> bool:
        kinds = [result.get_output_element_type(0) for result in self.program.model.results]
        sizes = [math.prod(shape or ()) * kind.size for shape, kind in zip(self._shapes, kinds)]
        return self._built.device.shares_host_memory and max(sizes, default=0) >= _LARGE

    def resize(self, lengths: tuple[int, ...]) -> None:
        """Compute with these lengths of the program's symbols from the next ``bind`` on."""
        self.program.lengths = lengths
        if self.program.varying is not None and lengths != self._lengths:
            self._lengths, self._numbers = lengths, self.program.varying.numbers(lengths)
            self._shapes = self._numbers.output_shapes
            self.output_shapes = [shape or () for shape in self._shapes]
            self._has_large = self._finds_large()

    @property
    def memory_plan(self) -> MemoryPlan[Buffer]:
        """The plan of the buffers in the arena: all but those in the memory of tensors."""
        return self._sets[0].plan

    def memory(self, buffer: Buffer) -> cl.Buffer:
        """Return the memory that kernels use for a buffer."""
        return self._sets[0].memory(buffer, self.arena)

    def bind(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Let kernels work directly in the tensors that are in the context's memory, from the next inference on."""
        context = self._workspace.context
        if self._has_large:
            outputs = [self._written_to(index, tensor) for index, tensor in enumerate(outputs)]
        elif self._large:
            self._large.clear()
        shaped_outputs = list(zip(outputs, self._shapes))
        # First all shapes: memory that grows gets another buffer, and several tensors may be in it.
        for tensor, shape in shaped_outputs:
            if shape is not None and type(tensor) is not Tensor and tensor.lengths != shape and context.holds(tensor):
                tensor.set_shape(shape)
        tensors = [*inputs, *outputs]
        regions = next((arguments.regions for arguments in self._sets if arguments.is_for(tensors)), None)
        if regions is None:
            regions = [DeviceRegion.of(tensor, context) for tensor in inputs]
            for tensor, shape in shaped_outputs:
                regions.append(None if shape is None else DeviceRegion.of(tensor, context))
        self._select_set(regions)
        self._sets[0].bind(regions, self.arena, self._lengths, self._numbers, self.queue)
        self._on_device = [(tensor, region) for tensor, region in zip(tensors, regions) if region is not None]

    def is_bound(self) -> bool:
        """Return whether the tensors of the last ``bind`` and the arena have the same memory as then."""
        if self._has_large or not self._sets[0].is_current(self.arena):
            return False
        for tensor, (memory, buffer, region) in self._on_device:
            if tensor.region is not region or tensor.memory is not memory or memory.buffer is not buffer:
                return False
        return True

    def _written_to(self, index: int, tensor: Tensor) -> Tensor:
        """Return memory that kernels can write a large output to, which then becomes that of its tensor.

        That saves a copy and its memory. Return the tensor itself if it is small, has the shape already, so that
        somebody may hold its memory, or if the device does not share memory with the host.
        """
        shape, context = self._shapes[index], self._workspace.context
        if shape is None or type(tensor) is not Tensor or not self._built.device.shares_host_memory:
            return tensor
        large, array = self._large.pop(index, (None, None))
        if large is None or tensor.array is not array:
            kind = self.program.model.results[index].get_output_element_type(0)
            if tensor.lengths == shape or math.prod(shape) * kind.size < _LARGE:
                return tensor
            large = cast(SharedTensor, context.create_host_tensor(kind, shape))
        large.set_shape(shape)
        self._large[index] = large, large.array
        return large

    def unbind(self) -> None:
        """Forget the tensors, so that their memory can be freed. The kernels are kept."""
        self._large.clear()
        self._on_device = []
        for arguments in self._sets:
            arguments.unbind()

    def _select_set(self, regions: list[DeviceRegion | None]) -> None:
        """Move the set with arguments for these regions to the front, else a new or the least recently used one."""
        sets = self._sets
        at = next((at for at, kept in enumerate(sets) if kept.serves(regions)), None)
        if at is not None:
            sets[at].regions = regions
        else:
            at = next((at for at, kept in enumerate(sets) if not kept.regions), None)
        if at is None and len(sets) < MAX_ARGUMENT_SETS:
            sets.insert(0, _ArgumentSet(self._built))
        else:
            sets.insert(0, sets.pop(-1 if at is None else at))

    def upload(self, inputs: Sequence[Tensor]) -> None:
        """Copy the inputs that are not bound to the device, or start to. They must stay alive until ``finish``."""
        self._uploads = []
        copies = self._sets[0].bindings.copies_before
        try:
            for buffer, tensor, region in zip(self.program.inputs, inputs, self._sets[0].regions):
                if region is None and buffer not in self.program.unread:
                    array = tensor.array
                    memory = self._on_host(buffer, array.shape, array.dtype)
                    if memory is not None:
                        memory[...] = array
                    elif array.nbytes:
                        target, dense = self.memory(buffer), np.ascontiguousarray(array)
                        self._uploads.append(cl.enqueue_copy(self.queue, target, dense, is_blocking=False))
            for buffer, source in copies:
                copy_region(self.queue, self.memory(buffer), source.dense(), source.buffer, source.region_in_buffer())
            if copies:
                self._workspace.mark()
            if copies or self._uploads:
                self.queue.flush()
        except OPENCL_ERRORS as error:
            raise opencl_error(error, f"uploading inputs to {self._built.device.full_name}") from error

    def _on_host(self, buffer: Buffer, shape: Sequence[int], dtype: np.dtype) -> np.ndarray | None:
        """Return the memory of a buffer as an array, or None if the host does not see it. A constant is read-only."""
        if buffer.source is not None:
            return buffer.source.reshape(shape)
        slot = self._sets[0].plan.slots.get(buffer)
        return None if slot is None else self.arena.array(slot, shape, dtype)

    def launch(self, check: Callable[[], None]) -> None:
        """Start the kernels, after the uploads; of a program that runs long only the first two slices.

        ``check`` is called before each launch, also before those of ``launch_rest``, and may raise to stop.
        """
        self.launched, self._profile, self._check = [], [], check
        self._launch_until(self.program.slice_ends[:2][-1])

    def launch_rest(self) -> None:
        """Start the kernels that ``launch`` left, each slice when the one before the last has ended."""
        ends = self.program.slice_ends
        for ended, end in zip(ends, ends[2:]):
            try:
                self.launched[ended - 1][1].wait()
            except OPENCL_ERRORS as error:
                raise self._error_of_kernels(error) from error
            self._launch_until(end)

    def _launch_until(self, end: int) -> None:
        enqueue, queue, launched, check = cl.enqueue_nd_range_kernel, self.queue, self.launched, self._check
        program, begin = self.program, len(self.launched)
        try:
            for launch, bound in zip(program.commands[begin:end], self._sets[0].launches[begin:end]):
                check()
                launched.append((launch, enqueue(queue, *bound)))
        except OPENCL_ERRORS as error:
            raise opencl_error(error, f"starting {launch.operation} on {self._built.device.full_name}") from error
        finally:
            if launched:
                self._workspace.last_command[:] = [launched[-1][1]]
        copies = self._sets[0].bindings.copies_after if end == len(program.commands) else ()
        try:
            for buffer, target in copies:
                self._copy_to_region(target, buffer)
            if copies:
                self._workspace.mark()
            queue.flush()
        except OPENCL_ERRORS as error:
            raise self._error_of_kernels(error) from error

    def _error_of_kernels(self, error: Exception) -> DeviceError:
        return opencl_error(error, f"running {self._failed_operation()} on {self._built.device.full_name}")

    def _copy_to_region(self, target: DeviceRegion, buffer: Buffer) -> None:
        copy_region(self.queue, target.buffer, target.region_in_buffer(), self.memory(buffer), target.dense())

    def finish(self) -> None:
        """Wait until all kernels have run, and read the output shapes that depend on data."""
        if len(self.launched) < len(self.program.commands):
            self.launch_rest()
        try:
            if self._workspace.last_command:
                cl.wait_for_events(self._workspace.last_command)
            if self.launched and (status := execution_status(self.launched[-1][1])) < COMPLETE:
                name = self._failed_operation()
                raise DeviceError(f"{name} failed on {self._built.device.full_name} with OpenCL error code {status}")
            self._workspace.last_command.clear()
            for index, buffer in self.program.shape_buffers.items():
                dims = np.empty(buffer.byte_size // 8, np.int64)
                self._read([(buffer, dims)])
                self.output_shapes[index] = tuple(dims.tolist())
        except OPENCL_ERRORS as error:
            raise self._error_of_kernels(error) from error
        self._uploads = []

    def _failed_operation(self) -> str:
        """Name the first operation whose launch failed, else the first one that did not end."""
        statuses = [(launch, execution_status(event)) for launch, event in self.launched]
        failed = [launch for launch, status in statuses if status < COMPLETE]
        unfinished = [launch for launch, status in statuses if status > COMPLETE]
        return next((launch.operation for launch in failed + unfinished), "kernels")

    def download(self, outputs: Sequence[Tensor]) -> None:
        """Set the shapes of the outputs, and copy those that are not bound."""
        for index, (_, array) in self._large.items():
            if outputs[index].array is not array:
                outputs[index].take(array)
        regions = self._sets[0].regions[len(self.program.inputs) :]
        on_host, on_device = [], []
        for buffer, tensor, shape, region in zip(self.program.outputs, outputs, self.output_shapes, regions):
            if region is None:
                tensor.set_shape(shape)
                target = DeviceRegion.of(tensor, self._workspace.context)
                if target is None:
                    on_host.append((buffer, tensor.array))
                else:
                    on_device.append((buffer, target))
        try:
            for buffer, target in on_device:
                self._copy_to_region(target, buffer)
            if on_device:
                finish(self.queue)
            self._read(on_host)
        except OPENCL_ERRORS as error:
            raise opencl_error(error, f"downloading outputs from {self._built.device.full_name}") from error

    def _read(self, values: Sequence[tuple[Buffer, np.ndarray]]) -> None:
        """Copy buffers to host arrays. All copies are started before one is waited for."""
        targets = []
        for buffer, array in values:
            memory = self._on_host(buffer, array.shape, array.dtype)
            if memory is not None:
                array[...] = memory
            elif array.nbytes:
                target = array if array.flags.c_contiguous else np.empty(array.shape, array.dtype)
                started = cl.enqueue_copy(self.queue, target, self.memory(buffer), is_blocking=False)
                targets.append((array, target, started))
        if targets:
            cl.wait_for_events([started for _, _, started in targets])
        for array, target, _ in targets:
            if target is not array:
                np.copyto(array, target)

    def profile(self) -> list[ProfilingInfo]:
        """Return the kernel times of the last inference if profiling is on."""
        if self._workspace.is_profiled and not self._profile:
            self._profile = [
                ProfilingInfo(
                    launch.node_name,
                    launch.node_type,
                    launch.kernel,
                    timedelta(microseconds=(event.profile.end - event.profile.start) * 1e-3),
                )
                for launch, event in self.launched
            ]
        return list(self._profile)
