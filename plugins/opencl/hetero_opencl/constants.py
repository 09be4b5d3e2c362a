"""The constants of a compiled model on the device, each once for all programs that use it."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import numpy as np
import pyopencl as cl

from hetero_opencl.device import SLACK, OpenCLDevice, opencl_errors
from hetero_opencl.program import Buffer

Arrange = Callable[[np.ndarray], np.ndarray]


class Constants:
    """Uploads arrays. What programs of other input shapes uploaded already is used again while one of them is kept."""

    def __init__(self, device: OpenCLDevice) -> None:
        self._device = device
        self._queue = device.make_queue(profiled=False)
        self._buffers: weakref.WeakValueDictionary[tuple, Buffer] = weakref.WeakValueDictionary()

    def buffer(self, array: np.ndarray, layout: tuple = (), arrange: Arrange = np.ascontiguousarray) -> Buffer:
        """A buffer that holds ``arrange(array)``; ``layout`` tells arrangements of the same array apart."""
        # The same memory is the same numbers: a buffer keeps its array alive, and nobody writes to constants.
        key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str, layout)
        buffer = self._buffers.get(key)
        if buffer is None:
            buffer = self._buffers[key] = self._upload(array, arrange(array))
        return buffer

    def _upload(self, source: np.ndarray, arranged: np.ndarray) -> Buffer:
        size = arranged.nbytes
        with opencl_errors(f"uploading constants to {self._device.name}"):
            memory = cl.Buffer(self._device.context, cl.mem_flags.READ_ONLY, size + SLACK)
            cl.enqueue_copy(self._queue, memory, np.zeros(SLACK, np.uint8), dst_offset=size)
            if size:
                cl.enqueue_copy(self._queue, memory, np.ascontiguousarray(arranged).reshape(-1).view(np.uint8))
        return Buffer(size, memory, source)
