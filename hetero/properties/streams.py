"""Number of inferences that run at once, like ``openvino.properties.streams``."""

from __future__ import annotations

from typing import Any, ClassVar

from hetero.properties.property import Property
from hetero.properties.values import count


class Num(int):
    """A number of streams. AUTO, the default: the device chooses. NUMA: the same, as hetero knows no NUMA nodes."""

    AUTO: ClassVar[Num]
    NUMA: ClassVar[Num]

    def __new__(cls, value: int = -1) -> Num:
        return super().__new__(cls, value)

    def to_integer(self) -> int:
        return int(self)


Num.AUTO, Num.NUMA = Num(-1), Num(-2)


def _number(value: Any) -> Num:
    if str(value).upper() in ("AUTO", "NUMA", "-1", "-2"):
        return Num.AUTO
    return Num(max(count(value), 1))  # 0 is OpenVINO's way to ask for no threads besides the caller's


num = Property("NUM_STREAMS", _number, Num(1), accepts="an integer of at least 0, or AUTO")
