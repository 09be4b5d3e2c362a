"""Bindings: decide which remote and shared tensors kernels use in place, and which are copied."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, cast

import pyopencl as cl

from hetero.core.tensor import Tensor
from hetero.plugin import Region, RemoteTensor, SharedTensor
from hetero_opencl.device.launch import SLACK
from hetero_opencl.execute.remote import OpenCLContext, OpenCLMemory

if TYPE_CHECKING:
    from hetero_opencl.device.launch import Buffer
    from hetero_opencl.lowering.program import KernelProgram


class DeviceRegion(NamedTuple):
    """The memory and region of a tensor when it was bound. ``buffer`` detects that the memory has grown since."""

    memory: OpenCLMemory
    buffer: cl.Buffer
    region: Region

    @classmethod
    def of(cls, tensor: Tensor, context: OpenCLContext) -> DeviceRegion | None:
        """Return the region of a tensor, or None if the tensor is not in the context's memory."""
        if not isinstance(tensor, (RemoteTensor, SharedTensor)) or not context.holds(tensor):
            return None
        memory = cast(OpenCLMemory, tensor.memory)
        return cls(memory, memory.buffer, tensor.region)

    def is_of(self, tensor: Tensor) -> bool:
        """Return whether this is still the region of a tensor."""
        is_there = getattr(tensor, "memory", None) is self.memory and self.memory.buffer is self.buffer
        return is_there and cast(RemoteTensor, tensor).region is self.region

    def has_grown_to(self, other: DeviceRegion) -> bool:
        """Return whether another one is at the same place, in as many bytes or others, and ends before the memory does.

        Kernels then have the same arguments for both, if no other tensor is in that memory.
        """
        return (
            other.memory is self.memory
            and other.buffer is self.buffer
            and other.region.offset == self.region.offset
            and other.region.byte_size + SLACK <= self.buffer.size
            and self.region.is_continuous()
            and other.region.is_continuous()
        )

    def is_same(self, other: DeviceRegion) -> bool:
        """Return whether both have the same elements in the same bytes."""
        dense = self.region.is_continuous() and other.region.is_continuous()
        return dense and self.extent() == other.extent()

    def extent(self) -> tuple[int, int, int]:
        """Return the handle of the root buffer, and the byte offsets in it of the region's start and end."""
        return self.memory.extent(self.region)

    def region_in_buffer(self) -> Region:
        """Return the region relative to the start of ``buffer``."""
        return self.memory.region_in_buffer(self.region)

    def dense(self) -> Region:
        """Return the region that the same elements have in a dense buffer of their own."""
        return Region.whole(self.region.dtype, self.region.shape)


@dataclass
class Bindings:
    """The memory of the bound buffers of a program, and the copies before and after its kernels.

    ``alone``: those of the inputs and outputs, by number, that share no memory with others that matter.
    """

    memory: dict[Buffer, cl.Buffer] = field(default_factory=dict)
    alone: set[int] = field(default_factory=set)
    copies_before: list[tuple[Buffer, DeviceRegion]] = field(default_factory=list)
    copies_after: list[tuple[Buffer, DeviceRegion]] = field(default_factory=list)

    def bind_or_copy(
        self, copies: list[tuple[Buffer, DeviceRegion]], buffer: Buffer, region: DeviceRegion, slack: int | None
    ) -> None:
        """Use the region's memory if it has ``slack`` bytes after it; else, or if ``slack`` is None, add a copy."""
        memory = None if slack is None else region.memory.buffer_for(region.region, slack)
        if memory is None:
            copies.append((buffer, region))
        else:
            self.memory[buffer] = memory


def make_bindings(
    program: KernelProgram, inputs: Sequence[DeviceRegion | None], outputs: Sequence[DeviceRegion | None]
) -> Bindings:
    """Bind the tensors in the device's memory without a copy wherever that is correct; None is a tensor elsewhere.

    An input is copied before the kernels if an output shares its memory, or if kernels may read past its end. An output
    is copied after the kernels if another output shares its memory, or its value is an input, a constant or another
    output.
    """
    bindings = Bindings()
    bound_inputs = {
        buffer: region
        for buffer, region in zip(program.inputs, inputs)
        if region is not None and buffer not in program.unread
    }
    bound_outputs = [(buffer, region) for buffer, region in zip(program.outputs, outputs) if region is not None]
    # The extents of the outputs by root buffer: most have one of their own, and there may be hundreds.
    extents: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for index, (_, region) in enumerate(bound_outputs):
        handle, begin, end = region.extent()
        extents[handle].append((begin, end, index))
    for buffer, region in bound_inputs.items():
        others = [bound_outputs[index] for index in _overlapping(region, extents)]
        # An output that is this input unchanged may use the same memory.
        is_shared = not all(out is buffer and region.is_same(other) for out, other in others)
        bindings.bind_or_copy(bindings.copies_before, buffer, region, None if is_shared else SLACK)
    for index, (buffer, region) in enumerate(bound_outputs):
        if buffer in bound_inputs and region.is_same(bound_inputs[buffer]):
            continue
        is_shared = any(other != index for other in _overlapping(region, extents))
        has_memory = not buffer.is_planned or buffer in program.inputs or buffer in bindings.memory
        has_memory = has_memory or buffer in program.shared
        slack = SLACK if buffer in program.read_again else 0
        bindings.bind_or_copy(bindings.copies_after, buffer, region, None if is_shared or has_memory else slack)
    # An output that is an input has its buffer, but a copy for the shape at hand.
    copied = {id(region) for _, region in (*bindings.copies_before, *bindings.copies_after)}
    users = Counter(region.extent()[0] for region in (*bound_inputs.values(), *(region for _, region in bound_outputs)))
    for number, (buffer, place) in enumerate(zip((*program.inputs, *program.outputs), (*inputs, *outputs))):
        is_unread = number < len(inputs) and buffer not in bound_inputs
        is_bound = buffer in bindings.memory and id(place) not in copied
        if place and (is_unread or (is_bound and users[place.extent()[0]] == 1)):
            bindings.alone.add(number)
    return bindings


def _overlapping(region: DeviceRegion, extents: Mapping[int, Sequence[tuple[int, int, int]]]) -> list[int]:
    """Return the indices of the extents that share bytes with a region."""
    handle, begin, end = region.extent()
    return [index for first, last, index in extents.get(handle, ()) if begin < last and first < end]
