"""Property keys, like ``openvino.properties``. The keys are OpenVINO's strings; each Property is a str."""

from hetero.properties import device, hint, intel_auto, log, streams
from hetero.properties.property import Mutability, Property
from hetero.properties.table import PropertyTable, supported_properties
from hetero.properties.values import boolean, count, mapping, names

__all__ = [
    "Mutability", "Property", "PropertyTable", "auto_batch_timeout", "available_devices", "boolean", "cache_dir",
    "caching_properties", "count", "device", "disable_transformations", "disabled_passes", "enable_profiling",
    "exclusive_async_requests", "execution_devices", "hint", "inference_num_threads", "intel_auto", "loaded_from_cache",
    "log", "mapping", "model_name", "names", "num_streams", "optimal_batch_size", "optimal_number_of_infer_requests",
    "range_for_async_infer_requests", "range_for_streams", "streams", "supported_properties", "tuning_file",
]  # fmt: skip

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

# In OpenVINO these exist in C++ only: caching_properties and exclusive_async_requests in ov::internal,
# disable_transformations in ov::template_plugin.
disabled_passes = Property("DISABLED_PASSES", names, ())
# Read-only keys whose values are part of the model cache's key, such as the version of a driver.
caching_properties = Property("CACHING_PROPERTIES", names, (), Mutability.RO)
disable_transformations = Property("DISABLE_TRANSFORMATIONS", boolean, False)
# hetero's own: the file that CompiledModel.tune writes; empty: the one of the device.
tuning_file = Property("TUNING_FILE", str, "")
exclusive_async_requests = Property("EXCLUSIVE_ASYNC_REQUESTS", boolean, False)
