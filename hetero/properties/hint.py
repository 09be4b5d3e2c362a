"""Hints: high-level goals from which a device derives its settings, like ``openvino.properties.hint``."""

from hetero.core.types import Type
from hetero.properties.property import EVERY_VALUE, Property, PropertyEnum
from hetero.properties.values import boolean, count, element_type, member_of, number, set_of


class PerformanceMode(PropertyEnum):
    """Goal of the scheduling of inferences.

    LATENCY: each inference as fast as possible. THROUGHPUT: as many inferences at once as the device can use.
    CUMULATIVE_THROUGHPUT: the same on each of several devices.
    """

    LATENCY = "LATENCY", 1
    THROUGHPUT = "THROUGHPUT", 2
    CUMULATIVE_THROUGHPUT = "CUMULATIVE_THROUGHPUT", 3


class ExecutionMode(PropertyEnum):
    """PERFORMANCE: the device may compute in its fastest type, such as bf16. ACCURACY: it may not change rounding.

    By default devices may change the rounding, but compute models in their own types.
    """

    PERFORMANCE = "PERFORMANCE", 1
    ACCURACY = "ACCURACY", 2


class Priority(PropertyEnum):
    """Priority of a compiled model's inferences among all that wait for the same threads."""

    LOW = "LOW", 0
    MEDIUM = "MEDIUM", 1
    HIGH = "HIGH", 2
    DEFAULT = "MEDIUM", 1


class ModelDistributionPolicy(PropertyEnum):
    """How several devices share a model. TENSOR_PARALLEL: split operations. PIPELINE_PARALLEL: one stage for each."""

    TENSOR_PARALLEL = "TENSOR_PARALLEL", 0
    PIPELINE_PARALLEL = "PIPELINE_PARALLEL", 1


class SchedulingCoreType(PropertyEnum):
    """The kind of processor cores to use: all, those for performance, or those for efficiency."""

    ANY_CORE = "ANY_CORE", 0
    PCORE_ONLY = "PCORE_ONLY", 1
    ECORE_ONLY = "ECORE_ONLY", 2


performance_mode = Property("PERFORMANCE_HINT", member_of(PerformanceMode), PerformanceMode.LATENCY)
num_requests = Property("PERFORMANCE_HINT_NUM_REQUESTS", count, 0)
allow_auto_batching = Property("ALLOW_AUTO_BATCHING", boolean, True)
execution_mode = Property("EXECUTION_MODE_HINT", member_of(ExecutionMode), ExecutionMode.PERFORMANCE)
inference_precision = Property(
    "INFERENCE_PRECISION_HINT", element_type(Type.f64, Type.f32, Type.f16, Type.bf16, Type.dynamic), Type.dynamic
)
model_priority = Property("MODEL_PRIORITY", member_of(Priority), Priority.MEDIUM)
model_distribution_policy = Property("MODEL_DISTRIBUTION_POLICY", set_of(ModelDistributionPolicy), set())

# Hints about processor cores, caches of attention and quantization, which no device of hetero has a use for.
enable_cpu_pinning = Property("ENABLE_CPU_PINNING", boolean, False, ignored=EVERY_VALUE)
enable_cpu_reservation = Property("ENABLE_CPU_RESERVATION", boolean, False, ignored=EVERY_VALUE)
enable_hyper_threading = Property("ENABLE_HYPER_THREADING", boolean, True, ignored=EVERY_VALUE)
scheduling_core_type = Property(
    "SCHEDULING_CORE_TYPE", member_of(SchedulingCoreType), SchedulingCoreType.ANY_CORE, ignored=EVERY_VALUE
)
kv_cache_precision = Property("KV_CACHE_PRECISION", element_type(*Type), Type.dynamic, ignored=EVERY_VALUE)
dynamic_quantization_group_size = Property("DYNAMIC_QUANTIZATION_GROUP_SIZE", count, 0, ignored=EVERY_VALUE)
activations_scale_factor = Property("ACTIVATIONS_SCALE_FACTOR", number, -1.0, ignored=EVERY_VALUE)
