"""Merging of launches: consecutive short ones become one launch, because starting one takes several microseconds.

The kernels become functions of one source text. A new kernel calls them, in a work-group for each core of a processor;
kernels/common/tickets.cl says how these share the work of a launch, and wait for its end before the next one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from hetero.core.lengths.length import AnyLength, Length, choosing, larger
from hetero_opencl.compile.kernel_functions import function_text, is_function
from hetero_opencl.device.launch import Buffer, Launch
from hetero_opencl.kernels.common.definition import source
from hetero_opencl.profiles.profile import DeviceProfile

# The estimated seconds of the operation of a launch that is merged. The kernels of others are compiled in parallel.
_MOST_SECONDS = 300e-6
# The work-items of a kernel that are merged if its work-groups have several, which the compiler makes vectors of.
_MOST_ITEMS = 4096
# Launches that become one: fewer are not worth one more text to compile.
_LEAST_PARTS = 4
# Tickets for each core in a part.
_TICKETS_PER_CORE = 8
# The bytes of a counter of kernels/common/tickets.cl.
_LINE_BYTES = 64
_POINTER_BYTES = 8
# How a number is read from 32-bit words, by its element type.
_NUMBERS = {
    **{"i1": "(char){}", "i2": "(short){}", "i4": "{}", "u1": "(uchar){}", "u2": "(ushort){}", "u4": "as_uint({})"},
    **{"f4": "as_float({})"},
    **{kind: f"as_{name}(vload2(0, &{{}}))" for kind, name in (("i8", "long"), ("u8", "ulong"), ("f8", "double"))},
}
# The position of a work-item in the order of tickets, by the number of axes. The axis of the rows of images, the first
# of two and the second of three, is the slowest: a core computes mostly the same rows in all parts.
_POSITIONS = {
    1: ["item", "0", "0"],
    2: ["item / size1", "item % size1", "0"],
    3: ["item % size0", "item / size0 / size2", "item / size0 % size2"],
}
# Words before the numbers of a part: tickets, work-items of a ticket, work-items, and those along the axes.
_HEADER = 6


def merge_launches(
    launches: Iterable[Launch], profile: DeviceProfile, constant: Callable[[np.ndarray], Buffer]
) -> list[Launch]:
    """Return launches that do the same, as few as possible. ``constant`` makes a buffer of an array.

    Those that can be merged wait for others, while launches that use none of their buffers go ahead. Work-items of a
    merged launch compute several parts, so these are merged only where one does the work of a team.
    """
    merged: list[Launch] = []
    waiting: list[Launch] = []
    used: set[Buffer] = set()  # by those that wait
    for launch in launches:
        buffers = launch.buffers()
        if fits := profile.team_size == 1 and _fits(launch):
            must_run = _parameter_bytes(len(used.union(buffers))) > profile.max_parameter_bytes
        else:
            must_run = not _memory_of(buffers).isdisjoint(_memory_of(used))
        if must_run:
            merged += _merged(waiting, profile, constant)
            waiting, used = [], set()
        if fits:
            used.update(buffers)
        (waiting if fits else merged).append(launch)
    return merged + _merged(waiting, profile, constant)


def _memory_of(buffers: Iterable[Buffer]) -> set[Buffer]:
    return {buffer.whole or buffer for buffer in buffers}


def _fits(launch: Launch) -> bool:
    """Return whether a launch can be merged, and gains from it."""
    if launch.local_size is None or launch.origin or launch.seconds > _MOST_SECONDS:
        return False
    is_one_item = math.prod(launch.local_size) == 1
    with choosing(*launch.global_size, notes_buckets=False):  # launches of any size can be merged
        is_small = is_one_item or (len(launch.global_size) == 1 and launch.global_size[0] <= _MOST_ITEMS)
    return (
        is_small
        and all(isinstance(argument, Buffer) or _kind(argument) in _NUMBERS for argument in launch.arguments)
        and is_function(launch.source, launch.kernel, is_one_item)
    )


def _kind(argument: Any) -> str:
    return "i4" if isinstance(argument, Length) else argument.dtype.str[1:]


def _parameter_bytes(buffers: int) -> int:
    return _POINTER_BYTES * (2 + buffers)


def _merged(
    launches: Sequence[Launch], profile: DeviceProfile, constant: Callable[[np.ndarray], Buffer]
) -> list[Launch]:
    """Return the launches as one, or as they are if they are too few."""
    if len(launches) < _LEAST_PARTS:
        return list(launches)
    words: list[AnyLength] = []
    offsets: list[int] = []
    for launch in launches:
        offsets.append(len(words))
        words += _words(launch, profile)
    buffers = list(dict.fromkeys(buffer for launch in launches for buffer in launch.buffers()))
    counters = Buffer(_LINE_BYTES * (2 + len(launches) * profile.compute_units), is_zero=True)
    varies = any(isinstance(word, Length) for word in words)
    numbers = Buffer(4 * len(words), words=tuple(words)) if varies else constant(np.array(words, np.int32))
    arguments = (counters, numbers, *buffers)
    text, size = _text(launches, buffers, offsets), (profile.compute_units,)
    name, kind = launches[0].node_name, launches[0].node_type
    return [Launch(text, "merged", arguments, size, (1,), name, kind, parts=tuple(launches))]


def _text(launches: Sequence[Launch], buffers: Sequence[Buffer], offsets: Sequence[int]) -> str:
    """Return the text of the kernel ``merged``; a launch's numbers begin at its offset."""
    names = {buffer: f"b{index}" for index, buffer in enumerate(buffers)}
    functions: dict[tuple[Any, ...], str] = {}
    texts: list[str] = []
    calls: list[str] = []
    for launch, offset in zip(launches, offsets):
        is_one_item, axes = math.prod(launch.local_size or ()) == 1, len(launch.global_size)
        kinds = tuple("" if isinstance(argument, Buffer) else _kind(argument) for argument in launch.arguments)
        key = (launch.source, launch.kernel, is_one_item, axes, kinds)
        if key not in functions:
            suffix = f"_{len(functions)}"
            functions[key] = f"run{suffix}"
            texts.append(function_text(launch.source, launch.kernel, is_one_item, suffix))
            texts.append(_run_function(functions[key], launch.kernel + suffix, kinds, axes))
        arguments = ", ".join(names[buffer] for buffer in launch.buffers())
        calls.append(f"    PART({offset}, {functions[key]}, {arguments})\n")
    parameters = ["volatile int *counters", "const int *numbers", *(f"void *{name}" for name in names.values())]
    head = f"kernel void merged({', '.join(f'global {parameter}' for parameter in parameters)})"
    return "".join([*texts, source("tickets"), head, "\n{\n    BEGIN\n", *calls, "    END\n}\n"])


def _run_function(name: str, kernel: str, kinds: Sequence[str], axes: int) -> str:
    """Return a function that calls a kernel's function for a range of its work-items."""
    pointers, arguments, at = 0, [], _HEADER
    for kind in kinds:
        if kind:
            arguments.append(_NUMBERS[kind].format(f"numbers[{at}]"))
            at += 2 if kind[1:] == "8" else 1
        else:
            arguments.append(f"a{pointers}")
            pointers += 1
    parameters = ", ".join(f"global void *a{index}" for index in range(pointers))
    sizes = [f"size{axis}" for axis in range(3)]
    return f"""
static __attribute__((noinline)) void {name}({parameters}, global const int *numbers, const int first,
                                             const int last)
{{
    const int size0 = numbers[3], size1 = numbers[4], size2 = numbers[5];
    for (int item = first; item < last; item++)
        {kernel}({", ".join([*arguments, *_POSITIONS[axes], *sizes])});
}}
"""


def _words(launch: Launch, profile: DeviceProfile) -> list[AnyLength]:
    """Return the numbers of a part as 32-bit words."""
    items, group = math.prod(launch.global_size), math.prod(launch.local_size or ())
    of_ticket = larger(group, -(-items // (profile.compute_units * _TICKETS_PER_CORE)))
    words: list[AnyLength] = [
        -(-items // of_ticket),
        of_ticket,
        items,
        *launch.global_size,
        *[1] * (3 - len(launch.global_size)),
    ]
    for argument in launch.arguments:
        if isinstance(argument, Length):
            words.append(argument)
        elif not isinstance(argument, Buffer):
            wide = argument if argument.nbytes >= 4 else np.int32(argument)
            words += np.frombuffer(wide.tobytes(), np.int32).tolist()
    return words
