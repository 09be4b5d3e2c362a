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
from hetero_opencl.execute.remote import OpenCLContext, OpenCLMemory, SharedMemory


class GrowingMemory(OpenCLMemory):
    """Memory that keeps its contents when it grows, to twice what is asked for if that can be had."""

    @staticmethod
    def of(context: OpenCLContext) -> GrowingMemory:
        """Return empty memory, which the host sees if it can."""
        device = context.device
        if device.shares_host_memory:
            return _SharedGrowingMemory(context, device.allocate_shared(0), 0)
        return GrowingMemory(context, device.allocate(0), 0)

    def resize(self, byte_size: int) -> None:
        before, held = self.buffer, Region.whole(np.dtype(np.uint8), [self.byte_size])
        try:
            self.allocate(2 * byte_size)
        except DeviceError:
            self.allocate(byte_size)
        self._copy(self.buffer, held, before, held)


class _SharedGrowingMemory(GrowingMemory, SharedMemory):
    pass


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
                f"'{self._name}' cannot grow to the length {shape[0]}, which takes {size} bytes: {error}"
            ) from error


def no_items(batch: int) -> np.ndarray:
    """Return the table of items of rows that have all in order."""
    return np.zeros((0, batch), np.int32)


def chosen_items(items: np.ndarray, rows: int, beams: np.ndarray) -> np.ndarray:
    """Return the table ``items`` of rows whose items go on as ``beams`` says; both are as ChooseItems takes them."""
    order = np.arange(items.shape[1], dtype=np.int32)
    if (beams == order).all():
        return items
    return np.concatenate([items, np.tile(order, (rows - len(items), 1))])[:, beams]


class OpenCLVariableState(VariableState):
    """Two device tensors: programs read ``current`` and write ``following``; ``advance`` swaps them.

    While ``is_set`` is False, the next inference starts from the initial value.

    The tensors of a variable that grows are in one memory, so that ``following`` begins with the contents of
    ``current``; their axes are in the order of ``growth``. Row i has the items ``items[i]`` of the batch, see
    ChooseItems. Items that are chosen for an inference are forgotten if it does not end well.
    """

    is_assigned = False

    def __init__(self, info: VariableInfo, context: OpenCLContext, growth: Growth | None) -> None:
        super().__init__(info)
        self.is_set = False
        self._growth, self._context = growth, context
        self.items = no_items(0)
        # What is used again if the inference fails.
        self._before: tuple[RemoteTensor, RemoteTensor, np.ndarray] | None = None
        #: ``current`` is read by the next inference, ``following`` receives the value for the one after it.
        self.current, self.following = self._create_tensors()

    def _create_tensors(self) -> tuple[RemoteTensor, RemoteTensor]:
        if self._growth is None:
            kind, shape = self.info.data_type, self.empty().shape
            return self._context.create_tensor(kind, shape), self._context.create_tensor(kind, shape)
        memory = GrowingMemory.of(self._context)
        return _GrowingTensor(memory, self.info), _GrowingTensor(memory, self.info)

    def has_rows_of(self, other: OpenCLVariableState) -> bool:
        """Return whether the variables have as many rows, of the same items."""
        is_same = self.items is other.items or self.items.shape == other.items.shape == (0, other.items.shape[1])
        return is_same and self.current.lengths[0] == other.current.lengths[0]

    def begin_choice(self, items: np.ndarray) -> None:
        """Let the rows have these items for the next inference."""
        self._before = self.current, self.following, self.items
        self.items = items

    def begin_copy(self, beams: np.ndarray, items: np.ndarray) -> None:
        """Copy the items that go on to other memory, for a batch of another size or variables of different rows."""
        rows = self._rows()[:, beams]
        self.begin_choice(items)
        self.current, self.following = self._create_tensors()
        self.current.set_shape(rows.shape)
        self.current.write(rows)

    def restore(self) -> None:
        """Take back a choice of items for an inference that did not end well."""
        if self._before is not None:
            (self.current, self.following, self.items), self._before = self._before, None

    def advance(self) -> None:
        """Make the value that the last inference wrote the current one."""
        self.current, self.following = self.following, self.current
        if not self.is_set and self._growth is not None and self._growth.beams is not None:
            self.items = no_items(self.current.lengths[1])
        self.is_set, self._before = True, None

    def _rows(self) -> np.ndarray:
        """Return a copy of the contents of a variable that grows, in the order of its memory."""
        rows, chosen = on_host(self.current), len(self.items)
        if chosen:
            rows[:chosen] = rows[np.arange(chosen)[:, None], self.items]
        return rows

    def get_state(self) -> Tensor:
        self.restore()
        tensor = self.empty()
        if self.is_set and self._growth is None:
            self.current.copy_to(tensor)
        elif self.is_set and self._growth is not None:
            array = self._rows().transpose(self._growth.inverse)
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
            self.items = no_items(array.shape[1] if array.ndim > 1 else 0)
        self.is_set = True

    def reset(self) -> None:
        self.restore()
        self.is_set = False
