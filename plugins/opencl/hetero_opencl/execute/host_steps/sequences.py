"""ONNX sequences and optionals: Python lists on the host that hold device tensors.

A tensor of a ContainerType is an object array of no dimensions that holds a list, None or a tensor. Tensors are copied
when they enter a sequence, as programs overwrite their output buffers in later runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.containers import ContainerType, OptionalType
from hetero.core.tensor import Tensor
from hetero_opencl.device.transfers import on_host
from hetero_opencl.execute.host_steps.step import HostStep
from hetero_opencl.kernels.common.definition import runs_on_host


def content(tensor: Tensor) -> Any:
    """Return the list, None or tensor in a tensor of a ContainerType."""
    return tensor.array[()]


def _wrap(step: HostStep[Any], content: Any) -> list[Tensor]:
    tensor = Tensor(step.node.get_output_element_type(0), [])
    tensor.array[()] = content
    return [tensor]


@runs_on_host(ops.SequenceConstruct)
def sequence_construct(step: HostStep[ops.SequenceConstruct], tensors: Sequence[Tensor]) -> list[Tensor]:
    return _wrap(step, [step.copy(tensor) for tensor in tensors])


@runs_on_host(ops.SequenceEmpty)
def sequence_empty(step: HostStep[ops.SequenceEmpty], tensors: Sequence[Tensor]) -> list[Tensor]:
    return _wrap(step, [])


@runs_on_host(ops.SequenceInsert)
def sequence_insert(step: HostStep[ops.SequenceInsert], tensors: Sequence[Tensor]) -> list[Tensor]:
    items = content(tensors[0])
    at = _position(step, tensors[2], len(items), len(items) + 1) if len(tensors) > 2 else len(items)
    return _wrap(step, [*items[:at], step.copy(tensors[1]), *items[at:]])


@runs_on_host(ops.SequenceErase)
def sequence_erase(step: HostStep[ops.SequenceErase], tensors: Sequence[Tensor]) -> list[Tensor]:
    items = content(tensors[0])
    at = _position(step, tensors[1] if len(tensors) > 1 else Tensor(np.array(-1)), len(items), len(items))
    return _wrap(step, items[:at] + items[at + 1 :])


@runs_on_host(ops.SequenceAt)
def sequence_at(step: HostStep[ops.SequenceAt], tensors: Sequence[Tensor]) -> list[Tensor]:
    items = content(tensors[0])
    return [step.as_tensor(items[_position(step, tensors[1], len(items), len(items))])]


@runs_on_host(ops.SequenceLength)
def sequence_length(step: HostStep[ops.SequenceLength], tensors: Sequence[Tensor]) -> list[Tensor]:
    return [Tensor(np.array(len(content(tensors[0])), np.int64))]


@runs_on_host(ops.SplitToSequence)
def split_to_sequence(step: HostStep[ops.SplitToSequence], tensors: Sequence[Tensor]) -> list[Tensor]:
    data, node = step.on_device(0, tensors[0]), step.node
    axis = node.axis % len(data.shape)
    length = data.shape[axis]
    split = on_host(tensors[1]) if len(tensors) > 1 else np.array(1)
    if split.ndim and int(split.sum()) != length:
        step.fail(f"split {split.tolist()} does not add up to the length {length}")
    if not split.ndim and int(split) < 1:
        step.fail(f"split must be positive, but is {int(split)}")
    ends = np.cumsum(split).tolist() if split.ndim else [*range(int(split), length, int(split)), length]
    spans = pairwise([0, *ends]) if length or split.ndim else ()
    parts = [step.copy(step.part(data, axis, begin, end)) for begin, end in spans]
    if len(tensors) == 1 and not node.keep_dims:
        parts = [step.in_shape(part, [*part.shape[:axis], *part.shape[axis + 1 :]]) for part in parts]
    return _wrap(step, parts)


@runs_on_host(ops.ConcatFromSequence)
def concat_from_sequence(step: HostStep[ops.ConcatFromSequence], tensors: Sequence[Tensor]) -> list[Tensor]:
    items, node = [step.as_tensor(item) for item in content(tensors[0])], step.node
    if not items:
        step.fail("cannot concatenate an empty sequence")
    axis = node.axis % (len(items[0].shape) + node.new_axis)
    return [step.join(items, axis, node.new_axis)]


@runs_on_host(ops.Optional)
def optional(step: HostStep[ops.Optional], tensors: Sequence[Tensor]) -> list[Tensor]:
    if not tensors:
        return _wrap(step, None)
    (tensor,) = tensors
    is_container = isinstance(tensor.element_type, ContainerType)
    return _wrap(step, content(tensor) if is_container else step.copy(tensor))


@runs_on_host(ops.OptionalHasElement)
def optional_has_element(step: HostStep[ops.OptionalHasElement], tensors: Sequence[Tensor]) -> list[Tensor]:
    has_element = bool(tensors)
    if has_element and isinstance(step.node.get_input_element_type(0), OptionalType):
        has_element = content(tensors[0]) is not None
    return [Tensor(np.array(has_element))]


@runs_on_host(ops.OptionalGetElement)
def optional_get_element(step: HostStep[ops.OptionalGetElement], tensors: Sequence[Tensor]) -> list[Tensor]:
    (tensor,) = tensors
    if not isinstance(step.node.get_input_element_type(0), OptionalType):
        return [tensor]
    element = content(tensor)
    if element is None:
        step.fail("the optional holds nothing")
    return _wrap(step, element) if isinstance(element, list) else [step.as_tensor(element)]


def _position(step: HostStep[Any], tensor: Tensor, count: int, end: int) -> int:
    """Return the position in a one-element tensor, counted from the front. Fails unless it is below ``end``."""
    position = on_host(tensor).item()
    from_front = position + count if position < 0 else position
    if not 0 <= from_front < end:
        step.fail(f"position {position} is out of range for a sequence of {count}")
    return from_front
