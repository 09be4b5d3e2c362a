"""State of a variable on the device."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero.core.tensor import Tensor
from hetero.graph import VariableInfo
from hetero.plugin import Region, RemoteTensor, VariableState
from hetero.system.errors import DeviceError
from hetero_opencl.compile.variable_ports import Growth
from hetero_opencl.device.transfers import on_host
from hetero_opencl.execute.remote import OpenCLContext, OpenCLMemory


class GrowingMemory(OpenCLMemory):
    """Memory that keeps its contents when it grows, to twice what is asked for if that can be had."""

    def resize(self, byte_size: int) -> None:
        before, held = self.buffer, Region.whole(np.dtype(np.uint8), [self.byte_size])
        try:
            super().resize(2 * byte_size)
        except DeviceError:
            super().resize(byte_size)
        self._copy(self.buffer, held, before, held)


class _GrowingTensor(RemoteTensor):
    """A tensor in growing memory, whose first axis grows."""

    def __init__(self, memory: GrowingMemory, info: VariableInfo) -> None:
        super().__init__(memory, info.data_type, [0] * len(info.data_shape))
        self._name = info.variable_id

    def set_shape(self, shape: Sequence[int]) -> None:
        try:
            super().set_shape(shape)
        except DeviceError as error:
            size = math.prod(shape) * self.region.dtype.itemsize
            raise DeviceError(
                f"variable '{self._name}' cannot grow to the length {shape[0]}, which takes {size} bytes: {error}"
            ) from error


class OpenCLVariableState(VariableState):
    """Two device tensors: programs read ``current`` and write ``following``; ``advance`` swaps them.

    While ``is_set`` is False, the next inference starts from the initial value. The tensors of a variable that grows are
    in one memory, so that ``following`` begins with the contents of ``current``; their axes are in the order of
    ``growth``. ``begin_choice`` sets others aside, which are used again if the inference does not end well.
    """

    is_assigned = False

    def __init__(self, info: VariableInfo, context: OpenCLContext, growth: Growth | None) -> None:
        super().__init__(info)
        self.is_set = False
        self._growth, self._context = growth, context
        self._aside: tuple[RemoteTensor, RemoteTensor] | None = None
        self._has_chosen = False
        #: ``current`` is read by the next inference, ``following`` receives the value for the one after it.
        self.current, self.following = self._create_tensors()

    def _create_tensors(self) -> tuple[RemoteTensor, RemoteTensor]:
        if self._growth is None:
            kind, shape = self.info.data_type, self.empty().shape
            return self._context.create_tensor(kind, shape), self._context.create_tensor(kind, shape)
        memory = GrowingMemory(self._context, self._context.device.allocate(0), 0)
        return _GrowingTensor(memory, self.info), _GrowingTensor(memory, self.info)

    @property
    def items(self) -> int:
        """The number of items of the batch in a variable that has beams."""
        return self.current.shape[1]

    def begin_choice(self) -> RemoteTensor:
        """Use other memory from now on, and return the tensor in the memory before. The next inference fills both."""
        before = self.current
        self._exchange()
        self._has_chosen = True
        return before

    def restore(self) -> None:
        """Take back a choice of items for an inference that did not end well."""
        if self._has_chosen:
            self._exchange()

    def _exchange(self) -> None:
        aside = self._aside or self._create_tensors()
        self._aside = self.current, self.following
        (self.current, self.following), self._has_chosen = aside, False

    def advance(self) -> None:
        """Make the value that the last inference wrote the current one."""
        self.current, self.following = self.following, self.current
        self.is_set, self._has_chosen = True, False

    def get_state(self) -> Tensor:
        self.restore()
        tensor = self.empty()
        if self.is_set and self._growth is None:
            self.current.copy_to(tensor)
        elif self.is_set and self._growth is not None:
            array = on_host(self.current).transpose(self._growth.inverse)
            tensor.set_shape(array.shape)
            tensor.array[...] = array
        return tensor

    def set_state(self, tensor: Tensor) -> None:
        self.restore()
        if self._growth is None:
            self.current.copy_from(tensor)
        else:
            array = on_host(tensor).transpose(self._growth.order)
            self.current.set_shape(array.shape)
            self.current.write(array)
        self.is_set = True

    def reset(self) -> None:
        self.restore()
        self.is_set = False
