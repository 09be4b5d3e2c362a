"""OpenCL devices: discovery, contexts, queues, and the programs built for them."""

from __future__ import annotations

import functools
import hashlib
import math
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl

from hetero import properties as props
from hetero.core.types import Type
from hetero.plugin import Rank, check_allocation, get_logger
from hetero.properties import Property
from hetero.system.errors import DeviceError
from hetero_opencl.device import caches, pocl, process_guard, trial
from hetero_opencl.device.caches import BinaryCache, build_uncached
from hetero_opencl.device.compiler import BuildRequest, Compiler
from hetero_opencl.device.device_profile import profile_of
from hetero_opencl.device.launch import SLACK, Launch
from hetero_opencl.device.memory import allocations_on, memory_statistics
from hetero_opencl.device.platforms import all_devices, name_of, pci_address, target_of
from hetero_opencl.device.process_guard import fork_guard
from hetero_opencl.profiles.profile import DeviceProfile
from hetero_opencl.profiles.profiled_device import ProfiledDevice

log = get_logger("hetero.opencl")

driver_version = Property("GPU_DRIVER_VERSION", str, "", props.Mutability.RO)
total_memory = Property("GPU_DEVICE_TOTAL_MEM_SIZE", int, 0, props.Mutability.RO)  # OpenVINO's, in bytes
# One inference computes while the inputs or outputs of another are transferred.
MAX_STREAMS = 2
# How many OpenCL programs a device keeps loaded. Each takes up to 400 kB; an image model has 10 to 60.
RECENT_PROGRAMS = 128
# Maximum number of compiler errors to report for one kernel.
MAX_ERRORS = 10
# Real GPUs first, then accelerators, then implementations on the CPU.
_KINDS = {cl.device_type.GPU: "GPU", cl.device_type.ACCELERATOR: "accelerator", cl.device_type.CPU: "CPU"}


class BuildError(DeviceError):
    """Kernels do not build: those of ``launches``, with the errors. The message is that of the first one."""

    def __init__(self, launches: Sequence[tuple[Launch, DeviceError]]) -> None:
        super().__init__(str(launches[0][1]))
        self.launches = launches


class OpenCLDevice(ProfiledDevice):
    """A device with an OpenCL context, its own or the user's, and the programs built in it.

    With a queue of the user, all commands go there.
    """

    def __init__(
        self,
        handle: cl.Device,
        profile: DeviceProfile,
        context: cl.Context | None = None,
        queue: cl.CommandQueue | None = None,
    ) -> None:
        is_processor = bool(handle.type & cl.device_type.CPU)
        pocl.repair(handle)
        super().__init__(
            profile,
            architecture=_architecture_of(handle),
            type=props.device.Type.INTEGRATED if handle.host_unified_memory else props.device.Type.DISCRETE,
            capabilities=("FP32", "FP16", "EXPORT_IMPORT"),
            memory_size=handle.global_mem_size,
            max_streams=MAX_STREAMS,
            rank=Rank.PROCESSOR if is_processor else Rank.ACCELERATOR,
            # Processors compute f16 as f32, and convert it.
            fastest_type=Type.dynamic if is_processor else Type.f16,
        )
        self.handle = handle
        self._compiler = Compiler(handle) if profile.builds_in_child else None
        with opencl_errors(f"making a context on {handle.name}"):
            self.context = context or cl.Context([handle])
        self._queue = queue
        self._shares_host_memory = _has_shared_memory(handle)
        #: Operations and the implementations that do not build for them, see compile/next_implementation.py.
        self.failed_choices: set[tuple[str, str]] = set()
        self.loaded_programs: weakref.WeakValueDictionary[str, cl.Program] = weakref.WeakValueDictionary()
        # Keeps programs alive for models that are compiled again. Loading one takes time, and on Intel's runtime the
        # process grows by 8 kB for each program that is loaded, run and dropped.
        self._recent: deque[cl.Program] = deque(maxlen=RECENT_PROGRAMS)
        self._lock = threading.Lock()

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
        """Describe the device for people."""
        handle = self.handle
        kind = next((name for bit, name in _KINDS.items() if handle.type & bit), "other")
        memory = "shared with the host" if handle.host_unified_memory else "dedicated"
        version = " ".join(handle.version.split()[:2])  # "OpenCL 3.0", followed by text of the driver's choice
        doubles = "f64" if self.profile.has_doubles else "no f64"
        copies = "tensors of the context are not copied" if self.shares_host_memory else "tensors are copied"
        return {
            "driver": f"{handle.driver_version} of {handle.platform.vendor.strip()}, {version}",
            "processor": f"{kind} of {handle.vendor.strip()}, {self.profile.compute_units} compute units",
            "speed": self.profile.describe_speed(),
            "vectors": f"{self.profile.vector_width} f32",
            "caches": self.profile.describe_caches(),
            "memory": f"{handle.global_mem_size / 2**30:.1f} GiB, {memory}; {copies}",
            "work-group": self.profile.describe_work_group(),
            "element types": f"f32, integers, {doubles}, f16 and bf16 computed as f32",
            "f16 arithmetic": "supported" if "cl_khr_fp16" in handle.extensions.split() else "not supported",
        }

    @property
    def shares_host_memory(self) -> bool:
        """Whether kernels and the host can use the same memory without mapping: fine-grain shared virtual memory."""
        return self._shares_host_memory

    def allocate(self, byte_size: int, hostbuf: np.ndarray | None = None) -> cl.Buffer:
        """Allocate a buffer of ``byte_size + SLACK`` bytes, in the memory of ``hostbuf`` if that is given."""
        flags = cl.mem_flags.USE_HOST_PTR if hostbuf is not None else 0
        with opencl_errors(self._allocating(byte_size)):
            if self.handle.host_unified_memory and hostbuf is None:
                check_allocation(byte_size, "a buffer")
            return allocations_on(self.handle).allocate(self.context, byte_size + SLACK, flags, hostbuf)

    def allocate_shared(self, byte_size: int) -> cl.Buffer:
        """Allocate a buffer as ``allocate`` does, in shared virtual memory: the host sees the array ``hostbuf``."""
        with opencl_errors(self._allocating(byte_size)):
            check_allocation(byte_size, "a buffer")
            array = cl.fsvm_empty(self.context, byte_size + SLACK, np.dtype(np.uint8))
        return self.allocate(byte_size, array)

    def _allocating(self, byte_size: int) -> str:
        """Return what errors say. Many GPUs report a quarter of their memory as the limit, and some allocate more."""
        text, most = f"allocating {byte_size} bytes on {self.full_name}", self.profile.max_allocation_bytes
        return text if byte_size + SLACK <= most else f"{text}, which promises {most} bytes at once"

    def upload(self, array: np.ndarray) -> cl.Buffer:
        """Return a new buffer that holds an array, and zeros after it."""
        with opencl_errors(f"uploading constants to {self.full_name}"):
            memory = self.allocate(array.nbytes)
            cl.enqueue_copy(self._upload_queue, memory, np.zeros(SLACK, np.uint8), dst_offset=array.nbytes)
            if array.nbytes:
                cl.enqueue_copy(self._upload_queue, memory, np.ascontiguousarray(array).reshape(-1).view(np.uint8))
        return memory

    @functools.cached_property
    def _upload_queue(self) -> cl.CommandQueue:
        return self.make_queue(profiled=False)

    def make_queue(self, profiled: bool) -> cl.CommandQueue:
        """Return a new in-order queue, or the user's queue if there is one, whether it is profiled or not."""
        if self._queue is not None:
            return self._queue
        if profiled:
            return cl.CommandQueue(self.context, self.handle, cl.command_queue_properties.PROFILING_ENABLE)
        return cl.CommandQueue(self.context, self.handle)

    def build(self, launches: Sequence[Launch], binaries: BinaryCache) -> list[cl.Program]:
        """Return the program of each launch: one that is loaded, else from its binary, else compiled.

        Raises BuildError with the compiler's messages if a program does not build.
        """
        names = self.binary_names(launches)
        errors: dict[str, DeviceError] = {}
        with self._lock:
            programs = {name: program for name in names if (program := self.loaded_programs.get(name))}
            absent = dict.fromkeys(name for name in names if name not in programs)
            if absent:
                caches.check_pocl_space(self.handle)
                programs |= {name: program for name in absent if (program := self._load(binaries.get(name)))}
                missing = {launch.source: name for name, launch in zip(names, launches) if name not in programs}
                to_compile = [launch for launch in launches if launch.source in missing]
                for source, result in self.compile(to_compile).items() if missing else ():
                    if isinstance(result, DeviceError):
                        errors[source] = result
                    else:
                        programs[missing[source]] = result
                        binaries.store(missing[source], result.binaries[0])
            self.loaded_programs.update(programs)
            self._recent.extend(programs.values())
        if errors:
            failed = [(launch, errors[launch.source]) for launch in launches if launch.source in errors]
            raise BuildError(failed) from failed[0][1].__cause__
        return [programs[name] for name in names]

    def binary_names(self, launches: Sequence[Launch]) -> list[str]:
        """Return the name of each launch's binary: a hash of the source text, the device and the driver."""
        handle = self.handle
        driver = [handle.platform.version, handle.name, handle.version, handle.driver_version, target_of(handle)]
        names = {}
        for source, variants in self._variants(launches).items():
            text = "\0".join([*driver, *map(str, sorted(variants)), source])
            names[source] = hashlib.sha256(text.encode()).hexdigest() + ".bin"
        return [names[launch.source] for launch in launches]

    def _variants(self, launches: Sequence[Launch]) -> dict[str, dict[tuple[Any, ...], Launch]]:
        """Return for each source text the launches for which the driver generates different code, by what differs."""
        variants: dict[str, dict[tuple[Any, ...], Launch]] = {launch.source: {} for launch in launches}
        if self._compiler and pocl.is_pocl(self.handle):
            for launch in launches:
                if launch.local_size:
                    grid = pocl.smallest_grid(launch.global_size, launch.local_size)
                    variants[launch.source][launch.kernel, grid, launch.local_size] = launch
        return variants

    def compile(self, launches: Sequence[Launch]) -> dict[str, cl.Program | DeviceError]:
        """Build the programs of launches; return them, or the errors, by their source texts."""
        variants = self._variants(launches)
        built: Iterable[bytes | cl.Program | Exception]
        if self._compiler:
            built = self._compiler.build_all(
                BuildRequest(source, [(*key, launch.described_arguments()) for key, launch in by_key.items()])
                for source, by_key in variants.items()
            )
        else:
            # Drivers of GPUs compile in the calling thread: Intel's takes 0.6 to 0.8 of the time with two.
            with ThreadPoolExecutor(os.cpu_count()) as executor:
                built = list(executor.map(self._build_here, variants))
        operations = {launch.source: launch.operation for launch in reversed(launches)}
        results: dict[str, cl.Program | DeviceError] = {}
        for source, result in zip(variants, built):
            program = self._load(result) if isinstance(result, bytes) else result
            if isinstance(program, cl.Program):
                results[source] = program
            else:
                reason = _compiler_errors(program) if program else "it does not accept its own binary"
                error = DeviceError(f"{self.full_name} cannot build the kernel of {operations[source]}: {reason}")
                error.__cause__ = program
                results[source] = error
        return results

    def _build_here(self, source: str) -> cl.Program | cl.Error:
        try:
            with process_guard.building():
                return build_uncached(cl.Program(self.context, source))
        except cl.Error as error:
            return error

    def _load(self, binary: bytes | None) -> cl.Program | None:
        """Return the program of a binary, or None if ``binary`` is None or the device rejects it."""
        if binary is None:
            return None
        try:
            with process_guard.building():
                return build_uncached(cl.Program(self.context, [self.handle], [binary]))
        except cl.Error:
            return None


def _has_shared_memory(handle: cl.Device) -> bool:
    try:
        fine_grain = handle.svm_capabilities & cl.device_svm_capabilities.FINE_GRAIN_BUFFER
    except cl.Error:  # before OpenCL 2.0
        return False
    return bool(fine_grain and handle.host_unified_memory)


@dataclass(frozen=True)
class Devices:
    """The usable devices in the order of GPU.0, GPU.1, …, and by id the names and faults of the others."""

    usable: tuple[OpenCLDevice, ...]
    unusable: dict[str, str]


@functools.cache
def present_devices() -> Devices:
    """Find all OpenCL devices, and try those new to this machine. Raises DeviceError if none can be used.

    A device that cannot be used has a number too, so that the others keep theirs.
    """
    fork_guard.watch()
    try:
        handles = all_devices()
    except cl.Error as error:
        raise DeviceError(
            f"no OpenCL platform is installed ({error}): pip install hetero-opencl[pocl] installs one"
        ) from None
    if not handles:
        names = ", ".join(platform.name for platform in cl.get_platforms()) or "none"
        raise DeviceError(f"no OpenCL device is present; the platforms are {names}")
    found: list[tuple[cl.Device, float, OpenCLDevice | str]] = []  # a string is the fault of a device
    for handle in handles:
        speed = math.inf  # a device that fails before it is measured may be the fastest
        try:
            caches.check_pocl_space(handle)
            verdict = trial.verdict_on(handle)
            if verdict.reason:
                raise DeviceError(verdict.reason)
            speed = verdict.measurements.flops_per_second
            found.append((handle, speed, OpenCLDevice(handle, profile_of(handle, verdict.measurements))))
        except (DeviceError, cl.Error) as error:
            found.append((handle, speed, f"{name_of(handle)}: {error}"))
            log.info("the OpenCL device %s is not used: %s", name_of(handle), error)
    usable, unusable = [], {}
    for index, place in enumerate(_order(found)):
        device = found[place][-1]
        if isinstance(device, str):
            unusable[str(index)] = device
        else:
            device.id = str(index)
            usable.append(device)
    if not usable:
        raise DeviceError(
            f"no OpenCL device can be used ({'; '.join(unusable.values())}): pip install hetero-opencl[intel] installs "
            "another one"
        )
    return Devices(tuple(usable), unusable)


def _architecture_of(handle: cl.Device) -> str:
    """Return what binaries and measured times of a device hold for, less the version of its driver."""
    target = target_of(handle)
    built_for = f", built for {target}" if target else ""
    return f"{handle.vendor.strip()} {handle.name.strip()}, {handle.version.strip()}{built_for}"


class opencl_errors:
    """Turn OpenCL errors into DeviceErrors that say what was being done.

    ``doing`` may be a function, called only on an error, if the text is known only then.
    """

    def __init__(self, doing: str | Callable[[], str]) -> None:
        fork_guard.check()
        self._doing = doing

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, OPENCL_ERRORS):
            raise opencl_error(error, self._doing() if callable(self._doing) else self._doing) from error


# What pyopencl raises.
OPENCL_ERRORS = (cl.Error, MemoryError)


def opencl_error(error: Exception, doing: str) -> DeviceError:
    """Return an OpenCL error as a DeviceError that says what was being done, where a ``with`` takes too long."""
    problem = "out of device memory" if isinstance(error, (cl.MemoryError, MemoryError)) else "OpenCL failed"
    return DeviceError(f"{problem} while {doing}: {error}")


def _compiler_errors(error: Exception) -> str:
    """Return the first errors that the compiler reported, or else the whole text."""
    lines = [line.strip() for line in str(error).splitlines() if "error" in line.lower()]
    return "; ".join(lines[:MAX_ERRORS]) or str(error)


def _order(found: Sequence[tuple[cl.Device, float, object]]) -> list[int]:
    """Return the places of devices, which come with their speed, in the order of their numbers.

    First by kind. The drivers for one GPU follow each other, and the runtimes for the processor, the fastest first.
    """
    cards: dict[object, int] = {}
    keys = []
    for place, (handle, speed, _) in enumerate(found):
        kind = next((rank for rank, kind in enumerate(_KINDS) if handle.type & kind), len(_KINDS))
        card = "processor" if handle.type & cl.device_type.CPU else pci_address(handle) or place
        keys.append((kind, cards.setdefault(card, len(cards)), -speed))
    return sorted(range(len(found)), key=keys.__getitem__)
