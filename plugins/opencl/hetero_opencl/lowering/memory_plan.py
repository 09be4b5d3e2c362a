"""Memory planning: offsets of buffers in an arena, such that buffers that are live at the same time do not overlap.

Buffers are placed by size, the largest first, each in the smallest gap that fits: "greedy by size for offset
calculation" of Y. Pisarchyk and J. Lee, Efficient Memory Management for Deep Neural Net Inference, 2020,
https://arxiv.org/abs/2001.03288. If the plan wastes much memory, it is made again with the buffer that ends highest
moved to the front of the order: "squeaky wheel" optimization, D. Joslin and D. Clements, 1999.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Generic, NamedTuple, TypeVar

Buffer = TypeVar("Buffer", bound=Hashable)

# The search for a better plan ends when all arenas together are at most this many times the largest live set.
GOOD_RATIO = 1.1
# Limits of the search per initial order: tries, and buffers placed in all tries together, which takes a second.
MAX_TRIES, MAX_PLACED = 12, 20_000


class Lifetime(NamedTuple):
    """The size in bytes of a buffer, and the first and the last launch (inclusive) during which it is live."""

    byte_size: int
    first: int
    last: int


class Slot(NamedTuple):
    """The location of a buffer: the index of its arena, and its offset and size in bytes, both aligned."""

    arena: int
    offset: int
    byte_size: int


@dataclass(frozen=True)
class MemoryPlan(Generic[Buffer]):
    """The slot of each buffer, the byte size of each arena, and the maximum number of bytes live at the same time."""

    lifetimes: Mapping[Buffer, Lifetime] = field(default_factory=dict)
    slots: Mapping[Buffer, Slot] = field(default_factory=dict)
    arenas: tuple[int, ...] = ()
    largest_live_set: int = 0

    @property
    def byte_size(self) -> int:
        return sum(self.arenas)


def plan_arenas(
    lifetimes: Mapping[Buffer, Lifetime], alignment: int, arena_limit: int, like: MemoryPlan[Buffer] | None = None
) -> MemoryPlan[Buffer]:
    """Place buffers at multiples of ``alignment`` in arenas of at most ``arena_limit`` bytes.

    There is a single arena unless it would exceed the limit. A buffer larger than the limit gets an arena of its own
    size. ``like``: a plan of these buffers in other sizes, which saves the search for a good order.
    """
    sizes = {buffer: max(1, -(-life.byte_size // alignment)) * alignment for buffer, life in lifetimes.items()}
    live = _largest_live_set(lifetimes, sizes)
    if like is not None:
        slots, arenas = next(_tries(list(like.slots), lifetimes, sizes, arena_limit))
        if sum(arenas) <= GOOD_RATIO * live:
            return MemoryPlan(lifetimes, slots, arenas, live)
    by_size = sorted(lifetimes, key=lambda buffer: (-sizes[buffer], lifetimes[buffer].first))
    by_time = sorted(lifetimes, key=lambda buffer: lifetimes[buffer].first)
    plans = (
        MemoryPlan(lifetimes, slots, arenas, live)
        for order in (by_size, by_time)
        for slots, arenas in _tries(order, lifetimes, sizes, arena_limit)
    )
    best = next(plans)
    while best.byte_size > GOOD_RATIO * live and (plan := next(plans, None)):
        best = min(best, plan, key=lambda plan: plan.byte_size)
    return best


def _tries(
    order: list[Buffer], lifetimes: Mapping[Buffer, Lifetime], sizes: Mapping[Buffer, int], arena_limit: int
) -> Iterator[tuple[dict[Buffer, Slot], tuple[int, ...]]]:
    """Yield the slots and the arena sizes for this order of placing buffers, and for variations of it."""
    for _ in range(max(1, min(MAX_TRIES, MAX_PLACED // max(1, len(order))))):
        placed = _PlacedBuffers()
        slots = {buffer: placed.place(sizes[buffer], lifetimes[buffer], arena_limit) for buffer in order}
        yield slots, tuple(placed.arenas)
        highest = max(order, key=lambda buffer: slots[buffer].offset + slots[buffer].byte_size)
        order = [highest, *(buffer for buffer in order if buffer is not highest)]


class _PlacedBuffers:
    """The buffers placed so far, by each launch during which they are live: most are for a few only."""

    def __init__(self) -> None:
        self.arenas: list[int] = []
        self._live: defaultdict[int, list[Slot]] = defaultdict(list)

    def place(self, size: int, life: Lifetime, arena_limit: int) -> Slot:
        """Place a buffer in the first arena that has room for it, or in a new one."""
        times = range(life.first, life.last + 1)
        live = sorted({slot for time in times if time in self._live for slot in self._live[time]})
        for arena in range(len(self.arenas)):
            offset = _smallest_gap([slot for slot in live if slot.arena == arena], size)
            if offset + size <= arena_limit:
                break
        else:
            arena, offset = len(self.arenas), 0
            self.arenas.append(0)
        self.arenas[arena] = max(self.arenas[arena], offset + size)
        slot = Slot(arena, offset, size)
        for time in times:
            self._live[time].append(slot)
        return slot


def _smallest_gap(slots: list[Slot], size: int) -> int:
    """Return the offset of the smallest gap of at least ``size``, or the end of all slots, which are in order."""
    gaps: list[tuple[int, int]] = []
    end = 0
    for _, offset, length in slots:
        if offset - end >= size:
            gaps.append((offset - end, end))
        end = max(end, offset + length)
    return min(gaps)[1] if gaps else end


def _largest_live_set(lifetimes: Mapping[Buffer, Lifetime], sizes: Mapping[Buffer, int]) -> int:
    """Return the maximum number of bytes that are live at the same launch."""
    changes: Counter[int] = Counter()
    for buffer, life in lifetimes.items():
        changes[life.first] += sizes[buffer]
        changes[life.last + 1] -= sizes[buffer]
    return max(accumulate(changes[time] for time in sorted(changes)), default=0)
