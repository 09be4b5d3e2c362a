"""Sliding windows along axes: strides, padding and positions of convolution and pooling, also used by devices.

The formulas are those of OpenVINO's Convolution-1 and MaxPool-8: the extent of a window is
``(kernel - 1) * dilation + 1``, and it fits ``(length + pads - extent) / stride + 1`` times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hetero.core.shape import MAX_RANK, Dimension
from hetero.graph import Op, choice

auto_pad_choice = choice("explicit", "same_upper", "same_lower", "valid")
rounding_choice = choice("floor", "ceil")
# "ceil_torch" drops a last window that would start after the end of the data.
torch_rounding_choice = choice("floor", "ceil", "ceil_torch")


class WindowOp(Op):
    """Base of operations with sliding windows.

    - ``strides``: the distance between two positions of the window on each spatial axis; if empty, 1 everywhere.
    - ``pads_begin``, ``pads_end``: the number of elements of padding before and after the data on each spatial axis, if
      auto_pad is explicit; if empty, 0 everywhere.
    - ``dilations``: the spacing of the elements of the window on each spatial axis; if empty, 1 everywhere.
    - ``auto_pad``: how much padding there is. explicit takes the attributes for it, valid has none. same_upper and
      same_lower pad such that there are ``length / stride`` positions, rounded up; an odd element is at the end or at
      the start.
    """

    strides: Any
    pads_begin: Any
    pads_end: Any
    dilations: Any
    auto_pad: Any


def extent(kernel: Dimension | int, dilation: int) -> Dimension:
    """Return the length that a dilated window covers."""
    return (Dimension.of(kernel) - 1) * dilation + 1


def complete_window_attributes(node: Op, count: int, *names: str) -> None:
    """Set missing (None or empty) attributes to their defaults for ``count`` spatial axes, and check the others."""
    if count > MAX_RANK:
        node.fail(f"it has {count} spatial dimensions; the largest number is {MAX_RANK}")
    for name in names:
        values = getattr(node, name)
        if not values:
            values = (0 if name.startswith(("pads", "output_padding")) else 1,) * count
            setattr(node, name, values)
        if len(values) != count:
            node.fail(f"{name} has {len(values)} values for {count} spatial dimensions")
        if name in ("strides", "dilations") and min(values, default=1) < 1:
            node.fail(f"{name} must be positive, but are {list(values)}")


def window_positions(
    node: WindowOp,
    lengths: Iterable[Dimension],
    kernel: Iterable[Dimension | int],
    dilations: Sequence[int],
    rounding: str = "floor",
) -> list[Dimension]:
    """Return the number of window positions on each axis for the node's strides, pads and auto_pad.

    Raises GraphError if a window is longer than the padded axis.
    """
    return [
        _positions(node, axis, length, extent(size, dilation), rounding)
        for axis, (length, size, dilation) in enumerate(zip(lengths, kernel, dilations))
    ]


def _positions(node: WindowOp, axis: int, length: Dimension, window: Dimension, rounding: str) -> Dimension:
    stride = node.strides[axis]
    if node.auto_pad.startswith("same"):
        return (length + (stride - 1)) // stride
    begin, end = (0, 0) if node.auto_pad == "valid" else (node.pads_begin[axis], node.pads_end[axis])
    padded = length + (begin + end)
    if padded.max_length != -1 and padded.max_length < window.min_length:
        node.fail(
            f"the window covers {window} elements, more than the {padded} of spatial axis {axis} with its padding"
        )
    count = (padded - window + (0 if rounding == "floor" else stride - 1)) // stride + 1
    if rounding != "ceil_torch":
        return count
    limit = (length + (begin + stride - 1)) // stride  # windows that start before the end of the data
    # Both have an upper bound, or neither does.
    return Dimension(min(count.min_length, limit.min_length), min(count.max_length, limit.max_length))


def resolve_pads(
    node: WindowOp, lengths: Sequence[int], kernel: Sequence[int], dilations: Sequence[int] | None = None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the padding before and after the data on each axis, resolving the node's auto_pad for these lengths.

    ``dilations``: by default the node's attribute.
    """
    if node.auto_pad == "valid":
        return (0,) * len(lengths), (0,) * len(lengths)
    if not node.auto_pad.startswith("same"):
        return node.pads_begin, node.pads_end
    begin, end = [], []
    for length, size, stride, dilation in zip(lengths, kernel, node.strides, dilations or node.dilations):
        positions = -(-length // stride)
        total = max((positions - 1) * stride + (size - 1) * dilation + 1 - length, 0)
        small, large = total // 2, total - total // 2
        begin.append(small if node.auto_pad == "same_upper" else large)
        end.append(large if node.auto_pad == "same_upper" else small)
    return tuple(begin), tuple(end)


def overlapping_elements(length: int, count: int, size: int, stride: int, dilation: int, begin: int) -> range:
    """Return the indices of the window elements along an axis that overlap data of ``length`` at some position.

    The window of ``size`` elements has ``count`` positions; ``begin`` is the padding before the data. All other
    elements overlap only padding.
    """
    first = max(0, -(((count - 1) * stride - begin) // dilation))
    return range(first, min(size, (begin + length - 1) // dilation + 1))
