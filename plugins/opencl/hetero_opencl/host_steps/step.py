"""What a node that the host runs has at hand: its bodies, and memory of the device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hetero.errors import DeviceError
from hetero.graph import Node, is_constant
from hetero.plugin import RemoteTensor
from hetero.tensor import Tensor
from hetero.types import Type
from hetero_opencl.remote import OpenCLContext

if TYPE_CHECKING:
    from hetero_opencl.bound_model import BoundModel


class HostStep:
    """One request's part in a node that the host runs, with the bodies bound for it."""

    def __init__(self, node: Node, bodies: Sequence[BoundModel], context: OpenCLContext) -> None:
        self.node, self.bodies, self.context = node, bodies, context
        self._constants: dict[int, RemoteTensor] = {}
        #: Called now and then; raises where the inference is to end early.
        self.check: Callable[[], None] = lambda: None

    def new_tensor(self, kind: Type, shape: Sequence[int]) -> RemoteTensor:
        return self.context.create_tensor(kind, shape)

    def on_device(self, index: int, tensor: Tensor) -> RemoteTensor:
        """The tensor of an input, or a copy of it in the device's memory; constants are copied once."""
        if isinstance(tensor, RemoteTensor):
            return tensor
        if index in self._constants:
            return self._constants[index]
        copy = self.copy(tensor)
        if is_constant(self.node.input_value(index)):
            self._constants[index] = copy
        return copy

    def copy(self, tensor: Tensor) -> RemoteTensor:
        """A copy in the device's memory."""
        copy = self.new_tensor(tensor.element_type, tensor.shape)
        copy.copy_from(tensor)
        return copy

    def as_tensor(self, item: Tensor | np.ndarray) -> Tensor:
        """An item of a sequence: those that the user gave are arrays."""
        return item if isinstance(item, Tensor) else self.copy(Tensor(item))

    def part(self, tensor: RemoteTensor, axis: int, begin: int, end: int) -> RemoteTensor:
        """The elements from one place along an axis to before another one."""
        begins, ends = [0] * len(tensor.shape), list(tensor.shape)
        begins[axis], ends[axis] = begin, end
        return RemoteTensor(tensor, begins, ends)

    def join(self, tensors: Sequence[Tensor], axis: int, is_new_axis: bool = False) -> RemoteTensor:
        """The tensors, of which there is one or more, one after the other along an axis, or along a new one."""
        shapes = [(*t.shape[:axis], 1, *t.shape[axis:]) if is_new_axis else t.shape for t in tensors]
        first = shapes[0]
        if any((*shape[:axis], *shape[axis + 1 :]) != (*first[:axis], *first[axis + 1 :]) for shape in shapes):
            self.fail(f"tensors of {[list(tensor.shape) for tensor in tensors]} cannot be joined along axis {axis}")
        length = sum(shape[axis] for shape in shapes)
        joined = self.new_tensor(tensors[0].element_type, [*first[:axis], length, *first[axis + 1 :]])
        begin = 0
        for tensor, shape in zip(tensors, shapes):
            end = begin + shape[axis]
            self.part(joined, axis, begin, end).copy_from(self.in_shape(tensor, shape) if is_new_axis else tensor)
            begin = end
        return joined

    def in_shape(self, tensor: Tensor, shape: Sequence[int]) -> RemoteTensor:
        """A copy of the elements in another shape."""
        return RemoteTensor(self.copy(tensor).memory, tensor.element_type, shape)

    def fail(self, problem: str) -> None:
        raise DeviceError(f"{self.node.type_info.name} '{self.node.friendly_name}': {problem}")
