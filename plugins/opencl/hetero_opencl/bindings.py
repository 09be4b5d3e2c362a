"""Bindings: which memory of remote and shared tensors kernels work in, and what is copied because they cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyopencl as cl

from hetero.plugin import Region
from hetero.tensor import Tensor
from hetero_opencl.device import SLACK
from hetero_opencl.remote import OpenCLContext, OpenCLMemory

if TYPE_CHECKING:
    from hetero_opencl.program import Buffer, Program


@dataclass(frozen=True)
class Place:
    """A region of a memory, as a tensor had it when it was bound."""

    memory: OpenCLMemory
    buffer: cl.Buffer  # the memory's; it gets another one when it grows
    region: Region

    @classmethod
    def of(cls, tensor: Tensor, context: OpenCLContext) -> Place | None:
        """None for a tensor that is not in the context's memory."""
        return cls(tensor.memory, tensor.memory.buffer, tensor.region) if context.holds(tensor) else None

    def overlaps(self, other: Place) -> bool:
        return self.memory.overlaps(self.region, other.memory, other.region)

    def is_same(self, other: Place) -> bool:
        """Whether both have the same elements in the same bytes."""
        dense = self.region.is_continuous() and other.region.is_continuous()
        return dense and self.memory.extent(self.region) == other.memory.extent(other.region)

    def in_buffer(self) -> Region:
        return self.memory.place(self.region)


@dataclass
class Bindings:
    """The memory that kernels use for some buffers of a program, and the copies before and after them."""

    memory: dict[Buffer, cl.Buffer] = field(default_factory=dict)
    before: list[tuple[Buffer, Place]] = field(default_factory=list)
    after: list[tuple[Buffer, Place]] = field(default_factory=list)

    def bind_or_copy(self, copies: list[tuple[Buffer, Place]], buffer: Buffer, place: Place, slack: int | None) -> None:
        """Use the place's memory where it can be used with so much slack; note a copy where not, and for None."""
        memory = None if slack is None else place.memory.buffer_for(place.region, slack)
        if memory is None:
            copies.append((buffer, place))
        else:
            self.memory[buffer] = memory


Places = Sequence[Place | None]


def make_bindings(program: Program, inputs: Places, outputs: Places) -> Bindings:
    """Bind tensors in the device's memory, None where there is another, without a copy wherever that is right.

    An input is copied before where an output shares its memory, or kernels may read past its end. An output is copied
    after where another output shares its memory, or its value is an input, a constant or another output.
    """
    bindings = Bindings()
    given = {buffer: place for buffer, place in zip(program.inputs, inputs) if place is not None}
    taken = [(buffer, place) for buffer, place in zip(program.outputs, outputs) if place is not None]
    for buffer, place in given.items():
        # An input that is handed out as it came may be in the memory that it is handed out in.
        shared = [other for out, other in taken if not (out is buffer and place.is_same(other))]
        is_shared = any(place.overlaps(other) for other in shared)
        bindings.bind_or_copy(bindings.before, buffer, place, None if is_shared else SLACK)
    for index, (buffer, place) in enumerate(taken):
        if buffer in given and place.is_same(given[buffer]):
            continue
        is_shared = any(place.overlaps(other) for at, (_, other) in enumerate(taken) if at != index)
        has_memory = not buffer.is_planned or buffer in program.inputs or buffer in bindings.memory
        slack = SLACK if buffer in program.read_again else 0
        bindings.bind_or_copy(bindings.after, buffer, place, None if is_shared or has_memory else slack)
    return bindings
