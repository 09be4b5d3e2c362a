"""Number of inferences that run at once, like ``openvino.properties.streams``."""

from __future__ import annotations

from typing import Any, ClassVar

from hetero.properties.property import Property
from hetero.properties.values import count


class Num(int):
    """A number of streams. AUTO: the device chooses the number. NUMA: the same, as hetero knows no NUMA nodes."""

    AUTO: ClassVar[Num]
    NUMA: ClassVar[Num]

    def to_integer(self) -> int:
        return int(self)


Num.AUTO, Num.NUMA = Num(-1), Num(-2)


def _number(value: Any) -> Num:
    if value in (Num.AUTO, Num.NUMA) or str(value).upper() in ("AUTO", "NUMA"):
        return Num.AUTO
    if count(value) == 0:
        raise ValueError
    return Num(count(value))


num = Property("NUM_STREAMS", _number, Num(1), accepts="an integer of at least 1, or AUTO")
