"""Constants of a compiled model: each is converted once to every layout in which primitives read it."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from hetero_onednn.library.api import Argument, ExecArg, Stream, call
from hetero_onednn.library.descriptors import Descriptor
from hetero_onednn.library.primitive import Memory, Primitive, describe_reorder
from hetero_onednn.program import Buffer, Value, aligned


class Constants:
    """The values of constants by array and layout, shared by the programs of all shapes."""

    def __init__(self) -> None:
        # The array is kept, so that its id stays its own.
        self._values: dict[int, tuple[np.ndarray, list[Value]]] = {}
        self._derived: dict[tuple[int, Callable], tuple[np.ndarray, Any]] = {}
        self._lock = threading.Lock()

    def derived(self, array: np.ndarray, function: Callable[[np.ndarray], Any]) -> Any:
        """Return what a function computes from an array, computed once."""
        with self._lock:
            key = id(array), function
            if key not in self._derived:
                self._derived[key] = array, function(array)
            return self._derived[key][1]

    def value(self, array: np.ndarray, source: Descriptor, target: Descriptor) -> Value:
        """Return an array, which has the layout ``source``, in the layout ``target``."""
        with self._lock:
            _, values = self._values.setdefault(id(array), (array, []))
            for value in values:
                if value.descriptor == target:
                    return value
            values.append(_converted(array, source, target))
            return values[-1]


def _converted(array: np.ndarray, source: Descriptor, target: Descriptor) -> Value:
    array = np.ascontiguousarray(array)
    if source == target:
        return Value(Buffer(target.byte_size, constant=array), target)
    result = aligned(target.byte_size)
    execute_reorder(Memory(source, array.ctypes.data), Memory(target, result.ctypes.data), source, target)
    return Value(Buffer(target.byte_size, constant=result), target)


def execute_reorder(read: Memory, written: Memory, source: Descriptor, target: Descriptor) -> None:
    """Convert memory at once."""
    primitive = Primitive(describe_reorder(source, target))
    stream = Stream()
    scratchpad = aligned(primitive.scratchpad.byte_size)
    memory = Memory(primitive.scratchpad, scratchpad.ctypes.data)
    arguments = (ExecArg * 3)(
        ExecArg(Argument.src, read.handle),
        ExecArg(Argument.dst, written.handle),
        ExecArg(Argument.scratchpad, memory.handle),
    )
    call("primitive_execute", primitive.handle, stream.handle, len(arguments), ctypes.byref(arguments))
