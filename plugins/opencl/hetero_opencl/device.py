"""OpenCL devices: which there are, their contexts and queues, and programs built for them and kept."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pyopencl as cl

from hetero.allocation import check_allocation
from hetero.errors import DeviceError
from hetero_opencl import intel, pocl
from hetero_opencl.binaries import Binaries
from hetero_opencl.memory import allocations_on

log = logging.getLogger("hetero.opencl")

# Kernels may read a whole vector where only its first elements count: buffers are so many bytes longer.
SLACK = 256
# Of a kernel that does not build so many errors are told.
MOST_ERRORS = 10
# Real GPUs first, then accelerators, then implementations on the CPU.
_KINDS = (cl.device_type.GPU, cl.device_type.ACCELERATOR, cl.device_type.CPU)


class OpenCLDevice:
    """One device, with a context and the programs built in it.

    The context is its own unless the user's is given; with the user's queue all commands go there.
    """

    def __init__(
        self, handle: cl.Device, context: cl.Context | None = None, queue: cl.CommandQueue | None = None
    ) -> None:
        self.handle = handle
        pocl.repair(handle)
        with opencl_errors(f"making a context on {handle.name}"):
            self.context = context or cl.Context([handle])
        self._queue = queue
        # While a compiled model uses them: a program that was loaded takes hundreds of kilobytes.
        self._programs: weakref.WeakValueDictionary[str, cl.Program] = weakref.WeakValueDictionary()
        self._lock = threading.Lock()

    @functools.cached_property
    def name(self) -> str:
        return f"{self.handle.name.strip()} ({self.handle.platform.name.strip()})"

    def details(self) -> dict[str, str]:
        """What the device is and can do, for people."""
        handle = self.handle
        kinds = {cl.device_type.GPU: "GPU", cl.device_type.ACCELERATOR: "accelerator", cl.device_type.CPU: "CPU"}
        kind = next((name for bit, name in kinds.items() if handle.type & bit), "other")
        halves = "has" if "cl_khr_fp16" in handle.extensions.split() else "lacks"
        where = "the host's own" if handle.host_unified_memory else "its own"
        version = " ".join(handle.version.split()[:2])  # what follows is the driver's to choose
        copies = "tensors of the context are not copied" if self.shares_host_memory else "tensors are copied"
        return {
            "driver": f"{handle.driver_version} of {handle.platform.vendor.strip()}, {version}",
            "processor": f"{kind} of {handle.vendor.strip()}, {handle.max_compute_units} compute units",
            "vectors": f"of {handle.native_vector_width_float} f32",
            "memory": f"{handle.global_mem_size / 2**30:.1f} GiB, {where}; {copies}",
            "shared by a group": f"{handle.local_mem_size // 1024} KiB, up to {handle.max_work_group_size} work-items",
            "element types": f"f32, integers, {'f64' if self.has_doubles else 'no f64'}, f16 and bf16 computed as f32",
            "f16 arithmetic": f"the device {halves} it",
        }

    @property
    def is_cpu(self) -> bool:
        return bool(self.handle.type & cl.device_type.CPU)

    @property
    def has_doubles(self) -> bool:
        return "cl_khr_fp64" in self.handle.extensions.split()

    @property
    def shares_host_memory(self) -> bool:
        """Whether kernels and the host can use the same memory without mapping it: fine-grain shared virtual memory."""
        try:
            fine_grain = self.handle.svm_capabilities & cl.device_svm_capabilities.FINE_GRAIN_BUFFER
        except cl.Error:  # before OpenCL 2.0
            return False
        return bool(fine_grain and self.handle.host_unified_memory)

    def allocate(self, byte_size: int, hostbuf: np.ndarray | None = None) -> cl.Buffer:
        """A buffer for kernels to read and write, longer by what they may read behind it, or in memory of the host."""
        flags = cl.mem_flags.USE_HOST_PTR if hostbuf is not None else 0
        with opencl_errors(f"allocating {byte_size} bytes on {self.name}"):
            if self.handle.host_unified_memory and hostbuf is None:
                check_allocation(byte_size, "a buffer")
            return allocations_on(self.handle).take(self.context, byte_size + SLACK, flags, hostbuf)

    def make_queue(self, profiled: bool) -> cl.CommandQueue:
        """A queue that runs commands in order; the user's where one was given, profiled or not."""
        if self._queue is not None:
            return self._queue
        flags = cl.command_queue_properties.PROFILING_ENABLE if profiled else 0
        return cl.CommandQueue(self.context, self.handle, properties=flags)

    def build(self, source: str, binaries: Binaries, operation: str) -> cl.Program:
        """The program of a source text: built once, kept in memory and, as a binary, among the others.

        Raises DeviceError with the compiler's words where it does not build for an operation.
        """
        with self._lock:
            program = self._programs.get(source)
            if program is None:
                name = self.binary_name(source)
                program = self._load(binaries.get(name))
                if program is None:
                    program = self._compile(source, operation)
                    binaries.keep(name, binary_of(program))
                self._programs[source] = program
        return program

    def binary_name(self, source: str) -> str:
        """A name for the binary of a source text, as this device and its driver build it."""
        handle = self.handle
        parts = (handle.platform.version, handle.name, handle.version, handle.driver_version, pocl.built_for(), source)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest() + ".bin"

    def _load(self, binary: bytes | None) -> cl.Program | None:
        """The program of a binary; None where there is none, or none that the device takes."""
        if binary is None:
            return None
        try:
            return _build(cl.Program(self.context, [self.handle], [binary]))
        except cl.Error:
            return None

    def _compile(self, source: str, operation: str) -> cl.Program:
        try:
            return _build(cl.Program(self.context, source))
        except cl.Error as error:
            lines = [line.strip() for line in str(error).splitlines() if "error" in line.lower()]
            reason = "; ".join(lines[:MOST_ERRORS]) or str(error)
            raise DeviceError(f"{self.name} cannot build the kernel of {operation}: {reason}") from error


def binary_of(program: cl.Program) -> bytes:
    """The binary of a program that was built."""
    return program.get_info(cl.program_info.BINARIES)[0]


@functools.cache
def present_devices() -> tuple[OpenCLDevice, ...]:
    """All OpenCL devices, in the order in which GPU.0, GPU.1, … count them. Raises DeviceError when there is none."""
    try:
        with intel.visible():
            platforms = cl.get_platforms()
    except cl.Error as error:
        raise DeviceError(
            f"no OpenCL platform is installed ({error}): pip install hetero-opencl[pocl] brings one"
        ) from None
    handles = [handle for platform in platforms for handle in _devices_of(platform)]
    if not handles:
        names = ", ".join(platform.name for platform in platforms) or "none"
        raise DeviceError(f"no OpenCL device is present; the platforms are {names}")
    devices, errors = [], []
    for handle in sorted(handles, key=_rank):
        try:
            devices.append(OpenCLDevice(handle))
        except DeviceError as error:
            log.warning("an OpenCL device is left out: %s", error)
            errors.append(error)
    if not devices:
        raise errors[0]
    return tuple(devices)


@contextlib.contextmanager
def opencl_errors(doing: str | Callable[[], str]) -> Iterator[None]:
    """Turn OpenCL's errors into DeviceErrors that say what was being done, by a call where only then it is known."""
    try:
        yield
    except (cl.MemoryError, MemoryError) as error:
        raise DeviceError(f"out of device memory while {doing() if callable(doing) else doing}: {error}") from error
    except cl.Error as error:
        raise DeviceError(f"OpenCL failed while {doing() if callable(doing) else doing}: {error}") from error


def _devices_of(platform: cl.Platform) -> list[cl.Device]:
    try:
        return platform.get_devices()
    except cl.Error:
        return []  # a platform without devices says so by an error


def _build(program: cl.Program) -> cl.Program:
    """Build a program without pyopencl's own cache, and without its warning where a compiler has something to say."""
    with warnings.catch_warnings(action="ignore", category=cl.CompilerWarning):
        return program.build(cache_dir=False)


def _rank(handle: cl.Device) -> tuple[int, bool]:
    """Of two implementations on one CPU PoCL comes first: it is as fast with our kernels, or faster."""
    kind = next((rank for rank, kind in enumerate(_KINDS) if handle.type & kind), len(_KINDS))
    return kind, not pocl.is_pocl(handle)
