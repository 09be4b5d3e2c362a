"""Merging of launches: consecutive ones whose work-items fit in one work-group become one launch.

The kernels become functions of one source text, which a new kernel calls one after the other, with a barrier between.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence

import numpy as np

from hetero_opencl.device_profile import DeviceProfile
from hetero_opencl.program import Buffer, Launch

# The work-items and the bytes of the buffers of a launch that is merged. One compute unit does the work.
_MOST_ITEMS, _MOST_DATA = 512, 2**16
# The launches that become one. PoCL copies a kernel for each call: calls of 64 operations compile in 0.3 s each.
_MOST_PARTS = 16
# Launches of different kernels that become one: fewer are not worth one more text to compile.
_LEAST_PARTS = 4
# The bytes of arguments that every device accepts.
_MOST_ARGUMENTS = 1024
_POINTER_BYTES = 8
# Kernels that use these depend on their work-group, or change how those after them in the same text are compiled.
_UNMERGEABLE = re.compile(
    r"\b(FP_CONTRACT|(__)?local|barrier|reqd_\w+|sub_group\w*|get_(?!global_id\b)\w+|printf|atomic\w*)\b"
)
_NUMBERS = {
    **{"i1": "char", "i2": "short", "i4": "int", "i8": "long", "u1": "uchar", "u2": "ushort", "u4": "uint"},
    **{"u8": "ulong", "f4": "float", "f8": "double"},
}
_KERNEL = re.compile(r"^[ \t]*(?:__)?kernel\s+void\s+(\w+)\(", re.MULTILINE)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_COMMENTS = re.compile(r"//.*$", re.MULTILINE)
_DIRECTIVES = re.compile(r"^[ \t]*#(?:.*\\\n)*.*$", re.MULTILINE)
# Functions, variables and types, once @ stands for what is in parentheses, and ; for what is in braces.
_DECLARED = re.compile(r"\b(?!(?:__\w+|struct|union|enum)\b)(\w+)\s*(?=[@\[=;])")


def merge_launches(launches: Iterable[Launch], profile: DeviceProfile) -> list[Launch]:
    """Return launches that do the same, as few as possible.

    Those that can be merged wait for others, while launches that use none of their buffers go ahead.
    """
    merged: list[Launch] = []
    waiting: list[Launch] = []
    most_items = min(_MOST_ITEMS, profile.max_work_group_size)
    for launch in launches:
        fits = _fits(launch, most_items)
        if fits:
            size = sum(map(_argument_bytes, [*waiting, launch]))
            must_run = size > _MOST_ARGUMENTS or len(waiting) == _MOST_PARTS
        else:
            must_run = not _memory_of(launch).isdisjoint(_memory_of(*waiting))
        if must_run:
            merged += _merged(waiting)
            waiting = []
        (waiting if fits else merged).append(launch)
    return merged + _merged(waiting)


def _kernel(launch: Launch) -> tuple[str, str]:
    return launch.source, launch.kernel


def _memory_of(*launches: Launch) -> set[Buffer]:
    return {buffer.whole or buffer for launch in launches for buffer in launch.buffers()}


def _fits(launch: Launch, most_items: int) -> bool:
    """Return whether a launch does the same in a larger work-group, which has little more work."""
    return (
        len(launch.global_size) == 1
        and launch.global_size[0] <= most_items
        and launch.local_size is not None
        and launch.local_size[0] >= 64
        and sum(buffer.byte_size for buffer in launch.buffers()) <= _MOST_DATA
        and not launch.origin
        and all(isinstance(one, Buffer) or one.dtype.str[1:] in _NUMBERS for one in launch.arguments)
        and _as_function(launch.source, launch.kernel) is not None
    )


def _argument_bytes(launch: Launch) -> int:
    sizes = [_POINTER_BYTES if isinstance(one, Buffer) else max(4, one.nbytes) for one in launch.arguments]
    return sum(sizes) + 4  # and the number of work-items


def _merged(launches: Sequence[Launch]) -> list[Launch]:
    """Return the launches as one, or as they are if they are too few."""
    is_one_kernel = len(set(map(_kernel, launches))) == 1
    if len(launches) < (2 if is_one_kernel else _LEAST_PARTS):
        return list(launches)
    size = max(launch.global_size[0] for launch in launches)
    numbers: dict[tuple[str, str], int] = {}
    texts: list[str] = []
    parameters: list[str] = []
    arguments: list[Buffer | np.generic] = []
    calls: list[str] = []
    for launch in launches:
        key = _kernel(launch)
        if key not in numbers:
            numbers[key] = len(numbers)
            texts.append(_with_suffix(*key, f"_{numbers[key]}"))
        names = [f"a{len(parameters) + index}" for index in range(len(launch.arguments))]
        for name, argument in zip(names, launch.arguments):
            kind = "global void *" if isinstance(argument, Buffer) else f"const {_NUMBERS[argument.dtype.str[1:]]} "
            parameters.append(kind + name)
        # The number of work-items is an argument, so that other shapes have the same text.
        count = f"n{len(calls)}"
        parameters.append(f"const int {count}")
        arguments += [*launch.arguments, np.int32(launch.global_size[0])]
        calls.append(f"    if (get_global_id(0) < {count}) {launch.kernel}_{numbers[key]}({', '.join(names)});\n")
    body = "    barrier(CLK_GLOBAL_MEM_FENCE);\n".join(calls)
    text = f"{''.join(texts)}kernel void merged({', '.join(parameters)})\n{{\n{body}}}\n"
    name, kind = launches[0].node_name, launches[0].node_type
    return [Launch(text, "merged", tuple(arguments), (size,), (size,), name, kind, parts=tuple(launches))]


@functools.lru_cache(maxsize=1024)
def _with_suffix(source: str, kernel: str, suffix: str) -> str:
    """Return the text of a kernel as a function; all names that it declares get a suffix, its macros end with it."""
    text = _as_function(source, kernel)
    assert text is not None
    names, macros = _declared(text), dict.fromkeys(_MACRO.findall(text))
    begin = "".join(f"#define {name} {name}{suffix}\n" for name in names)
    return begin + text + "".join(f"#undef {name}\n" for name in (*names, *macros))


@functools.lru_cache(maxsize=1024)
def _as_function(source: str, kernel: str) -> str | None:
    """Return the text with the kernel as a function and without other kernels; None if it depends on its work-group."""
    text = source
    for match in reversed(list(_KERNEL.finditer(source))):
        if match[1] != kernel:
            text = text[: match.start()] + text[_end_of_body(text, match.start()) :]
    text = _KERNEL.sub(r"static __attribute__((noinline)) void \1(", text)
    # Functions that macros define have no names to see.
    is_plain = not set(_declared(text)) & set(_MACRO.findall(text))
    return text if is_plain and not _UNMERGEABLE.search(_COMMENTS.sub("", text)) else None


def _end_of_body(text: str, start: int) -> int:
    """Return the end of the first block in braces after ``start``."""
    depth = 0
    for match in re.compile("[{}]").finditer(text, start):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    return len(text)


def _declared(text: str) -> list[str]:
    """Return the names that are declared outside of functions, except macros."""
    text, before = _DIRECTIVES.sub("", _COMMENTS.sub("", text)), ""
    while text != before:
        before, text = text, re.sub(r"\([^()]*\)", "@", re.sub(r"\{[^{}]*\}", ";", text))
    return list(dict.fromkeys(_DECLARED.findall(text)))
