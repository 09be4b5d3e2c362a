"""Device buffers shared by all programs of a compiled model: constants, and state that kernels keep."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import numpy as np
import pyopencl as cl

from hetero.mapped_file import release_pages
from hetero_opencl.arrays import contiguous
from hetero_opencl.device import SLACK, OpenCLDevice, opencl_errors
from hetero_opencl.program import Buffer

Arrange = Callable[[np.ndarray], np.ndarray]


class Constants:
    """Uploads arrays, each only once while programs use it."""

    def __init__(self, device: OpenCLDevice) -> None:
        self._device = device
        self._queue = device.make_queue(profiled=False)
        self._buffers: weakref.WeakValueDictionary[tuple, Buffer] = weakref.WeakValueDictionary()
        self._kept: dict[str, Buffer] = {}

    def buffer(self, array: np.ndarray, layout: tuple = (), arrange: Arrange = contiguous) -> Buffer:
        """Return a buffer that holds ``arrange(array)``; ``layout`` identifies the arrangement in the cache."""
        # The address is a valid key: the buffer keeps its array alive, and constants are never written.
        key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str, layout)
        buffer = self._buffers.get(key)
        if buffer is None:
            arranged = arrange(array)
            release_pages(array)  # before the upload, which needs as much memory again
            buffer = self._buffers[key] = self._upload(array, arranged)
            release_pages(arranged)  # it may be the array itself, or a view of it
        return buffer

    def kept(self, name: str, initial: np.ndarray) -> Buffer:
        """Return the buffer of that name, which kernels may modify; it is created with the contents ``initial``."""
        if name not in self._kept:
            self._kept[name] = self._upload(initial, initial)
        return self._kept[name]

    def _upload(self, source: np.ndarray, arranged: np.ndarray) -> Buffer:
        size = arranged.nbytes
        with opencl_errors(f"uploading constants to {self._device.full_name}"):
            memory = self._device.allocate(size)
            cl.enqueue_copy(self._queue, memory, np.zeros(SLACK, np.uint8), dst_offset=size)
            if size:
                cl.enqueue_copy(self._queue, memory, np.ascontiguousarray(arranged).reshape(-1).view(np.uint8))
        return Buffer(size, memory, source)
