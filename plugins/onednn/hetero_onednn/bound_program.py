"""A program bound to memory: what one request executes."""

from __future__ import annotations

import ctypes
import operator
import time
from collections.abc import Callable, Sequence

import numpy as np

from hetero.passes.bounds.value_bounds import is_ordinary
from hetero_onednn.keep_nan import LARGEST_NORM
from hetero_onednn.library.api import Argument, ExecArg, OneDnnError, Stream, function
from hetero_onednn.library.primitive import Memory
from hetero_onednn.library.threads import OneThread
from hetero_onednn.program import Buffer, CopiedOutput, PrimitiveProgram, PrimitiveStep, Value, aligned

Launch = tuple[int, int, int, ctypes.Array[ExecArg]]


class Workspace:
    """The memory of a request for intermediate values and scratchpads, which the programs for all shapes share."""

    def __init__(self) -> None:
        self.arena = self.scratchpad = aligned(0)
        #: The addresses of the arena and of the scratchpad.
        self.addresses = (0, 0)

    def grow(self, program: PrimitiveProgram) -> None:
        """Make room for a program, in other memory if there is too little."""
        wanted = program.arena_size, program.scratchpad_size
        sizes = self.arena.size, self.scratchpad.size
        if all(map(operator.le, wanted, sizes)):
            return
        self.arena = self.scratchpad = aligned(0)  # frees it before the next one is allocated
        # States that grow in each step have other memory in a few of them only.
        arena, scratchpad = (max(want, size + size // 4) if want > size else size for want, size in zip(wanted, sizes))
        self.arena, self.scratchpad = aligned(arena), aligned(scratchpad)
        self.addresses = self.arena.ctypes.data, self.scratchpad.ctypes.data


class BoundProgram:
    """The memory objects and the arguments of a program. ``run`` executes it, as long as the caller keeps it."""

    def __init__(self, program: PrimitiveProgram, workspace: Workspace) -> None:
        self._stream = Stream()
        self._execute = function("primitive_execute")
        self._set_address = function("memory_set_data_handle")
        self._workspace, self._offsets = workspace, program.offsets
        self._own: dict[Buffer, np.ndarray] = {}
        # Where the workspace is by the addresses of these memory objects.
        self._placed = workspace.addresses
        self._in_arena: list[tuple[Memory, int]] = []
        self._scratchpads: list[Memory] = []
        # The memory objects of inputs and outputs, whose addresses change.
        self._external: dict[Buffer, list[tuple[Memory, int]]] = {}
        self._inputs = [(i, value.buffer) for i, value in enumerate(program.inputs) if value is not None]
        self._outputs = [(i, value.buffer) for i, value in enumerate(program.outputs) if isinstance(value, Value)]
        self._addresses: dict[Buffer, int] = dict.fromkeys([buffer for _, buffer in (*self._inputs, *self._outputs)], 0)
        self._copied = [(i, out.source) for i, out in enumerate(program.outputs) if isinstance(out, CopiedOutput)]
        self._threads = OneThread(program.on_one_thread)
        self._memories: list[Memory] = []
        known: dict[Value, Memory] = {}
        #: Arguments of dnnl_primitive_execute, in order.
        self._launches: list[Launch] = [self._bind(step, known) for step in program.steps]
        #: The values to check after steps, by the number of launches before.
        self._checked = {number: step.result for number, step in enumerate(program.steps, 1) if step.is_checked}

    def _bind(self, step: PrimitiveStep, known: dict[Value, Memory]) -> Launch:
        memories = []
        for argument, value in step.arguments.items():
            if value not in known:
                known[value] = self._memory(value)
            memories.append((argument, known[value]))
        if step.primitive.scratchpad.byte_size:
            scratchpad = Memory(step.primitive.scratchpad, self._placed[1])
            memories.append((Argument.scratchpad, scratchpad))
            self._scratchpads.append(scratchpad)
        self._memories += [memory for _, memory in memories]
        arguments = (ExecArg * len(memories))(*(ExecArg(argument, memory.handle) for argument, memory in memories))
        return step.primitive.handle, self._stream.handle, len(memories), arguments

    def _memory(self, value: Value) -> Memory:
        buffer = value.buffer
        address = 0
        if buffer.constant is not None:
            address = buffer.constant.ctypes.data
        elif buffer.initial is not None:
            address = self._initialized(buffer).ctypes.data
        elif buffer.is_intermediate:
            address = self._placed[0] + self._offsets[buffer]
        memory = Memory(value.descriptor, address + value.offset if address else 0)
        if buffer.is_intermediate:
            self._in_arena.append((memory, self._offsets[buffer] + value.offset))
        elif not address:
            self._external.setdefault(buffer, []).append((memory, value.offset))
        return memory

    def run(
        self,
        inputs: Sequence[np.ndarray],
        outputs: Sequence[np.ndarray],
        check: Callable[[], None],
        observe: Callable[[int, float], None] | None = None,
    ) -> bool:
        """Execute all steps on dense arrays. ``check`` is called now and then, ``observe`` with each step's seconds.

        Returns False, without valid results, as soon as a value that is checked is not finite.
        """
        for arrays, buffers in ((inputs, self._inputs), (outputs, self._outputs)):
            for index, buffer in buffers:
                address = arrays[index].__array_interface__["data"][0]
                if address != self._addresses[buffer]:
                    self._place(buffer, address)
        if self._placed != self._workspace.addresses:
            self._follow_workspace()
        with self._threads:
            is_valid = self._run(outputs, check, observe)
        for index, source in self._copied:
            np.copyto(outputs[index], inputs[source] if isinstance(source, int) else source)
        return is_valid

    def _run(
        self,
        outputs: Sequence[np.ndarray],
        check: Callable[[], None],
        observe: Callable[[int, float], None] | None,
    ) -> bool:
        execute, checked = self._execute, self._checked
        for number, launch in enumerate(self._launches, 1):
            started = time.perf_counter() if observe else 0.0
            if status := execute(*launch):
                raise OneDnnError("primitive_execute", status)
            if observe:
                observe(number - 1, time.perf_counter() - started)
            if number in checked and not is_ordinary(self._array(checked[number], outputs), LARGEST_NORM):
                return False
            if observe or not number % CHECK_INTERVAL:
                check()
        return True

    def _array(self, value: Value, outputs: Sequence[np.ndarray]) -> np.ndarray:
        """Return all elements of f32 of a value, in any order."""
        buffer, size = value.buffer, value.descriptor.byte_size
        if buffer.output is not None:
            return outputs[buffer.output]
        start = self._offsets[buffer] + value.offset
        return self._workspace.arena[start : start + size].view(np.float32)

    def _place(self, buffer: Buffer, address: int) -> None:
        self._addresses[buffer] = address
        for memory, offset in self._external.get(buffer, ()):
            self._set_address(memory.handle, address + offset)

    def _follow_workspace(self) -> None:
        """Set the addresses of memory objects, as the workspace has moved when it grew for another program."""
        arena, scratchpad = self._placed = self._workspace.addresses
        for memory, offset in self._in_arena:
            self._set_address(memory.handle, arena + offset)
        for memory in self._scratchpads:
            self._set_address(memory.handle, scratchpad)

    def _initialized(self, buffer: Buffer) -> np.ndarray:
        memory = self._own.get(buffer)
        if memory is None:
            assert buffer.initial is not None
            memory = self._own[buffer] = aligned(buffer.byte_size)
            memory.view(buffer.initial.dtype)[...] = buffer.initial
        return memory


#: Number of steps between checks for cancellation.
CHECK_INTERVAL = 16
