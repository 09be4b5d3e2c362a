"""Device buffers shared by all programs of a compiled model: constants, and state that kernels keep."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl

from hetero.plugin import release_pages
from hetero.system.errors import DeviceError
from hetero_opencl.device.launch import Buffer
from hetero_opencl.device.transfers import contiguous

Arrange = Callable[[np.ndarray], np.ndarray]
# Copies an array to the device, with SLACK bytes of zeros after it.
Upload = Callable[[np.ndarray], cl.Buffer]
# Arrays of up to this many bytes are compared by contents.
_SMALL = 1 << 16


class Constants:
    """Uploads arrays, each only once while programs use it."""

    def __init__(self, upload: Upload) -> None:
        self._upload = upload
        self._buffers: weakref.WeakValueDictionary[tuple[Any, ...], Buffer] = weakref.WeakValueDictionary()
        self._kept: dict[str, Buffer] = {}

    def buffer(
        self,
        array: np.ndarray,
        layout: tuple[Any, ...] = (),
        arrange: Arrange = contiguous,
        executor: Executor | None = None,
        user: str = "",
    ) -> Buffer:
        """Return a buffer that holds ``arrange(array)``; ``layout`` identifies the arrangement in the cache.

        An executor uploads it while the caller goes on. ``user``: the operation that errors name.
        """
        key = (_contents(array), array.shape, array.dtype.str, layout)
        buffer = self._buffers.get(key)
        if buffer is None or buffer.has_failed:
            upload = partial(self._arrange_and_upload, array, arrange, user)
            future = executor.submit(upload) if executor else _finished(upload())
            buffer = self._buffers[key] = Buffer(array.nbytes, future, array)
        return buffer

    @property
    def byte_size(self) -> int:
        """The size of all constants that programs use, once for each arrangement."""
        buffers = [buffer for buffer in self._buffers.values() if buffer.upload and buffer.upload.done()]
        return sum(buffer.memory.size for buffer in buffers if not buffer.has_failed and buffer.memory)

    def kept(self, name: str, initial: np.ndarray) -> Buffer:
        """Return the buffer of that name, which kernels may modify; it is created with the contents ``initial``."""
        if name not in self._kept:
            # Two programs may be lowered at the same time.
            self._kept.setdefault(name, Buffer(initial.nbytes, _finished(self._upload(initial)), initial))
        return self._kept[name]

    def _arrange_and_upload(self, array: np.ndarray, arrange: Arrange, user: str) -> cl.Buffer:
        try:
            arranged = arrange(array)
            release_pages(array)  # before the upload, which needs as much memory again
            memory = self._upload(arranged)
        except DeviceError as error:
            raise DeviceError(f"{error}, for {user}") from error
        release_pages(arranged)  # it may be the array itself, or a view of it
        return memory


def _contents(array: np.ndarray) -> object:
    """Return what is equal for equal small arrays, which a file may have once: kernels depend on what is the same.

    The address of others is as good: the buffer keeps its array alive, and constants are never written.
    """
    if array.nbytes <= _SMALL:
        return hashlib.blake2b(array.tobytes()).digest()
    return array.__array_interface__["data"][0], array.strides


def _finished(memory: cl.Buffer) -> Future[cl.Buffer]:
    future: Future[cl.Buffer] = Future()
    future.set_result(memory)
    return future
