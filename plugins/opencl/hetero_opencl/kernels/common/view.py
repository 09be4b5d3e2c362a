"""Views: places of elements in a buffer by shape and strides, as those of numpy's arrays, but with Lengths too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from hetero.core.shape import PartialShape
from hetero.graph import Output
from hetero.ops.movement.slicing import length_of_slice


@dataclass(frozen=True)
class View:
    """Elements of ``itemsize`` bytes in a buffer. ``strides`` and ``offset``, that of the first one, are in bytes.

    Methods and properties are those of numpy's arrays, as far as kernels need them. None reads elements.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    itemsize: int

    @classmethod
    def dense(cls, shape: Sequence[int], itemsize: int) -> View:
        """Return a view of a buffer of row-major elements."""
        strides = [itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        return cls(tuple(shape), tuple(strides), 0, itemsize)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def is_dense(self) -> bool:
        """Whether the elements are in row-major order, without gaps."""
        stride = self.itemsize
        for length, own in zip(reversed(self.shape), reversed(self.strides)):
            if length != 1:
                if own != stride:
                    return False
                stride *= length
        return True

    def transpose(self, *order: int) -> View:
        """Return the view with its axes in another order."""
        return self._of([self.shape[axis] for axis in order], [self.strides[axis] for axis in order])

    def swapaxes(self, a: int, b: int) -> View:
        order = list(range(self.ndim))
        order[a], order[b] = b, a
        return self.transpose(*order)

    def reshape(self, *shape: int) -> View:
        """Return a dense view in another shape of as many elements."""
        assert self.is_dense, self
        return self._of(shape, View.dense(shape, self.itemsize).strides)

    def broadcast_to(self, shape: Sequence[int]) -> View:
        """Return the view with lengths of 1 repeated, and axes added in front."""
        added = len(shape) - self.ndim
        strides = [0 if own == 1 else stride for own, stride in zip(self.shape, self.strides)]
        return self._of(shape, [*[0] * added, *strides])

    def flip(self, axes: Sequence[int]) -> View:
        """Return the view with these axes reversed."""
        return self[tuple(slice(None, None, -1) if axis in axes else slice(None) for axis in range(self.ndim))]

    def __getitem__(self, index: tuple[slice | int | None, ...]) -> View:
        """Return a part, as numpy does; there is no Ellipsis, and negative numbers only in slices."""
        shape: list[int] = []
        strides: list[int] = []
        offset, axes = self.offset, iter(zip(self.shape, self.strides))
        for item in index:
            if item is None:
                shape.append(1)
                strides.append(0)
                continue
            length, stride = next(axes)
            if not isinstance(item, slice):
                offset += item * stride
                continue
            begin, count, step = _places(length, item)
            offset += begin * stride if count != 0 else 0
            shape.append(count)
            strides.append(stride * step)
        rest = list(axes)
        return View((*shape, *(a for a, _ in rest)), (*strides, *(b for _, b in rest)), offset, self.itemsize)

    def _of(self, shape: Sequence[int], strides: Sequence[int]) -> Self:
        return type(self)(tuple(shape), tuple(strides), self.offset, self.itemsize)


def _places(length: int, part: slice) -> tuple[int, int, int]:
    """Return the first index that a slice of an axis selects, how many it does, and the step."""
    step: Any = 1 if part.step is None else part.step
    start: Any = part.start
    if start is None:
        start = 0 if step > 0 else -1
    if part.stop is None:
        count = length if step == 1 and part.start is None else _to_the_end(length, start, step)
    else:
        count = length_of_slice(length, start, part.stop, step)
    begin = start + length if start < 0 else start
    if begin < 0:
        begin = 0
    if begin >= length:
        begin = length - 1
    return begin, count, step


def _to_the_end(length: int, start: int, step: int) -> int:
    return length_of_slice(length, start, length if step > 0 else -length - 1, step)


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of a broadcast, as numpy's function does. Raises GraphError if shapes do not fit."""
    result = PartialShape([])
    for shape in shapes:
        result = result.broadcast(PartialShape(shape))
    return tuple(result.to_shape())


def view_of(value: Output) -> View:
    """Return a view of all elements of a value in rows."""
    return View.dense(value.shape, value.element_type.size)
