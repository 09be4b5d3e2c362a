"""Concatenations without copies: inputs that are written to where they are in the output."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hetero import ops
from hetero.graph import Node, Output, Result
from hetero_opencl.implementation import Choice
from hetero_opencl.layouts import ROWS, Blocks, Layout
from hetero_opencl.operation import Operation


class Part(NamedTuple):
    """The value that another one is a part of, and the part's offset in bytes."""

    whole: Output
    offset: int


def find_concat_parts(
    operations: Iterable[Operation], chosen: Mapping[Node, Choice], alignment: int
) -> dict[Output, Part]:
    """Return the values that can be written as parts of a Concat; offsets are multiples of ``alignment``.

    Only values that operations compute and that are not results: those of others are in the memory of tensors.
    """
    parts: dict[Output, Part] = {}
    for operation in operations:
        node = operation.node
        if not isinstance(node, ops.Concat) or _is_result(node.output(0)):
            continue
        layout = chosen[node].signature.output
        for value, offset in _offsets(node, layout):
            written = chosen.get(value.node)
            if written is None or written.signature.output != layout or _is_result(value):
                continue
            if value not in parts and offset % alignment == 0 and node.input_values().count(value) == 1:
                parts[value] = Part(node.output(0), offset)
    return parts


def _is_result(value: Output) -> bool:
    return any(isinstance(target.node, Result) for target in value.get_target_inputs())


def _offsets(node: ops.Concat, layout: Layout) -> list[tuple[Output, int]]:
    """Return the inputs with their offsets in the output, or nothing if they are not contiguous there."""
    shape = node.output(0).shape
    axis = node.axis % len(shape)
    if isinstance(layout, Blocks):
        if axis != 1 or any(value.shape[1] % layout.size for value in node.input_values()[:-1]):
            return []
    elif layout != ROWS or math.prod(shape[:axis]) != 1:
        return []
    offsets, offset = [], 0
    for value in node.input_values():
        offsets.append((value, offset))
        offset += math.prod(layout.storage_shape(value.shape)) * value.element_type.size
    return offsets
