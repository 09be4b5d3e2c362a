"""Remote memory: OpenCL buffers, made here or the user's own, under the property keys of OpenVINO's GPU plugin.

``core.create_context("GPU", {"OCL_CONTEXT": cl_context})`` or ``{"OCL_QUEUE": cl_queue}``, pyopencl's objects or their
integer handles, gives a context that shares the user's buffers, and with a queue runs all its work there, in the
order of the user's own commands. ``context.create_tensor(type, shape, {"MEM_HANDLE": buffer})`` is a tensor in a
pyopencl.Buffer, of an integer handle or in a pyopencl.array.Array.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array

from hetero import properties as props
from hetero.errors import DeviceError, PropertyError, TensorError
from hetero.plugin import Region, RemoteContext, RemoteMemory, RemoteTensor, SharedTensor
from hetero.properties import Property, PropertyTable
from hetero.tensor import Tensor
from hetero.types import Type
from hetero_opencl.device import SLACK, OpenCLDevice, opencl_errors
from hetero_opencl.transfers import copy_region, whole_of


def _only(name: str) -> Callable[[Any], str]:
    def convert(value: Any) -> str:
        if value != name:
            raise ValueError
        return name

    return convert


def _handle_of(*kinds: type) -> Callable[[Any], Any]:
    """A converter that takes objects of these classes, and integer handles of the first."""

    def convert(value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return kinds[0].from_int_ptr(value, retain=True)
        if not isinstance(value, kinds):
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
    """Buffers of one OpenCL context. Those of equal OpenCL contexts are equal."""

    def __init__(self, device_name: str, device: OpenCLDevice) -> None:
        super().__init__(device_name)
        self.device = device
        self.queue = device.make_queue(profiled=False)

    def get_params(self) -> dict[str, Any]:
        return {CONTEXT_TYPE: "OCL", OCL_CONTEXT: self.device.context, OCL_QUEUE: self.queue}

    def create_tensor(self, type, shape, properties=None) -> RemoteTensor:
        """As every context's, with ``MEM_HANDLE`` in memory of the user's own, which is kept alive.

        Kernels may read up to 256 bytes past the last element. A buffer that ends sooner serves as an input all the
        same, but each inference copies it on the device first.
        """
        array = (properties or {}).get(MEM_HANDLE)
        if isinstance(array, cl.array.Array) and Type(array.dtype) is not Type(type):
            raise TensorError(f"a remote tensor of {type} cannot be in a pyopencl array of {array.dtype}")
        return super().create_tensor(type, shape, properties)

    def create_host_tensor(self, type, shape) -> Tensor:
        """Where the device has no memory of its own, in memory that kernels work in too."""
        if not self.device.shares_host_memory or type is Type.string:
            return super().create_host_tensor(type, shape)
        byte_size = math.prod(shape) * Type(type).to_dtype().itemsize
        return SharedTensor(SharedMemory(self, self.new_shared_buffer(byte_size), byte_size), type, shape)

    def create_memory(self, byte_size: int, properties: Mapping[str, Any]) -> OpenCLMemory:
        table = PropertyTable((SHARED_MEM_TYPE, MEM_HANDLE), f"a remote tensor of {self.get_device_name()}")
        with opencl_errors(f"taking a buffer on {self.device.name}"):
            table.set(properties)
        handle = table.get(MEM_HANDLE)
        if handle is None:
            return OpenCLMemory(self, self.new_buffer(byte_size), byte_size)
        if not isinstance(handle, cl.array.Array):
            return self._wrap(handle, handle.size, 0)
        if not handle.flags.c_contiguous:
            raise TensorError("a remote tensor cannot be in a pyopencl array that is not contiguous: copy it first")
        return self._wrap(handle.base_data, handle.nbytes, handle.offset)

    def _wrap(self, buffer: Any, byte_size: int, offset: int) -> OpenCLMemory:
        if not isinstance(buffer, cl.Buffer):
            raise TensorError(f"a remote tensor is in a pyopencl.Buffer, not in {type(buffer).__name__}")
        if buffer.context != self.device.context:
            raise TensorError("the buffer is of another OpenCL context: create_context takes that one as OCL_CONTEXT")
        return OpenCLMemory(self, buffer, byte_size, offset, is_ours=False)

    def new_buffer(self, byte_size: int) -> cl.Buffer:
        return self.device.allocate(byte_size)

    def new_shared_buffer(self, byte_size: int) -> cl.Buffer:
        """A buffer in memory that the host sees, as an array that is its ``hostbuf``."""
        with opencl_errors(f"allocating {byte_size} bytes on {self.device.name}"):
            array = cl.fsvm_empty(self.device.context, byte_size + SLACK, np.uint8)
        return self.device.allocate(byte_size, array)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenCLContext) and self.device.context == other.device.context

    def __hash__(self) -> int:
        return hash(self.device.context)


class OpenCLMemory(RemoteMemory):
    """A part of a buffer, from ``offset``."""

    def __init__(
        self, context: OpenCLContext, buffer: cl.Buffer, byte_size: int, offset: int = 0, is_ours: bool = True
    ) -> None:
        super().__init__(context, byte_size)
        self.buffer, self._offset, self._is_ours = buffer, offset, is_ours

    def place(self, region: Region) -> Region:
        """The region as it is in the buffer."""
        return dataclasses.replace(region, offset=region.offset + self._offset)

    def read(self, region: Region, array: np.ndarray) -> None:
        whole = array if array.flags.c_contiguous else np.empty(region.shape, region.dtype)
        dense = Region.whole(region.dtype, region.shape)
        self._run(copy_region, _bytes_of(whole), dense, self.buffer, self.place(region))
        if whole is not array:
            np.copyto(array, whole)

    def write(self, region: Region, array: np.ndarray) -> None:
        dense = Region.whole(region.dtype, region.shape)
        self._run(copy_region, self.buffer, self.place(region), _bytes_of(np.ascontiguousarray(array)), dense)

    def copy(self, region: Region, source: RemoteMemory, source_region: Region) -> None:
        if source.context != self.context or self.overlaps(region, source, source_region):
            super().copy(region, source, source_region)
        else:
            self._run(copy_region, self.buffer, self.place(region), source.buffer, source.place(source_region))

    def overlaps(self, region: Region, other: RemoteMemory, other_region: Region) -> bool:
        if not isinstance(other, OpenCLMemory):
            return False
        (handle, begin, end), (other_handle, other_begin, other_end) = self.extent(region), other.extent(other_region)
        return handle == other_handle and begin < other_end and other_begin < end

    def resize(self, byte_size: int) -> None:
        if not self._is_ours:
            super().resize(byte_size)
        self.buffer, self.byte_size = self.context.new_buffer(byte_size), byte_size

    def get_params(self) -> dict[str, Any]:
        context = {key: value for key, value in self.context.get_params().items() if key != OCL_QUEUE}
        return {**context, SHARED_MEM_TYPE: "OCL_BUFFER", MEM_HANDLE: self.buffer}

    def buffer_for(self, region: Region, slack: int) -> cl.Buffer | None:
        """A buffer for kernels that begins with the region and goes on for ``slack`` bytes behind it.

        None where the elements do not lie together, the memory ends too soon, or begins where no buffer may.
        """
        offset, size = self.place(region).offset, region.byte_size + slack
        if not region.is_continuous() or offset + size > self.buffer.size:
            return None
        if offset == 0:
            return self.buffer
        root, begin = whole_of(self.buffer)
        if size == 0 or (begin + offset) % (self.context.device.handle.mem_base_addr_align // 8):
            return None
        with opencl_errors(f"taking a part of a buffer on {self.context.device.name}"):
            return root.get_sub_region(begin + offset, size)

    def extent(self, region: Region) -> tuple[int, int, int]:
        """The handle of the whole buffer, where the region begins in it, and where it ends."""
        root, begin = whole_of(self.buffer)
        begin += self.place(region).offset
        last = sum((count - 1) * stride for count, stride in zip(region.shape, region.strides))
        return root.int_ptr, begin, begin + last + region.dtype.itemsize if region.byte_size else begin

    def _run(self, copy: Callable[..., None], *arguments: Any) -> None:
        with opencl_errors(f"copying a remote tensor on {self.context.device.name}"):
            copy(self.context.queue, *arguments)
            self.context.queue.finish()


class SharedMemory(OpenCLMemory):
    """A buffer of this plugin's own that the host sees as well."""

    def array(self, region: Region) -> np.ndarray:
        return np.ndarray(region.shape, region.dtype, self.buffer.hostbuf, region.offset, region.strides)

    def resize(self, byte_size: int) -> None:
        self.buffer, self.byte_size = self.context.new_shared_buffer(byte_size), byte_size


def create_context(name: str, devices: Mapping[str, OpenCLDevice], params: Mapping[str, Any]) -> OpenCLContext:
    """A context of the device that DEVICE_ID or a handle of the user's own names; ``devices`` by full name.

    Raises PropertyError for a bad key or value, DeviceError where a handle is of another device.
    """
    table = PropertyTable((CONTEXT_TYPE, OCL_CONTEXT, OCL_QUEUE, props.device.id), f"a context of {name}")
    with opencl_errors(f"taking a context for {name}"):
        table.set(params)
        queue, theirs, wanted = (table.get(key) for key in (OCL_QUEUE, OCL_CONTEXT, props.device.id))
        if queue is not None and theirs is not None and queue.context != theirs:
            raise PropertyError("OCL_QUEUE is of another OpenCL context than OCL_CONTEXT: give one of them")
        if queue is not None and queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
            raise PropertyError("OCL_QUEUE runs commands out of order: give a queue that keeps their order")
        theirs = queue.context if queue is not None else theirs
        present = None if theirs is None else [queue.device] if queue is not None else theirs.devices
    for full, device in devices.items():
        is_wanted = not wanted or full == f"{name}.{wanted}"
        if is_wanted and (present is None or device.handle in present):
            return OpenCLContext(full, OpenCLDevice(device.handle, theirs, queue))
    found = ", ".join(handle.name for handle in present or ())
    raise DeviceError(f"the OpenCL context is of {found}, not of {name}{'.' + wanted if wanted else ''}")


def _bytes_of(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)
