"""A program bound to memory: what one request executes."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from itertools import count

import numpy as np

from hetero_onednn.library.api import Argument, ExecArg, OneDnnError, Stream, function
from hetero_onednn.library.primitive import Memory
from hetero_onednn.library.threads import one_thread
from hetero_onednn.program import Buffer, CopiedOutput, PrimitiveProgram, Value, aligned

Launch = tuple[int, int, int, ctypes.Array[ExecArg]]


class BoundProgram:
    """The arena, the memory objects and the arguments of a program. ``run`` executes it."""

    def __init__(self, program: PrimitiveProgram) -> None:
        self.program = program
        self._stream = Stream()
        self._execute = function("primitive_execute")
        self._set_address = function("memory_set_data_handle")
        self._arena = aligned(program.arena_size)
        self._scratchpad = aligned(program.scratchpad_size)
        self._memories: dict[Value, Memory] = {}
        self._own: dict[Buffer, np.ndarray] = {}
        self._scratchpads: list[Memory] = []
        # The memory objects of inputs and outputs, whose addresses change.
        self._external: dict[Buffer, list[tuple[Memory, int]]] = {}
        self._addresses: dict[Buffer, int] = {}
        #: Arguments of dnnl_primitive_execute, in order.
        self._launches: list[Launch] = [self._bind(step) for step in range(len(program.steps))]

    def _bind(self, index: int) -> Launch:
        step = self.program.steps[index]
        memories = [(argument, self._memory(value)) for argument, value in step.arguments.items()]
        if step.primitive.scratchpad.byte_size:
            scratchpad = Memory(step.primitive.scratchpad, self._scratchpad.ctypes.data)
            self._scratchpads.append(scratchpad)
            memories.append((Argument.scratchpad, scratchpad))
        arguments = (ExecArg * len(memories))(*(ExecArg(argument, memory.handle) for argument, memory in memories))
        return step.primitive.handle, self._stream.handle, len(memories), arguments

    def _memory(self, value: Value) -> Memory:
        memory = self._memories.get(value)
        if memory is None:
            buffer = value.buffer
            address = 0
            if buffer.constant is not None:
                address = buffer.constant.ctypes.data
            elif buffer.initial is not None:
                address = self._initialized(buffer).ctypes.data
            elif buffer.is_intermediate:
                address = self._arena.ctypes.data + self.program.offsets[buffer]
            memory = self._memories[value] = Memory(value.descriptor, address + value.offset if address else 0)
            if not address:
                self._external.setdefault(buffer, []).append((memory, value.offset))
        return memory

    def run(
        self,
        inputs: Sequence[np.ndarray],
        outputs: Sequence[np.ndarray],
        check: Callable[[], None],
        observe: Callable[[int, float], None] | None = None,
    ) -> None:
        """Execute all steps on dense arrays. ``check`` is called now and then, ``observe`` with each step's seconds."""
        for value, array in zip(self.program.inputs, inputs):
            if value is not None:
                self._place(value.buffer, array)
        for output, array in zip(self.program.outputs, outputs):
            if isinstance(output, Value):
                self._place(output.buffer, array)
        with one_thread(self.program.on_one_thread):
            if observe is None:
                self._run(check)
            else:
                self._observe(check, observe)
        for output, array in zip(self.program.outputs, outputs):
            if isinstance(output, CopiedOutput):
                source = inputs[output.source] if isinstance(output.source, int) else output.source
                np.copyto(array, source)

    def _observe(self, check: Callable[[], None], observe: Callable[[int, float], None]) -> None:
        for index, launch in enumerate(self._launches):
            check()
            started = time.perf_counter()
            if status := self._execute(*launch):
                raise OneDnnError("primitive_execute", status)
            observe(index, time.perf_counter() - started)

    def _run(self, check: Callable[[], None]) -> None:
        execute = self._execute
        for number, launch in zip(count(1), self._launches):
            if status := execute(*launch):
                raise OneDnnError("primitive_execute", status)
            if not number % CHECK_INTERVAL:
                check()

    def _place(self, buffer: Buffer, array: np.ndarray) -> None:
        address = array.__array_interface__["data"][0]
        if self._addresses.get(buffer) != address:
            self._addresses[buffer] = address
            for memory, offset in self._external.get(buffer, ()):
                self._set_address(memory.handle, address + offset)

    def _initialized(self, buffer: Buffer) -> np.ndarray:
        memory = self._own.get(buffer)
        if memory is None:
            assert buffer.initial is not None
            memory = self._own[buffer] = aligned(buffer.byte_size)
            memory.view(buffer.initial.dtype)[...] = buffer.initial
        return memory


#: Number of steps between checks for cancellation.
CHECK_INTERVAL = 16
