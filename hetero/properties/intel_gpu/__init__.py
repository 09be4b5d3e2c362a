"""Properties of GPUs, like ``openvino.properties.intel_gpu``."""

from enum import StrEnum

from hetero.properties.intel_gpu import hint
from hetero.properties.property import EVERY_VALUE, Mutability, Property
from hetero.properties.values import boolean, count, mapping

__all__ = [
    "CapabilityGPU", "MemoryType", "device_max_alloc_mem_size", "device_total_mem_size", "disable_winograd_convolution",
    "enable_loop_unrolling", "execution_units_count", "hint", "memory_statistics", "uarch_version",
]  # fmt: skip


class MemoryType(StrEnum):
    """Kinds of memory behind a remote tensor."""

    surface = "GPU_SURFACE"
    buffer = "GPU_BUFFER"


class CapabilityGPU(StrEnum):
    """Capabilities of GPUs, in OPTIMIZATION_CAPABILITIES."""

    HW_MATMUL = "GPU_HW_MATMUL"
    USM_MEMORY = "GPU_USM_MEMORY"


# Bytes.
device_total_mem_size = Property("GPU_DEVICE_TOTAL_MEM_SIZE", count, 0, Mutability.RO)
device_max_alloc_mem_size = Property("GPU_DEVICE_MAX_ALLOC_MEM_SIZE", count, 0, Mutability.RO)
memory_statistics = Property("GPU_MEMORY_STATISTICS", mapping, {}, Mutability.RO)
execution_units_count = Property("GPU_EXECUTION_UNITS_COUNT", count, 0, Mutability.RO)
uarch_version = Property("GPU_UARCH_VERSION", str, "", Mutability.RO)
enable_loop_unrolling = Property("GPU_ENABLE_LOOP_UNROLLING", boolean, True, ignored=EVERY_VALUE)
disable_winograd_convolution = Property("GPU_DISABLE_WINOGRAD_CONVOLUTION", boolean, False, ignored=EVERY_VALUE)
