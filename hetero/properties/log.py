"""Log level of a device, like ``openvino.properties.log``."""

from enum import StrEnum

from hetero.properties.property import Property
from hetero.properties.values import member_of


class Level(StrEnum):
    """Lowest severity of the messages that a device logs."""

    NO = "LOG_NONE"
    ERR = "LOG_ERROR"
    WARNING = "LOG_WARNING"
    INFO = "LOG_INFO"
    DEBUG = "LOG_DEBUG"
    TRACE = "LOG_TRACE"


level = Property("LOG_LEVEL", member_of(Level), Level.WARNING)
