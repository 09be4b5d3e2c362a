"""Cache of a request: one tensor that is an input and the output that continues it."""

from __future__ import annotations

from typing import Any

from hetero.core.tensor import Tensor
from hetero.plugin import Region, RemoteTensor
from hetero_opencl.compile.variable_ports import CachePorts
from hetero_opencl.execute.remote import OpenCLContext, OpenCLMemory, SharedMemory
from hetero_opencl.execute.variable_state import OpenCLVariableState


class Cache:
    """Memory that grows, which the tensor is given after each inference, with its axes in the order of the ports.

    Only new rows are written then. What the user does to the tensor counts: other contents are copied to the memory.
    """

    def __init__(self, ports: CachePorts, context: OpenCLContext) -> None:
        self.ports, self._context = ports, context
        self._state = OpenCLVariableState(ports.info, context, ports.growth)
        self._axes = ports.growth.inverse
        # What the tensor has from here: an array or a region, and the buffer behind it.
        self._given: tuple[Any, Any] = None, None

    def takes(self, tensor: Tensor) -> bool:
        """Return whether a tensor can have the memory: one on the device, or of a host that sees its memory.

        One in a buffer of the user, or in a part of another tensor, has to stay there.
        """
        if isinstance(tensor, RemoteTensor):
            is_ours = isinstance(tensor.memory, OpenCLMemory) and tensor.memory.is_owned and not tensor.is_region
            return is_ours and self._context.holds(tensor)
        return type(tensor) is Tensor and self._context.device.shares_host_memory

    def begin(self, tensor: Tensor) -> tuple[RemoteTensor, RemoteTensor]:
        """Return what programs read, and what they write, for the contents of a tensor."""
        content = tensor.region if isinstance(tensor, RemoteTensor) else tensor.array
        given, buffer = self._given
        if content is not given or self._state.current.memory.buffer is not buffer:  # type: ignore[attr-defined]
            self._state.set_state(tensor)
        return self._state.current, self._state.following

    def end(self, tensor: Tensor) -> None:
        """Give the tensor the contents that were written."""
        self._state.advance()
        memory, whole = self._state.current.memory, self._state.current.region
        shape, strides = (tuple([of[axis] for axis in self._axes]) for of in (whole.shape, whole.strides))
        region = Region(whole.offset, whole.dtype, shape, strides)
        if isinstance(tensor, RemoteTensor):
            tensor.memory, tensor.region = memory, region
            content: Any = region
        else:
            assert isinstance(memory, SharedMemory)
            content = memory.array(region)
            tensor.take(content)
        self._given = content, memory.buffer  # type: ignore[attr-defined]
