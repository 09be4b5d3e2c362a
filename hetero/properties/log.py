"""Log level of a device, like ``openvino.properties.log``."""

from hetero.properties.property import Property, PropertyEnum
from hetero.properties.values import member_of


class Level(PropertyEnum):
    """Lowest severity of the messages that a device logs."""

    NO = "LOG_NONE", -1
    ERR = "LOG_ERROR", 0
    WARNING = "LOG_WARNING", 1
    INFO = "LOG_INFO", 2
    DEBUG = "LOG_DEBUG", 3
    TRACE = "LOG_TRACE", 4


level = Property("LOG_LEVEL", member_of(Level), Level.WARNING)
