"""Hints for GPUs, like ``openvino.properties.intel_gpu.hint``. Device GPU accepts them and has no use for them."""

from hetero.properties.hint import Priority
from hetero.properties.property import EVERY_VALUE, Mutability, Property
from hetero.properties.values import boolean, count, member_of

ThrottleLevel = Priority

queue_priority = Property("GPU_QUEUE_PRIORITY", member_of(Priority), Priority.MEDIUM, ignored=EVERY_VALUE)
queue_throttle = Property("GPU_QUEUE_THROTTLE", member_of(Priority), Priority.MEDIUM, ignored=EVERY_VALUE)
host_task_priority = Property("GPU_HOST_TASK_PRIORITY", member_of(Priority), Priority.MEDIUM, ignored=EVERY_VALUE)
available_device_mem = Property("AVAILABLE_DEVICE_MEM_SIZE", count, 0, Mutability.RW, ignored=EVERY_VALUE)
enable_large_allocations = Property("GPU_ENABLE_LARGE_ALLOCATIONS", boolean, False, ignored=EVERY_VALUE)
enable_lora_operation = Property("GPU_ENABLE_LORA_OPERATION", boolean, True, ignored=EVERY_VALUE)
