"""Hints: high-level goals from which a device derives its settings, like ``openvino.properties.hint``."""

from enum import StrEnum

from hetero.properties.property import Property
from hetero.properties.values import boolean, count, element_type, member_of, set_of
from hetero.types import Type


class PerformanceMode(StrEnum):
    """Goal of the scheduling of inferences.

    LATENCY: each inference as fast as possible. THROUGHPUT: as many inferences at once as the device can use.
    CUMULATIVE_THROUGHPUT: the same on each of several devices.
    """

    LATENCY = "LATENCY"
    THROUGHPUT = "THROUGHPUT"
    CUMULATIVE_THROUGHPUT = "CUMULATIVE_THROUGHPUT"


class ExecutionMode(StrEnum):
    """PERFORMANCE: the device may change the rounding of results. ACCURACY: it may not."""

    PERFORMANCE = "PERFORMANCE"
    ACCURACY = "ACCURACY"


class Priority(StrEnum):
    """Priority of a compiled model's inferences among all that wait for the same threads."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    DEFAULT = "MEDIUM"


class ModelDistributionPolicy(StrEnum):
    """How several devices share a model. TENSOR_PARALLEL: split operations. PIPELINE_PARALLEL: one stage for each."""

    TENSOR_PARALLEL = "TENSOR_PARALLEL"
    PIPELINE_PARALLEL = "PIPELINE_PARALLEL"


performance_mode = Property("PERFORMANCE_HINT", member_of(PerformanceMode), PerformanceMode.LATENCY)
num_requests = Property("PERFORMANCE_HINT_NUM_REQUESTS", count, 0)
allow_auto_batching = Property("ALLOW_AUTO_BATCHING", boolean, True)
execution_mode = Property("EXECUTION_MODE_HINT", member_of(ExecutionMode), ExecutionMode.PERFORMANCE)
inference_precision = Property(
    "INFERENCE_PRECISION_HINT", element_type(Type.f64, Type.f32, Type.f16, Type.bf16, Type.dynamic), Type.dynamic
)
model_priority = Property("MODEL_PRIORITY", member_of(Priority), Priority.MEDIUM)
model_distribution_policy = Property("MODEL_DISTRIBUTION_POLICY", set_of(ModelDistributionPolicy), set())
