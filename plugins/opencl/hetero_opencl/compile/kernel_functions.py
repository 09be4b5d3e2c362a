"""Kernels as functions: texts from which another kernel can call several kernels, also ones with equal names."""

from __future__ import annotations

import functools
import re

_KERNEL = re.compile(r"^[ \t]*(?:__)?kernel\s+void\s+(\w+)\(", re.MULTILINE)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_COMMENTS = re.compile(r"//.*$", re.MULTILINE)
_DIRECTIVES = re.compile(r"^[ \t]*#(?:.*\\\n)*.*$", re.MULTILINE)
# Functions, variables and types, once @ stands for what is in parentheses, and ; for what is in braces.
_DECLARED = re.compile(r"\b(?!(?:__\w+|struct|union|enum)\b)(\w+)\s*(?=[@\[=;])")
# Kernels that use these depend on the device, or change how those after them in the same text are compiled.
_OF_DEVICES = re.compile(r"\b(FP_CONTRACT|reqd_\w+|sub_group\w*|printf|atomic\w*)\b")
_OF_WORK_GROUPS = re.compile(r"\b((__)?local|barrier|get_(local|group|num|enqueued)_\w+)\b")
_OF_POSITIONS = re.compile(r"\bget_(global|local|group|num)_\w+\b")
#: What functions have as last parameters: the position of a work-item, and the numbers of work-items.
POSITION = "const int id0, const int id1, const int id2, const int size0, const int size1, const int size2"
_MACROS_OF_FUNCTIONS = {
    "get_global_id(axis)": "((axis) == 0 ? id0 : (axis) == 1 ? id1 : id2)",
    "get_global_size(axis)": "((axis) == 0 ? size0 : (axis) == 1 ? size1 : size2)",
    # For work-groups of one work-item, whose local memory can be private.
    "get_group_id(axis)": "get_global_id(axis)",
    "get_num_groups(axis)": "get_global_size(axis)",
    "get_local_id(axis)": "0",
    "get_local_size(axis)": "1",
    "barrier(flags)": "",
    "local": "",
    "__local": "",
}


def is_function(source: str, kernel: str, is_one_item: bool) -> bool:
    """Return whether a kernel can be a function. ``is_one_item``: its work-groups are one work-item."""
    return _as_function(source, kernel, is_one_item) is not None


@functools.lru_cache(maxsize=1024)
def function_text(source: str, kernel: str, is_one_item: bool, suffix: str) -> str:
    """Return the text of a kernel as a function, with the parameters ``POSITION`` after its own.

    All names that the text declares get a suffix, also the kernel's; its macros end with it.
    """
    text = _as_function(source, kernel, is_one_item)
    assert text is not None
    names, macros = _declared(text), dict.fromkeys(_MACRO.findall(text))
    begin = [f"#define {name} {name}{suffix}\n" for name in names]
    begin += [f"#define {name} {value}\n" for name, value in _MACROS_OF_FUNCTIONS.items()]
    ended = [*names, *macros, *(name.partition("(")[0] for name in _MACROS_OF_FUNCTIONS)]
    return "".join(begin) + text + "".join(f"#undef {name}\n" for name in ended)


@functools.lru_cache(maxsize=1024)
def _as_function(source: str, kernel: str, is_one_item: bool) -> str | None:
    """Return the text with the kernel as a function and without other kernels; None if that is another program."""
    text, others = source, source
    for match in reversed(list(_KERNEL.finditer(source))):
        end = _end(source, match.start(), "{}")
        others = others[: match.start()] + others[end:]
        if match[1] == kernel:
            parameters = _end(source, match.start(), "()") - 1
            function = f"static void {kernel}({source[match.end() : parameters]}, {POSITION}{source[parameters:end]}"
            text = text[: match.start()] + function + text[end:]
        else:
            text = text[: match.start()] + text[end:]
    # Functions that macros define have no names to see. Others than the kernel do not know their position.
    is_plain = not set(_declared(text)) & set(_MACRO.findall(text))
    is_plain = is_plain and not _OF_POSITIONS.search(_without_comments_and_directives(others))
    code = _COMMENTS.sub("", text)
    is_excluded = _OF_DEVICES.search(code) or (not is_one_item and _OF_WORK_GROUPS.search(code))
    return text if is_plain and not is_excluded else None


def _end(text: str, start: int, brackets: str) -> int:
    """Return the end of the first block in brackets after ``start``."""
    depth = 0
    for match in re.compile(f"[{re.escape(brackets)}]").finditer(text, start):
        depth += 1 if match[0] == brackets[0] else -1
        if depth == 0:
            return match.end()
    return len(text)


def _without_comments_and_directives(text: str) -> str:
    return _DIRECTIVES.sub("", _COMMENTS.sub("", text))


def _declared(text: str) -> list[str]:
    """Return the names that are declared outside of functions, except macros."""
    text, before = _without_comments_and_directives(text), ""
    while text != before:
        before, text = text, re.sub(r"\([^()]*\)", "@", re.sub(r"\{[^{}]*\}", ";", text))
    return list(dict.fromkeys(_DECLARED.findall(text)))
