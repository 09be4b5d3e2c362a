"""Property keys, like ``openvino.properties``. The keys are OpenVINO's strings; each Property is a str."""

from hetero.properties import device, hint, log, streams
from hetero.properties.property import Mutability, Property
from hetero.properties.table import PropertyTable, supported_properties
from hetero.properties.values import boolean, count, mapping, names

__all__ = [
    "Mutability", "Property", "PropertyTable", "available_devices", "boolean", "cache_dir", "caching_properties",
    "count", "device", "disable_transformations", "disabled_passes", "enable_profiling", "exclusive_async_requests",
    "execution_devices", "hint", "inference_num_threads", "loaded_from_cache", "log", "mapping", "model_name",
    "names", "num_streams", "optimal_number_of_infer_requests", "range_for_async_infer_requests", "range_for_streams",
    "streams", "supported_properties", "tuning_file",
]  # fmt: skip

available_devices = Property("AVAILABLE_DEVICES", names, (), Mutability.RO)
execution_devices = Property("EXECUTION_DEVICES", names, (), Mutability.RO)
loaded_from_cache = Property("LOADED_FROM_CACHE", boolean, False, Mutability.RO)
model_name = Property("NETWORK_NAME", str, "", Mutability.RO)
optimal_number_of_infer_requests = Property("OPTIMAL_NUMBER_OF_INFER_REQUESTS", count, 1, Mutability.RO)
# Minimum, maximum and step.
range_for_async_infer_requests = Property("RANGE_FOR_ASYNC_INFER_REQUESTS", tuple, (1, 1, 1), Mutability.RO)
# Minimum and maximum.
range_for_streams = Property("RANGE_FOR_STREAMS", tuple, (1, 1), Mutability.RO)

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
