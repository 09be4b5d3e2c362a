"""How many inferences run at once: ``openvino.properties.streams``."""

from __future__ import annotations

from typing import Any, ClassVar

from hetero.properties.property import Property
from hetero.properties.values import count


class Num(int):
    """A number of streams; AUTO leaves it to the device, which takes as many as makes sense."""

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


num = Property("NUM_STREAMS", _number, Num(1), accepts="a whole number of at least 1, or AUTO")
