"""Concatenations without copies: inputs that are written to where they are in the output."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hetero import ops
from hetero.core.lengths.length import is_multiple
from hetero.graph import Node, Output, Result
from hetero_opencl.lowering.implementation import ROWS, Blocks, Choice, KernelOperation, Layout


class ConcatPart(NamedTuple):
    """The value that another one is a part of, and the part's offset in bytes."""

    whole: Output
    offset: int


def find_concat_parts(
    operations: Iterable[KernelOperation], chosen: Mapping[Node, Choice], alignment: int
) -> dict[Output, ConcatPart]:
    """Return the values that can be written as parts of a Concat; offsets are multiples of ``alignment``.

    Only values that operations compute and that are not results: those of others are in the memory of tensors.
    """
    parts: dict[Output, ConcatPart] = {}
    for operation in operations:
        node = operation.node
        if not isinstance(node, ops.Concat) or _is_result(node.output(0)):
            continue
        layout = chosen[node].signature.output
        for value, offset in _offsets(node, layout):
            written = chosen.get(value.node)
            if written is None or written.signature.output != layout or _is_result(value):
                continue
            if value not in parts and is_multiple(offset, alignment) and node.input_values().count(value) == 1:
                parts[value] = ConcatPart(node.output(0), offset)
    return parts


def _is_result(value: Output) -> bool:
    return any(isinstance(target.node, Result) for target in value.get_target_inputs())


def _offsets(node: ops.Concat, layout: Layout) -> list[tuple[Output, int]]:
    """Return the inputs that are contiguous in the output, with their offsets in it."""
    shape = node.output(0).shape
    axis = node.axis % len(shape)
    if axis != 1 if isinstance(layout, Blocks) else layout != ROWS or math.prod(shape[:axis]) != 1:
        return []
    offsets, first = [], 0
    for value in node.input_values():
        # Padding may overwrite channels of the next input, which is then copied to its place later.
        if not isinstance(layout, Blocks) or first % layout.size == 0:
            before = math.prod(layout.storage_shape([*shape[:axis], first, *shape[axis + 1 :]])) if first else 0
            offsets.append((value, before * value.element_type.size))
        first += value.shape[axis]
    return offsets
