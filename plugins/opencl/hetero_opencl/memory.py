"""The memory plan: buffers that are never needed at the same time share a slot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hetero_opencl.program import Buffer


def plan_memory(
    uses: Sequence[Sequence[Buffer]], inputs: Sequence[Buffer], outputs: Sequence[Buffer]
) -> tuple[dict[Buffer, int], list[int]]:
    """The slot of each buffer that is neither a constant nor a variable's, and the bytes of each slot.

    ``uses`` has the buffers of each launch, in order. Inputs are held from the start, outputs to the end. A buffer
    takes the free slot that fits it best, or the largest one, which then grows.
    """
    last_use = {buffer: index for index, buffers in enumerate(uses) for buffer in buffers}
    last_use.update((buffer, len(uses)) for buffer in outputs)
    slot_of: dict[Buffer, int] = {}
    sizes: list[int] = []
    free: set[int] = set()

    def take(buffer: Buffer) -> None:
        fitting = [slot for slot in free if sizes[slot] >= buffer.byte_size]
        if fitting:
            slot = min(fitting, key=sizes.__getitem__)
        elif free:
            slot = max(free, key=sizes.__getitem__)
            sizes[slot] = buffer.byte_size
        else:
            slot = len(sizes)
            sizes.append(buffer.byte_size)
        free.discard(slot)
        slot_of[buffer] = slot

    for buffer in inputs:
        if buffer not in slot_of:
            take(buffer)
    for index, buffers in enumerate([*uses, outputs]):
        for buffer in buffers:
            if buffer.is_planned and buffer not in slot_of:
                take(buffer)
        free.update(slot_of[b] for b in set(buffers) if b.is_planned and last_use[b] == index < len(uses))
    return slot_of, sizes
