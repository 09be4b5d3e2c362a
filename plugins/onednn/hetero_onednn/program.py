"""Programs: primitives in execution order, the buffers between them, and constants, which each layout has once."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from hetero.graph import Model, Node
from hetero.plugin import plan_memory
from hetero_onednn.library.api import Argument, ExecArg, Stream, call
from hetero_onednn.library.primitive import Descriptor, Memory, Primitive, PrimitiveDescriptor, describe_reorder

ALIGNMENT = 64


@dataclass(eq=False)
class Buffer:
    """Memory of a value: a constant, the tensor of an input or of an output, or else a part of the arena.

    With ``initial`` it is memory of its own in each request, filled with the number before the first inference.
    ``source`` is the array that a constant was made from.
    """

    byte_size: int
    constant: np.ndarray | None = None
    source: np.ndarray | None = None
    input: int | None = None
    output: int | None = None
    initial: np.ndarray | None = None

    @property
    def is_intermediate(self) -> bool:
        return self.constant is None and self.input is None and self.output is None and self.initial is None


@dataclass(eq=False, frozen=True)
class Value:
    """Elements in a buffer from ``offset`` (in bytes) on, in the layout that the descriptor says."""

    buffer: Buffer
    descriptor: Descriptor
    offset: int = 0


@dataclass(eq=False, frozen=True)
class PrimitiveStep:
    """The execution of a primitive. ``node`` is the operation that it belongs to."""

    node: Node
    descriptor: PrimitiveDescriptor
    arguments: dict[int, Value]
    #: What the step does if it is not the operation itself, such as "reorder".
    role: str = ""
    #: Whether an inference checks that the result is finite.
    is_checked: bool = False

    @property
    def primitive(self) -> Primitive:
        return self.descriptor.primitive

    @property
    def result(self) -> Value:
        return self.arguments[Argument.dst]


@dataclass(eq=False, frozen=True)
class CopiedOutput:
    """An output that no primitive writes: a constant, or an input by its index."""

    source: np.ndarray | int


@dataclass(eq=False)
class PrimitiveProgram:
    """The steps of a model, and the values of its inputs (None if nothing reads it) and outputs."""

    model: Model
    steps: list[PrimitiveStep]
    inputs: list[Value | None]
    outputs: list[Value | CopiedOutput]
    #: Whether its primitives were created for one thread, and must be executed by one.
    on_one_thread: bool = False
    #: The offset of each intermediate buffer in the arena.
    offsets: dict[Buffer, int] = field(default_factory=dict)
    arena_size: int = 0
    scratchpad_size: int = 0

    def __post_init__(self) -> None:
        self.output_shapes = [tuple(result.input_value(0).shape) for result in self.model.results]
        self.offsets, self.arena_size = _plan(self.steps)
        self.scratchpad_size = max((step.primitive.scratchpad.byte_size for step in self.steps), default=0)


def aligned(byte_size: int) -> np.ndarray:
    """Return uninitialized bytes that begin at a multiple of ALIGNMENT."""
    memory = np.empty(byte_size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + byte_size]


def _plan(steps: Sequence[PrimitiveStep]) -> tuple[dict[Buffer, int], int]:
    uses = [
        list(dict.fromkeys(value.buffer for value in step.arguments.values() if value.buffer.is_intermediate))
        for step in steps
    ]
    slots, sizes = plan_memory(uses, lambda buffer: -(-buffer.byte_size // ALIGNMENT) * ALIGNMENT)
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).tolist()
    return {buffer: starts[slot] for buffer, slot in slots.items()}, starts[-1]


class Constants:
    """The values of constants by array and layout, shared by the programs that use them at the same time."""

    def __init__(self, most_bytes: int) -> None:
        """``most_bytes``: of all constants together, from which on ``is_full``."""
        self._most_bytes = most_bytes
        # A program keeps its values, and a value the array that it was made from, so that its address stays its own.
        self._values: WeakValueDictionary[tuple[Any, ...], Value] = WeakValueDictionary()
        self._derived: dict[tuple[Any, ...], tuple[np.ndarray, Any]] = {}
        self._lock = threading.Lock()

    def derived(self, array: np.ndarray, function: Callable[[np.ndarray], Any]) -> Any:
        """Return what a function computes from an array, computed once."""
        with self._lock:
            key = *_place(array), function
            if key not in self._derived:
                self._derived[key] = array, function(array)
            return self._derived[key][1]

    def value(self, array: np.ndarray, source: Descriptor, target: Descriptor) -> Value:
        """Return an array, which has the layout ``source``, in the layout ``target``."""
        with self._lock:
            key = *_place(array), source, target
            value = self._values.get(key)
            if value is None:
                value = self._values[key] = _converted(array, source, target)
            return value

    def is_full(self) -> bool:
        """Return whether programs should be dropped, as all constants together take too much memory."""
        return self.byte_size > self._most_bytes

    @property
    def byte_size(self) -> int:
        """The size of all constants that programs use, once for each layout."""
        with self._lock:
            return sum(value.buffer.byte_size for value in self._values.values())


def _place(array: np.ndarray) -> tuple[Any, ...]:
    """Return what identifies an array: nodes of copies of a model have arrays of their own of the same memory."""
    return array.__array_interface__["data"][0], array.shape, array.strides, array.dtype


def _converted(array: np.ndarray, source: Descriptor, target: Descriptor) -> Value:
    dense = np.ascontiguousarray(array)
    if source == target:
        return Value(Buffer(target.byte_size, constant=dense, source=array), target)
    result = aligned(target.byte_size)
    execute_reorder(Memory(source, dense.ctypes.data), Memory(target, result.ctypes.data), source, target)
    return Value(Buffer(target.byte_size, constant=result, source=array), target)


def execute_reorder(read: Memory, written: Memory, source: Descriptor, target: Descriptor) -> None:
    """Convert memory at once."""
    primitive = describe_reorder(source, target).primitive
    stream = Stream()
    scratchpad = aligned(primitive.scratchpad.byte_size)
    memory = Memory(primitive.scratchpad, scratchpad.ctypes.data)
    arguments = (ExecArg * 3)(
        ExecArg(Argument.src, read.handle),
        ExecArg(Argument.dst, written.handle),
        ExecArg(Argument.scratchpad, memory.handle),
    )
    call("primitive_execute", primitive.handle, stream.handle, len(arguments), ctypes.byref(arguments))
