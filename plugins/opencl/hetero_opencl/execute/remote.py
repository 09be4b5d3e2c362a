"""Remote contexts and tensors in OpenCL buffers, with the property keys of OpenVINO's GPU plugin.

``core.create_context("GPU", {"OCL_CONTEXT": cl_context})`` returns a context that shares the user's buffers. With
``{"OCL_QUEUE": cl_queue}`` it also runs all work in the user's queue, in the order of the user's own commands. Both
properties take pyopencl objects or their integer handles.

``context.create_tensor(type, shape, {"MEM_HANDLE": buffer})`` returns a tensor in a user's buffer: a pyopencl.Buffer,
its integer handle or a pyopencl.array.Array.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pyopencl as cl
import pyopencl.array

from hetero import properties as props
from hetero.core.containers import ElementType
from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.plugin import Region, RemoteContext, RemoteMemory, RemoteTensor, SharedTensor, full_name
from hetero.properties import Property, PropertyTable
from hetero.system.errors import DeviceError, PropertyError, TensorError
from hetero_opencl.device.device import OpenCLDevice, opencl_errors
from hetero_opencl.device.transfers import Memory, contiguous_target, copy_region, finish, root_buffer


def _only(name: str) -> Callable[[Any], str]:
    """Return a property converter that accepts a single value."""

    def convert(value: Any) -> str:
        if value != name:
            raise ValueError
        return name

    return convert


def _handle_of(kind: Any, *others: type) -> Callable[[Any], Any]:
    """Return a property converter that accepts objects of these classes, and integer handles of the first one."""

    def convert(value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return kind.from_int_ptr(value, retain=True)
        if not isinstance(value, (kind, *others)):
            raise ValueError
        return value

    return convert


CONTEXT_TYPE = Property("CONTEXT_TYPE", _only("OCL"), "OCL", accepts="OCL")
OCL_CONTEXT = Property("OCL_CONTEXT", _handle_of(cl.Context), accepts="a pyopencl.Context or its handle")
OCL_QUEUE = Property("OCL_QUEUE", _handle_of(cl.CommandQueue), accepts="a pyopencl.CommandQueue or its handle")
SHARED_MEM_TYPE = Property("SHARED_MEM_TYPE", _only("OCL_BUFFER"), "OCL_BUFFER", accepts="OCL_BUFFER")
MEM_HANDLE = Property(
    "MEM_HANDLE",
    _handle_of(cl.Buffer, cl.array.Array),
    accepts="a pyopencl.Buffer, its handle or a pyopencl.array.Array",
)


class OpenCLContext(RemoteContext):
    """Remote context of one OpenCL context. Two are equal if their OpenCL contexts are."""

    def __init__(self, device_name: str, device: OpenCLDevice) -> None:
        super().__init__(device_name)
        self.device = device
        self.queue = device.make_queue(profiled=False)

    def get_params(self) -> dict[str, Any]:
        return {CONTEXT_TYPE: "OCL", OCL_CONTEXT: self.device.context, OCL_QUEUE: self.queue}

    def create_tensor(
        self, type: ElementType, shape: Sequence[int], properties: Mapping[str, Any] | None = None
    ) -> RemoteTensor:
        """Create a tensor, with ``MEM_HANDLE`` in a buffer of the user, which is kept alive.

        Kernels may read up to 256 bytes past the last element. A buffer that ends sooner works as an input too, but
        every inference first copies it on the device.
        """
        array = (properties or {}).get(MEM_HANDLE)
        if isinstance(array, cl.array.Array) and Type(array.dtype) is not Type(type):
            raise TensorError(f"a remote tensor of {type} cannot be in a pyopencl array of {array.dtype}")
        return super().create_tensor(type, shape, properties)

    def create_host_tensor(self, type: Type, shape: Sequence[int]) -> Tensor:
        """Create a host tensor, in memory that kernels use too if the device shares memory with the host."""
        if not self.device.shares_host_memory or type is Type.string:
            return super().create_host_tensor(type, shape)
        byte_size = math.prod(shape) * Type(type).to_dtype().itemsize
        return SharedTensor(SharedMemory(self, self.device.allocate_shared(byte_size), byte_size), type, shape)

    def create_memory(self, byte_size: int, properties: Mapping[str, Any]) -> OpenCLMemory:
        if not properties:
            return OpenCLMemory(self, self.device.allocate(byte_size), byte_size)
        table = PropertyTable((SHARED_MEM_TYPE, MEM_HANDLE), f"a remote tensor of {self.get_device_name()}")
        with opencl_errors(f"taking a buffer on {self.device.full_name}"):
            table.set(properties)
        handle = table.get(MEM_HANDLE)
        if handle is None:
            return OpenCLMemory(self, self.device.allocate(byte_size), byte_size)
        if not isinstance(handle, cl.array.Array):
            return self._wrap(handle, handle.size, 0)
        if not handle.flags.c_contiguous:
            raise TensorError("a remote tensor needs a contiguous pyopencl array: copy this one first")
        return self._wrap(handle.base_data, handle.nbytes, handle.offset)

    def _wrap(self, buffer: Any, byte_size: int, offset: int) -> OpenCLMemory:
        if not isinstance(buffer, cl.Buffer):
            raise TensorError(f"a remote tensor needs a pyopencl.Buffer, not {type(buffer).__name__}")
        if buffer.context != self.device.context:
            raise TensorError(
                "the buffer belongs to another OpenCL context: create the remote context with OCL_CONTEXT set to that"
            )
        return OpenCLMemory(self, buffer, byte_size, offset, is_owned=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenCLContext) and self.device.context == other.device.context

    def __hash__(self) -> int:
        return hash(self.device.context)


class OpenCLMemory(RemoteMemory):
    """Memory of a remote tensor: a buffer from byte ``offset`` on. It can grow only if it is owned by the plugin."""

    context: OpenCLContext

    def __init__(
        self, context: OpenCLContext, buffer: cl.Buffer, byte_size: int, offset: int = 0, is_owned: bool = True
    ) -> None:
        super().__init__(context, byte_size)
        self._offset, self.is_owned = offset, is_owned
        self._use(buffer)

    def _use(self, buffer: cl.Buffer) -> None:
        self.buffer = buffer
        # A driver is asked for the root only if there may be another one, as that can take 15 µs.
        self._root, self._begin = (buffer, 0) if self.is_owned else root_buffer(buffer)

    def region_in_buffer(self, region: Region) -> Region:
        """Return a region of this memory relative to the start of the buffer."""
        if self._offset == 0:
            return region
        return dataclasses.replace(region, offset=region.offset + self._offset)

    def read(self, region: Region, array: np.ndarray) -> None:
        with contiguous_target(array) as target:
            dense = Region.whole(region.dtype, region.shape)
            self._copy(_bytes_of(target), dense, self.buffer, self.region_in_buffer(region))

    def write(self, region: Region, array: np.ndarray) -> None:
        source = _bytes_of(np.ascontiguousarray(array))
        self._copy(self.buffer, self.region_in_buffer(region), source, Region.whole(region.dtype, region.shape))

    def copy(self, region: Region, source: RemoteMemory, source_region: Region) -> None:
        is_separate = source.context == self.context and not self.overlaps(region, source, source_region)
        if isinstance(source, OpenCLMemory) and is_separate:
            target, source_region = self.region_in_buffer(region), source.region_in_buffer(source_region)
            self._copy(self.buffer, target, source.buffer, source_region)
        else:
            super().copy(region, source, source_region)

    def overlaps(self, region: Region, other: RemoteMemory, other_region: Region) -> bool:
        if not isinstance(other, OpenCLMemory):
            return False
        (handle, begin, end), (other_handle, other_begin, other_end) = self.extent(region), other.extent(other_region)
        return handle == other_handle and begin < other_end and other_begin < end

    def resize(self, byte_size: int) -> None:
        if not self.is_owned:
            super().resize(byte_size)
        self.allocate(byte_size)

    def allocate(self, byte_size: int) -> None:
        """Take new memory."""
        self._use(self.context.device.allocate(byte_size))
        self.byte_size = byte_size

    def get_properties(self) -> dict[str, Any]:
        context = {key: value for key, value in self.context.get_params().items() if key != OCL_QUEUE}
        return {**context, SHARED_MEM_TYPE: "OCL_BUFFER", MEM_HANDLE: self.buffer}

    def buffer_for(self, region: Region, slack: int) -> cl.Buffer | None:
        """Return a buffer that starts at the region and extends ``slack`` bytes past it, for kernels to use in place.

        Returns None if the region is not contiguous, the buffer ends too soon, or the region's offset is not aligned
        as sub-buffers must be.
        """
        offset, size = self.region_in_buffer(region).offset, region.byte_size + slack
        if not region.is_continuous() or offset + size > self.buffer.size:
            return None
        if offset == 0:
            return self.buffer
        begin = self._begin + offset
        if size == 0 or begin % (self.context.device.handle.mem_base_addr_align // 8):
            return None
        with opencl_errors(f"making a sub-buffer on {self.context.device.full_name}"):
            return self._root.get_sub_region(begin, size)

    def extent(self, region: Region) -> tuple[int, int, int]:
        """Return the handle of the root buffer, and the byte offsets in it of the region's start and end."""
        begin = self._begin + self.region_in_buffer(region).offset
        last = sum((count - 1) * stride for count, stride in zip(region.shape, region.strides))
        return self._root.int_ptr, begin, begin + last + region.dtype.itemsize if region.byte_size else begin

    def _copy(self, target: Memory, target_region: Region, source: Memory, source_region: Region) -> None:
        with opencl_errors(f"copying a remote tensor on {self.context.device.full_name}"):
            copy_region(self.context.queue, target, target_region, source, source_region)
            finish(self.context.queue)


class SharedMemory(OpenCLMemory):
    """Memory of a shared tensor: a buffer in shared virtual memory."""

    def array(self, region: Region) -> np.ndarray:
        memory = cast(np.ndarray, self.buffer.hostbuf)
        return np.ndarray(region.shape, region.dtype, memory, region.offset, region.strides)

    def resize(self, byte_size: int) -> None:
        self.allocate(byte_size + byte_size // 4)  # what grows once grows again

    def allocate(self, byte_size: int) -> None:
        self._use(self.context.device.allocate_shared(byte_size))
        self.byte_size = byte_size


def create_context(name: str, devices: Sequence[OpenCLDevice], params: Mapping[str, Any]) -> OpenCLContext:
    """Create a context for the device that DEVICE_ID or a handle of the user selects from ``devices``.

    Raises PropertyError for a bad key or value, DeviceError if the handle belongs to another device.
    """
    table = PropertyTable((CONTEXT_TYPE, OCL_CONTEXT, OCL_QUEUE, props.device.id), f"a context of {name}")
    with opencl_errors(f"creating a context for {name}"):
        table.set(params)
        queue, user_context, device_id = (table.get(key) for key in (OCL_QUEUE, OCL_CONTEXT, props.device.id))
        if queue is not None and user_context is not None and queue.context != user_context:
            raise PropertyError("OCL_QUEUE belongs to another OpenCL context than OCL_CONTEXT: give only one of them")
        if queue is not None and queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
            raise PropertyError("OCL_QUEUE executes commands out of order: give an in-order queue")
        handles = None  # the devices of the user's objects; None without any
        if queue is not None:
            user_context, handles = queue.context, [queue.device]
        elif user_context is not None:
            handles = user_context.devices
    for device in devices:
        if device_id in ("", device.id) and (handles is None or device.handle in handles):
            opencl_device = OpenCLDevice(device.handle, device.profile, user_context, queue)
            return OpenCLContext(full_name(name, device.id), opencl_device)
    present = ", ".join(handle.name for handle in handles or ())
    raise DeviceError(f"the OpenCL context belongs to {present}, not to {full_name(name, device_id)}")


def _bytes_of(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)
