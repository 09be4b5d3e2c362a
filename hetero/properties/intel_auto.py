"""Properties of AUTO and MULTI, like ``openvino.properties.intel_auto``."""

from hetero.properties.property import Property, PropertyEnum
from hetero.properties.values import boolean, member_of


class SchedulePolicy(PropertyEnum):
    """The device of an inference if several are idle.

    DEVICE_PRIORITY: the first in the list. ROUND_ROBIN: the one after the device of the inference before.
    """

    ROUND_ROBIN = "ROUND_ROBIN", 0
    DEVICE_PRIORITY = "DEVICE_PRIORITY", 1
    DEFAULT = "DEVICE_PRIORITY", 1


device_bind_buffer = Property("DEVICE_BIND_BUFFER", boolean, False)
enable_startup_fallback = Property("ENABLE_STARTUP_FALLBACK", boolean, True)
enable_runtime_fallback = Property("ENABLE_RUNTIME_FALLBACK", boolean, True)
schedule_policy = Property("SCHEDULE_POLICY", member_of(SchedulePolicy), SchedulePolicy.DEVICE_PRIORITY)
