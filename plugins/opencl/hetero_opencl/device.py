"""OpenCL devices: which there are, their contexts and queues, and programs built for them and kept."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyopencl as cl

from hetero import properties as props
from hetero.allocation import check_allocation
from hetero.errors import DeviceError
from hetero.messages import get_logger
from hetero.plugin import Device
from hetero.properties import Property
from hetero_opencl import pocl, pocl_cache, trial
from hetero_opencl.binaries import Binaries
from hetero_opencl.compiler import BuildRequest, Compiler
from hetero_opencl.forks import check_process, note_drivers
from hetero_opencl.memory import allocations_on, memory_statistics
from hetero_opencl.platforms import all_devices

if TYPE_CHECKING:
    from hetero_opencl.program import Launch

log = get_logger("hetero.opencl")

driver_version = Property("GPU_DRIVER_VERSION", str, "", props.Mutability.RO)
total_memory = Property("GPU_DEVICE_TOTAL_MEM_SIZE", int, 0, props.Mutability.RO)  # OpenVINO's, in bytes
# One inference computes while the inputs or outputs of another are transferred.
MAX_STREAMS = 2
# Kernels may read a whole vector where only its first elements count: buffers are so many bytes longer.
SLACK = 256
# A program takes up to 400 kB. A model of images has 10 to 60 of them.
RECENT_PROGRAMS = 128
# Maximum number of compiler errors to report for one kernel.
MOST_ERRORS = 10
# Real GPUs first, then accelerators, then implementations on the CPU.
_KINDS = (cl.device_type.GPU, cl.device_type.ACCELERATOR, cl.device_type.CPU)


class OpenCLDevice(Device):
    """One device, with a context and the programs built in it.

    The context is its own unless the user's is given; with the user's queue all commands go there.
    """

    def __init__(
        self,
        handle: cl.Device,
        context: cl.Context | None = None,
        queue: cl.CommandQueue | None = None,
        builds_in_process: bool = False,
    ) -> None:
        super().__init__(
            full_name=name_of(handle),
            architecture=f"{handle.vendor.strip()} {handle.name.strip()}, {handle.version.strip()}",
            type=props.device.Type.INTEGRATED if handle.host_unified_memory else props.device.Type.DISCRETE,
            capabilities=("FP32", "FP16", "EXPORT_IMPORT"),
            memory_size=handle.global_mem_size,
            max_streams=MAX_STREAMS,
        )
        self.handle = handle
        # A compiler for GPUs is part of a driver that this process has to trust anyway.
        own_process = handle.type & cl.device_type.CPU and not builds_in_process
        self._compiler = Compiler(handle) if own_process else None
        pocl.repair(handle)
        with opencl_errors(f"making a context on {handle.name}"):
            self.context = context or cl.Context([handle])
        self._queue = queue
        self._programs: weakref.WeakValueDictionary[str, cl.Program] = weakref.WeakValueDictionary()
        # Keeps programs for models that are compiled again. Loading takes time, and on Intel's runtime memory as well:
        # the process grows by 8 kB for each program that is loaded, run and dropped.
        self._recent: deque[cl.Program] = deque(maxlen=RECENT_PROGRAMS)
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self.full_name

    def properties(self) -> dict[str, Any]:
        return {
            **super().properties(),
            props.device.details: self.details(),
            driver_version: self.handle.driver_version,
            total_memory: self.memory_size,
            memory_statistics: allocations_on(self.handle).statistics(),
            props.caching_properties: (driver_version,),
        }

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

    def build(self, launches: Sequence[Launch], binaries: Binaries) -> list[cl.Program]:
        """Return the program of each launch: built once, kept in memory and, as a binary, among the others.

        Raises DeviceError with the compiler's words if a program does not build.
        """
        names = self.binary_names(launches)
        with self._lock:
            found = {name: self._programs.get(name) for name in names}
            if None in found.values():
                pocl_cache.check_space(self.handle)
                found |= {name: self._load(binaries.get(name)) for name, program in found.items() if program is None}
            missing = {launch.source: name for name, launch in zip(names, launches) if found[name] is None}
            if missing:
                made = self._compile([launch for launch in launches if launch.source in missing])
                for source, program in made.items():
                    found[missing[source]] = program
                    binaries.keep(missing[source], binary_of(program))
            self._programs.update(found)
            self._recent.extend(found.values())
        return [found[name] for name in names]

    def binary_names(self, launches: Sequence[Launch]) -> list[str]:
        """Return the name of the binary of each launch's program, as this device and its driver build it."""
        handle = self.handle
        driver = [handle.platform.version, handle.name, handle.version, handle.driver_version, pocl.built_for()]
        names = {}
        for source, variants in self._variants(launches).items():
            text = "\0".join([*driver, *map(str, sorted(variants)), source])
            names[source] = hashlib.sha256(text.encode()).hexdigest() + ".bin"
        return [names[launch.source] for launch in launches]

    def _variants(self, launches: Sequence[Launch]) -> dict[str, dict[tuple, Launch]]:
        """Return the launches of each source text for which the driver generates different code."""
        variants: dict[str, dict[tuple, Launch]] = {launch.source: {} for launch in launches}
        if self._compiler and pocl.is_pocl(self.handle):
            for launch in launches:
                if launch.local_size:
                    grid = pocl.smallest_grid(launch.global_size, launch.local_size)
                    variants[launch.source][launch.kernel, grid, launch.local_size] = launch
        return variants

    def _compile(self, launches: Sequence[Launch]) -> dict[str, cl.Program]:
        """Build the programs of launches, by their source texts."""
        if self._compiler:
            built = self._compiler.build_all(
                BuildRequest(source, [(*variant, launch.described_arguments()) for variant, launch in variants.items()])
                for source, variants in self._variants(launches).items()
            )
        else:
            built = [self._build_here(source) for source in dict.fromkeys(launch.source for launch in launches)]
        operations = {launch.source: launch.operation for launch in reversed(launches)}
        programs = {}
        for source, result in zip(dict.fromkeys(launch.source for launch in launches), built):
            program = self._load(result) if isinstance(result, bytes) else result
            if not isinstance(program, cl.Program):
                reason = _compiler_words(program) if program else "it does not accept its own binary"
                raise DeviceError(f"{self.name} cannot build the kernel of {operations[source]}: {reason}") from program
            programs[source] = program
        return programs

    def _build_here(self, source: str) -> cl.Program | cl.Error:
        try:
            return _build(cl.Program(self.context, source))
        except cl.Error as error:
            return error

    def _load(self, binary: bytes | None) -> cl.Program | None:
        """Return the program of a binary, or None if there is none or the device does not accept it."""
        if binary is None:
            return None
        try:
            return _build(cl.Program(self.context, [self.handle], [binary]))
        except cl.Error:
            return None


def binary_of(program: cl.Program) -> bytes:
    """The binary of a program that was built."""
    return program.get_info(cl.program_info.BINARIES)[0]


@dataclass(frozen=True)
class Devices:
    """The devices in the order in which GPU.0, GPU.1, … count them, and by name why others cannot be used."""

    usable: tuple[OpenCLDevice, ...]
    unusable: dict[str, str]


@functools.cache
def present_devices() -> Devices:
    """Return all OpenCL devices. Raises DeviceError if none can be used."""
    note_drivers()
    try:
        handles = all_devices()
    except cl.Error as error:
        raise DeviceError(
            f"no OpenCL platform is installed ({error}): pip install hetero-opencl[pocl] brings one"
        ) from None
    if not handles:
        names = ", ".join(platform.name for platform in cl.get_platforms()) or "none"
        raise DeviceError(f"no OpenCL device is present; the platforms are {names}")
    usable, unusable = [], {}
    for handle in handles:
        try:
            pocl_cache.check_space(handle)
            verdict = trial.verdict_on(handle)
            if verdict.reason:
                raise DeviceError(verdict.reason)
            usable.append((_rank(handle, verdict.gflops), OpenCLDevice(handle)))
        except DeviceError as error:
            unusable[name_of(handle)] = str(error)
            log.info("the OpenCL device %s is not used: %s", name_of(handle), error)
    if not usable:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in unusable.items())
        raise DeviceError(
            f"no OpenCL device can be used ({reasons}): pip install hetero-opencl[intel] brings another one"
        )
    usable.sort(key=itemgetter(0))
    for index, (_, device) in enumerate(usable):
        device.id = str(index)
    return Devices(tuple(device for _, device in usable), unusable)


def name_of(handle: cl.Device) -> str:
    return f"{handle.name.strip()} ({handle.platform.name.strip()})"


@contextlib.contextmanager
def opencl_errors(doing: str | Callable[[], str]) -> Iterator[None]:
    """Turn OpenCL's errors into DeviceErrors that say what was being done, by a call where only then it is known."""
    check_process()
    try:
        yield
    except (cl.MemoryError, MemoryError) as error:
        raise DeviceError(f"out of device memory while {doing() if callable(doing) else doing}: {error}") from error
    except cl.Error as error:
        raise DeviceError(f"OpenCL failed while {doing() if callable(doing) else doing}: {error}") from error


def _build(program: cl.Program) -> cl.Program:
    """Build a program without pyopencl's own cache, and without its warning where a compiler has something to say."""
    with warnings.catch_warnings(action="ignore", category=cl.CompilerWarning):
        return program.build(cache_dir=False)


def _compiler_words(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if "error" in line.lower()]
    return "; ".join(lines[:MOST_ERRORS]) or str(error)


def _rank(handle: cl.Device, gflops: float) -> tuple[int, float]:
    """Order devices by kind; of several runtimes that drive one processor, the fastest comes first."""
    kind = next((rank for rank, kind in enumerate(_KINDS) if handle.type & kind), len(_KINDS))
    return kind, -gflops if handle.type & cl.device_type.CPU else 0
