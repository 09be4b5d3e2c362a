"""Number of inferences that run at once, like ``openvino.properties.streams``."""

from __future__ import annotations

from typing import Any, ClassVar

from hetero.properties.property import Property
from hetero.properties.values import count


class Num(int):
    """A number of streams. AUTO: the device chooses the number."""

    AUTO: ClassVar[Num]

    def to_integer(self) -> int:
        return int(self)


Num.AUTO = Num(-1)


def _number(value: Any) -> Num:
    if value == Num.AUTO or str(value).upper() == "AUTO":
        return Num.AUTO
    if count(value) == 0:
        raise ValueError
    return Num(count(value))


num = Property("NUM_STREAMS", _number, Num(1), accepts="an integer of at least 1, or AUTO")
