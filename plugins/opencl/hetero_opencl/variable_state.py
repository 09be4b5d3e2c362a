"""The state of a variable: memory on the device, which the kernels of the request read and write."""

from __future__ import annotations

import math

import numpy as np
import pyopencl as cl

from hetero.graph import VariableInfo
from hetero.plugin import VariableState
from hetero.tensor import Tensor
from hetero_opencl.device import SLACK, OpenCLDevice, opencl_errors


class OpenCLVariableState(VariableState):
    """Contents count while ``is_set``; otherwise the next inference begins with the initial value."""

    def __init__(self, info: VariableInfo, device: OpenCLDevice) -> None:
        super().__init__(info)
        self._device = device
        self.is_set = False
        byte_size = math.prod(info.data_shape.to_shape()) * info.data_type.size
        with opencl_errors(f"allocating variable '{self.name}' on {device.name}"):
            self.memory = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, byte_size + SLACK)
            self._queue = device.make_queue(profiled=False)

    def get_state(self) -> Tensor:
        tensor = self.empty()
        if self.is_set and tensor.data.nbytes:
            with opencl_errors(f"reading variable '{self.name}' on {self._device.name}"):
                cl.enqueue_copy(self._queue, tensor.data, self.memory, is_blocking=True)
        return tensor

    def set_state(self, tensor: Tensor) -> None:
        if tensor.data.nbytes:
            with opencl_errors(f"setting variable '{self.name}' on {self._device.name}"):
                cl.enqueue_copy(self._queue, self.memory, np.ascontiguousarray(tensor.data), is_blocking=True)
        self.is_set = True

    def reset(self) -> None:
        self.is_set = False
