"""Context of an operation that the host runs: its bodies, and copies in device memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar, cast

import numpy as np

from hetero.core.tensor import Tensor
from hetero.graph import Node, is_constant
from hetero.plugin import Region, RemoteTensor
from hetero.system.errors import DeviceError
from hetero_opencl.device.device import opencl_errors
from hetero_opencl.device.transfers import copy_region, finish
from hetero_opencl.execute.remote import OpenCLContext, OpenCLMemory

if TYPE_CHECKING:
    from hetero_opencl.execute.bound_model import BoundModel

AnyNode = TypeVar("AnyNode", bound=Node, covariant=True)


class HostStep(Generic[AnyNode]):
    """A node that the host runs in one request, with the bodies bound for that request."""

    def __init__(self, node: AnyNode, bodies: Sequence[BoundModel], context: OpenCLContext) -> None:
        self.node, self.bodies, self.context = node, bodies, context
        self._copies: dict[int, RemoteTensor] = {}
        #: Two sets of tensors for the results of a body, which stay the same so that the body stays bound.
        self.results: tuple[list[Tensor], list[Tensor]] | None = None
        #: Called between iterations; raises if the inference has been canceled.
        self.check: Callable[[], None] = lambda: None

    def free(self) -> None:
        """Free the memory of the step and of its bodies."""
        self._copies, self.results = {}, None
        for body in self.bodies:
            body.free()

    def on_device(self, index: int, tensor: Tensor) -> RemoteTensor:
        """Return an input as a device tensor, copied if it is on the host; constants are copied only once."""
        if isinstance(tensor, RemoteTensor):
            return tensor
        if index not in self._copies:
            self._copies[index] = self.copy(tensor)
        elif not is_constant(self.node.input_value(index)):
            self._copies[index].copy_from(tensor)
        return self._copies[index]

    def copy(self, tensor: Tensor) -> RemoteTensor:
        """Return a copy in device memory."""
        copy = self.context.create_tensor(tensor.element_type, tensor.shape)
        copy.copy_from(tensor)
        return copy

    def as_tensor(self, item: Tensor | np.ndarray) -> Tensor:
        """Return an item of a sequence as a tensor; items that the user passed in are arrays."""
        return item if isinstance(item, Tensor) else self.copy(Tensor(item))

    @staticmethod
    def part(tensor: RemoteTensor, axis: int, begin: int, end: int) -> RemoteTensor:
        """Return the view of the elements ``begin`` to ``end`` (exclusive) along an axis."""
        begins, ends = [0] * len(tensor.shape), list(tensor.shape)
        begins[axis], ends[axis] = begin, end
        return RemoteTensor(tensor, begins, ends)

    def join(self, tensors: Sequence[Tensor], axis: int, is_new_axis: bool = False) -> RemoteTensor:
        """Concatenate one or more tensors along an axis, or stack them along a new one."""
        shapes = [(*t.shape[:axis], 1, *t.shape[axis:]) if is_new_axis else t.shape for t in tensors]
        first = shapes[0]
        if any((*shape[:axis], *shape[axis + 1 :]) != (*first[:axis], *first[axis + 1 :]) for shape in shapes):
            self.fail(f"tensors of shapes {[list(t.shape) for t in tensors]} cannot be concatenated along axis {axis}")
        length = sum(shape[axis] for shape in shapes)
        joined = self.context.create_tensor(tensors[0].element_type, [*first[:axis], length, *first[axis + 1 :]])
        begin = 0
        with opencl_errors(f"concatenating tensors on {self.context.device.full_name}"):
            for tensor, shape in zip(tensors, shapes):
                source = tensor if isinstance(tensor, RemoteTensor) else self.copy(tensor)
                region = source.region
                if is_new_axis:
                    strides = (*region.strides[:axis], 0, *region.strides[axis:])
                    region = dataclasses.replace(region, shape=shape, strides=strides)
                end = begin + shape[axis]
                self._start_copy(self.part(joined, axis, begin, end), source, region)
                begin = end
            finish(self.context.queue)
        return joined

    def _start_copy(self, target: RemoteTensor, source: RemoteTensor, source_region: Region) -> None:
        to, of = cast(OpenCLMemory, target.memory), cast(OpenCLMemory, source.memory)
        target_region, source_region = to.region_in_buffer(target.region), of.region_in_buffer(source_region)
        copy_region(self.context.queue, to.buffer, target_region, of.buffer, source_region)

    def in_shape(self, tensor: Tensor, shape: Sequence[int]) -> RemoteTensor:
        """Return a copy of the elements with another shape."""
        return RemoteTensor(self.copy(tensor).memory, tensor.element_type, shape)

    def fail(self, problem: str) -> NoReturn:
        raise DeviceError(f"{self.node.type_info.name} '{self.node.friendly_name}': {problem}")
