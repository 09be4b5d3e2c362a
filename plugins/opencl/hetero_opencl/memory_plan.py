"""Memory plans: where in an arena each buffer lies, so that those that live at the same time never share bytes.

Buffers take their slots by size, the largest first, each in the smallest gap that fits: "greedy by size for offset
calculation" of Y. Pisarchyk and J. Lee, Efficient Memory Management for Deep Neural Net Inference, 2020,
https://arxiv.org/abs/2001.03288. Where much is left over in the end, the buffer that lies highest goes first the next
time, and so on: "squeaky wheel" optimization, D. Joslin and D. Clements, 1999.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import numpy as np

Buffer = TypeVar("Buffer", bound=Hashable)

# No better plan is looked for where all arenas are at most so many times the largest live set, nor after so many tries
# from one order, nor after so many buffers were placed, which takes a second.
ENOUGH, MOST_TRIES, MOST_PLACED = 1.1, 12, 20_000


class Lifetime(NamedTuple):
    """A buffer's size in bytes, and the first and the last launch between which its contents count, both included."""

    byte_size: int
    first: int
    last: int


class Slot(NamedTuple):
    """Where a buffer lies: the number of its arena, and the bytes in that, rounded up to the device's alignment."""

    arena: int
    offset: int
    byte_size: int


@dataclass(frozen=True)
class MemoryPlan(Generic[Buffer]):
    """The slot of each buffer, the bytes of each arena, and the most bytes that live at once, all of them aligned."""

    lifetimes: Mapping[Buffer, Lifetime] = field(default_factory=dict)
    slots: Mapping[Buffer, Slot] = field(default_factory=dict)
    arenas: tuple[int, ...] = ()
    largest_live_set: int = 0

    @property
    def byte_size(self) -> int:
        return sum(self.arenas)


def plan_arenas(lifetimes: Mapping[Buffer, Lifetime], alignment: int, most: int) -> MemoryPlan[Buffer]:
    """A plan for buffers that begin at multiples of ``alignment``, in arenas of at most so many bytes.

    There is one arena unless that would take more bytes; a buffer of more makes one that is as large as itself.
    """
    sizes = {buffer: max(1, -(-life.byte_size // alignment)) * alignment for buffer, life in lifetimes.items()}
    live = _largest_live_set(lifetimes, sizes)
    plans = (
        MemoryPlan(lifetimes, slots, arenas, live)
        for begin in (lambda buffer: (-sizes[buffer], lifetimes[buffer].first), lambda buffer: lifetimes[buffer].first)
        for slots, arenas in _tries(sorted(lifetimes, key=begin), lifetimes, sizes, most)
    )
    best = None
    for plan in plans:
        if best is None or plan.byte_size < best.byte_size:
            best = plan
        if best.byte_size <= ENOUGH * live:
            break
    return best


def _tries(
    order: list[Buffer], lifetimes: Mapping[Buffer, Lifetime], sizes: Mapping[Buffer, int], most: int
) -> Iterator[tuple[dict[Buffer, Slot], tuple[int, ...]]]:
    """Slots and arenas that come of taking buffers in this order, and of some more orders."""
    for _ in range(max(1, min(MOST_TRIES, MOST_PLACED // max(1, len(order))))):
        placed = _Placed(len(order))
        slots = {buffer: placed.place(sizes[buffer], lifetimes[buffer], most) for buffer in order}
        yield slots, tuple(placed.arenas)
        highest = max(order, key=lambda buffer: slots[buffer].offset + slots[buffer].byte_size)
        order = [highest, *(buffer for buffer in order if buffer is not highest)]


class _Placed:
    """The buffers that have a place. Arrays make the search of thousands of them fast enough."""

    def __init__(self, count: int) -> None:
        self.arenas: list[int] = []
        self._count = 0
        self._first, self._last, self._arena, self._begin, self._end = np.zeros((5, count), np.int64)

    def place(self, size: int, life: Lifetime, most: int) -> Slot:
        """Give a buffer its place: in the first arena that has room for it, or in a new one."""
        placed = slice(self._count)
        living = np.flatnonzero((self._first[placed] <= life.last) & (self._last[placed] >= life.first))
        for arena in range(len(self.arenas)):
            here = living[self._arena[living] == arena]
            offset = _smallest_gap(self._begin[here], self._end[here], size)
            if offset + size <= most:
                break
        else:
            arena, offset = len(self.arenas), 0
            self.arenas.append(0)
        self.arenas[arena] = max(self.arenas[arena], offset + size)
        row = self._count
        self._first[row], self._last[row], self._arena[row] = life.first, life.last, arena
        self._begin[row], self._end[row] = offset, offset + size
        self._count += 1
        return Slot(arena, offset, size)


def _smallest_gap(begins: np.ndarray, ends: np.ndarray, size: int) -> int:
    """Where the smallest gap of at least ``size`` begins; behind everything where there is none."""
    order = np.argsort(begins)
    reached = np.maximum.accumulate(np.concatenate([[0], ends[order]]))
    gaps = begins[order] - reached[:-1]
    fitting = np.flatnonzero(gaps >= size)
    return int(reached[fitting[np.argmin(gaps[fitting])]] if fitting.size else reached[-1])


def _largest_live_set(lifetimes: Mapping[Buffer, Lifetime], sizes: Mapping[Buffer, int]) -> int:
    """The most bytes that live at the same launch."""
    changes: dict[int, int] = {}
    for buffer, life in lifetimes.items():
        changes[life.first] = changes.get(life.first, 0) + sizes[buffer]
        changes[life.last + 1] = changes.get(life.last + 1, 0) - sizes[buffer]
    live = np.cumsum([changes[time] for time in sorted(changes)])
    return int(live.max(initial=0))
