"""Sequences and optional values: 0-D object arrays that contain a list, an array or None."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.containers import OptionalType, box
from hetero.reference.registry import Array, evaluates


@evaluates(ops.SequenceConstruct)
def sequence_construct(node: ops.SequenceConstruct, *arrays: Array) -> Array:
    return box(list(arrays))


@evaluates(ops.SequenceEmpty)
def sequence_empty(node: ops.SequenceEmpty) -> Array:
    return box([])


@evaluates(ops.SequenceInsert)
def sequence_insert(node: ops.SequenceInsert, sequence: Array, tensor: Array, position: Array | None = None) -> Array:
    items = sequence.item()
    index = len(items) if position is None else _checked(position, len(items), len(items) + 1)
    return box([*items[:index], tensor, *items[index:]])


@evaluates(ops.SequenceErase)
def sequence_erase(node: ops.SequenceErase, sequence: Array, position: Array | None = None) -> Array:
    items = sequence.item()
    index = _checked(np.array(-1) if position is None else position, len(items), len(items))
    return box(items[:index] + items[index + 1 :])


@evaluates(ops.SequenceAt)
def sequence_at(node: ops.SequenceAt, sequence: Array, position: Array) -> Array:
    items = sequence.item()
    return items[_checked(position, len(items), len(items))]


@evaluates(ops.SequenceLength)
def sequence_length(node: ops.SequenceLength, sequence: Array) -> Array:
    return np.array(len(sequence.item()), np.int64)


@evaluates(ops.SplitToSequence)
def split_to_sequence(node: ops.SplitToSequence, data: Array, split: Array | None = None) -> Array:
    axis = node.axis % data.ndim
    length = data.shape[axis]
    if split is None:
        parts = np.split(data, length, axis) if length else []
        return box(parts if node.keep_dims else [np.squeeze(part, axis) for part in parts])
    if split.ndim and int(split.sum()) != length:
        raise ValueError(f"split {split.tolist()} does not add up to the length {length}")
    if not split.ndim and int(split) < 1:
        raise ValueError(f"split must be positive, but is {int(split)}")
    ends = np.cumsum(split)[:-1] if split.ndim else range(int(split), length, int(split))
    return box(np.split(data, list(ends), axis))


@evaluates(ops.ConcatFromSequence)
def concat_from_sequence(node: ops.ConcatFromSequence, sequence: Array) -> Array:
    items = sequence.item()
    return np.stack(items, node.axis) if node.new_axis else np.concatenate(items, node.axis)


@evaluates(ops.Optional)
def optional(node: ops.Optional, value: Array | None = None) -> Array:
    return box(None if value is None else value.item() if value.dtype == object and value.ndim == 0 else value)


@evaluates(ops.OptionalHasElement)
def optional_has_element(node: ops.OptionalHasElement, value: Array | None = None) -> Array:
    if value is not None and isinstance(node.get_input_element_type(0), OptionalType):
        return np.array(value.item() is not None)
    return np.array(value is not None)


@evaluates(ops.OptionalGetElement)
def optional_get_element(node: ops.OptionalGetElement, value: Array) -> Array:
    if not isinstance(node.get_input_element_type(0), OptionalType):
        return value
    element = value.item()
    if element is None:
        raise ValueError("the optional holds nothing")
    return box(element) if isinstance(element, list) else element


def _checked(array: Array, count: int, end: int) -> int:
    """Return the non-negative position in an array of one element. Raises ValueError if it is not below ``end``."""
    position = array.item()
    index = position + count if position < 0 else position
    if not 0 <= index < end:
        raise ValueError(f"position {position} is out of range for a sequence of {count}")
    return index
