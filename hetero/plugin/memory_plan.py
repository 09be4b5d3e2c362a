"""Memory planning: buffers whose lifetimes do not overlap share a slot."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

Buffer = TypeVar("Buffer", bound=Hashable)


def plan_memory(
    uses: Sequence[Sequence[Buffer]], byte_size: Callable[[Buffer], int]
) -> tuple[dict[Buffer, int], list[int]]:
    """Return the slot of each buffer, and the size of each slot in bytes.

    ``uses`` lists the buffers in use at each point in time. A buffer gets the best-fitting free slot, or if none is
    large enough the largest free slot, which grows.
    """
    last_use = {buffer: index for index, buffers in enumerate(uses) for buffer in buffers}
    slot_of: dict[Buffer, int] = {}
    sizes: list[int] = []
    free: set[int] = set()

    def take(buffer: Buffer) -> None:
        size = byte_size(buffer)
        fitting = [slot for slot in free if sizes[slot] >= size]
        if fitting:
            slot = min(fitting, key=sizes.__getitem__)
        elif free:
            slot = max(free, key=sizes.__getitem__)
            sizes[slot] = size
        else:
            slot = len(sizes)
            sizes.append(size)
        free.discard(slot)
        slot_of[buffer] = slot

    for index, buffers in enumerate(uses):
        for buffer in buffers:
            if buffer not in slot_of:
                take(buffer)
        free.update(slot_of[buffer] for buffer in buffers if last_use[buffer] == index)
    return slot_of, sizes
