"""The placement of a model in numbers: units, devices, seconds, and what each choice costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

# A unit is what goes to one device as a whole, mostly one operation; units and devices are counted from 0, in the order
# in which units can run and in which the user names devices. A choice is a device for each unit.
Choice = list[int]


@dataclass(frozen=True)
class Flow:
    """A value that goes from a unit, or from outside the model, to units, and perhaps to the outside.

    ``leave`` are the seconds, by device, to hand it out to others, paid once; ``arrive`` those for a device to take it
    from others. One that only the device that makes it reads costs nothing.
    """

    source: int | None
    readers: tuple[int, ...]
    leave: tuple[float, ...]
    arrive: tuple[float, ...]
    is_result: bool = False

    def cost(self, choice: Sequence[int]) -> float:
        home = None if self.source is None else choice[self.source]
        others = {choice[reader] for reader in self.readers} - {home}
        seconds = sum(self.arrive[device] for device in others)
        return seconds + (self.leave[home] if home is not None and (others or self.is_result) else 0.0)

    def between(self, start: int | None, end: int) -> float:
        """The seconds to go from a device, or from outside, to another one."""
        if start == end:
            return 0.0
        return self.arrive[end] + (0.0 if start is None or self.is_result else self.leave[start])


@dataclass(frozen=True)
class Problem:
    """``seconds[unit][device]`` that a unit takes, infinite where the device cannot run it or must not.

    ``bytes[unit]`` that a unit needs while the model is compiled, such as weights, and ``limits`` of the devices.
    """

    seconds: Sequence[Sequence[float]]
    flows: Sequence[Flow]
    device_count: int
    bytes: Sequence[float] = ()
    limits: Sequence[float] = ()

    def cost(self, choice: Sequence[int]) -> float:
        """The seconds of one inference, one unit after the other; infinite where a device cannot run a unit."""
        running = sum(seconds[device] for seconds, device in zip(self.seconds, choice))
        return running + sum(flow.cost(choice) for flow in self.flows)

    def able(self, unit: int) -> list[int]:
        """The devices that may run a unit, in the user's order."""
        return [device for device, seconds in enumerate(self.seconds[unit]) if seconds < math.inf]

    def first_able(self, preferred: Sequence[int] = ()) -> Choice:
        """Each unit on the first device that may run it, of the preferred ones and then of all."""
        order = dict.fromkeys((*preferred, *range(self.device_count)))
        return [next(d for d in order if seconds[d] < math.inf) for seconds in self.seconds]

    def simple_choices(self) -> list[Choice]:
        """Everything on one device as far as it can, and the rest on the first that can, for each device."""
        return [self.first_able([device]) for device in range(self.device_count)]
