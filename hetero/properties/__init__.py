"""Property keys, like ``openvino.properties``. The keys are OpenVINO's strings; each Property is a str."""

from hetero.properties import device, hint, intel_auto, intel_cpu, intel_gpu, log, streams
from hetero.properties.property import EVERY_VALUE, Mutability, Property, PropertyEnum
from hetero.properties.table import PropertyTable, supported_properties
from hetero.properties.values import boolean, count, element_type, mapping, member_of, names

__all__ = [
    "EVERY_VALUE",
    "CacheMode",
    "CompatibilityCheck",
    "Mutability",
    "Property",
    "PropertyEnum",
    "PropertyTable",
    "WorkloadType",
    "auto_batch_timeout",
    "available_devices",
    "boolean",
    "cache_dir",
    "cache_mode",
    "caching_properties",
    "compatibility_check",
    "compilation_num_threads",
    "count",
    "device",
    "disable_transformations",
    "disabled_passes",
    "enable_mmap",
    "enable_profiling",
    "enable_weightless",
    "exclusive_async_requests",
    "execution_devices",
    "force_tbb_terminate",
    "hint",
    "inference_num_threads",
    "intel_auto",
    "intel_cpu",
    "intel_gpu",
    "key_cache_group_size",
    "key_cache_precision",
    "loaded_from_cache",
    "log",
    "mapping",
    "max_batch_size",
    "model_name",
    "names",
    "num_streams",
    "optimal_batch_size",
    "optimal_number_of_infer_requests",
    "range_for_async_infer_requests",
    "range_for_streams",
    "runtime_requirements",
    "streams",
    "supported_properties",
    "tuning_file",
    "value_cache_group_size",
    "value_cache_precision",
    "weights_path",
    "workload_type",
]  # fmt: skip
from hetero.core.types import Type


class CacheMode(PropertyEnum):
    """What the model cache saves: space or time."""

    OPTIMIZE_SIZE = "OPTIMIZE_SIZE", 0
    OPTIMIZE_SPEED = "OPTIMIZE_SPEED", 1


class WorkloadType(PropertyEnum):
    """Whether inferences may run slower to save energy."""

    DEFAULT = "DEFAULT", 0
    EFFICIENT = "EFFICIENT", 1


class CompatibilityCheck(PropertyEnum):
    """Whether a device can import a compiled model."""

    NOT_APPLICABLE = "NOT_APPLICABLE", 0
    SUPPORTED = "SUPPORTED", 1
    UNSUPPORTED = "UNSUPPORTED", 2


available_devices = Property("AVAILABLE_DEVICES", names, (), Mutability.RO)
execution_devices = Property("EXECUTION_DEVICES", names, (), Mutability.RO)
loaded_from_cache = Property("LOADED_FROM_CACHE", boolean, False, Mutability.RO)
model_name = Property("NETWORK_NAME", str, "", Mutability.RO)
# The number of samples with which inferences are fastest per sample; 0 if the device does not know.
optimal_batch_size = Property("OPTIMAL_BATCH_SIZE", count, 0, Mutability.RO)
optimal_number_of_infer_requests = Property("OPTIMAL_NUMBER_OF_INFER_REQUESTS", count, 1, Mutability.RO)
# Minimum, maximum and step.
range_for_async_infer_requests = Property("RANGE_FOR_ASYNC_INFER_REQUESTS", tuple, (1, 1, 1), Mutability.RO)
# Minimum and maximum.
range_for_streams = Property("RANGE_FOR_STREAMS", tuple, (1, 1), Mutability.RO)

# Milliseconds that BATCH waits for a full batch.
auto_batch_timeout = Property("AUTO_BATCH_TIMEOUT", count, 1000)
cache_dir = Property("CACHE_DIR", str, "")
enable_profiling = Property("PERF_COUNT", boolean, False)
inference_num_threads = Property("INFERENCE_NUM_THREADS", count, 0)
num_streams = streams.num

# Accepted as hints.
cache_mode = Property("CACHE_MODE", member_of(CacheMode), CacheMode.OPTIMIZE_SPEED, ignored=EVERY_VALUE)
compilation_num_threads = Property("COMPILATION_NUM_THREADS", count, 0, ignored=EVERY_VALUE)
enable_mmap = Property("ENABLE_MMAP", boolean, True, ignored=EVERY_VALUE)
enable_weightless = Property("ENABLE_WEIGHTLESS", boolean, False, ignored=EVERY_VALUE)
force_tbb_terminate = Property("FORCE_TBB_TERMINATE", boolean, False, ignored=EVERY_VALUE)
key_cache_precision = Property("KEY_CACHE_PRECISION", element_type(*Type), Type.dynamic, ignored=EVERY_VALUE)
key_cache_group_size = Property("KEY_CACHE_GROUP_SIZE", count, 0, ignored=EVERY_VALUE)
value_cache_precision = Property("VALUE_CACHE_PRECISION", element_type(*Type), Type.dynamic, ignored=EVERY_VALUE)
value_cache_group_size = Property("VALUE_CACHE_GROUP_SIZE", count, 0, ignored=EVERY_VALUE)
weights_path = Property("WEIGHTS_PATH", str, "", Mutability.WO, ignored=EVERY_VALUE)
workload_type = Property("WORKLOAD_TYPE", member_of(WorkloadType), WorkloadType.DEFAULT, ignored=EVERY_VALUE)

# Read-only descriptions for devices that know them.
compatibility_check = Property(
    "COMPATIBILITY_CHECK", member_of(CompatibilityCheck), CompatibilityCheck.NOT_APPLICABLE, Mutability.RO
)
max_batch_size = Property("MAX_BATCH_SIZE", count, 1, Mutability.RO)
runtime_requirements = Property("RUNTIME_REQUIREMENTS", str, "", Mutability.RO)

# In OpenVINO these exist in C++ only: caching_properties and exclusive_async_requests in ov::internal,
# disable_transformations in ov::template_plugin.
disabled_passes = Property("DISABLED_PASSES", names, ())
# Read-only keys whose values are part of the model cache's key, such as the version of a driver.
caching_properties = Property("CACHING_PROPERTIES", names, (), Mutability.RO)
disable_transformations = Property("DISABLE_TRANSFORMATIONS", boolean, False)
# hetero's own: the file that CompiledModel.tune writes; empty: the one of the device.
tuning_file = Property("TUNING_FILE", str, "")
exclusive_async_requests = Property("EXCLUSIVE_ASYNC_REQUESTS", boolean, False)
