"""Problem: the placement of a model in numbers: units, devices, seconds, and the cost of each choice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: The device of each unit. A unit is placed as a whole, mostly one operation. Units are numbered in topological order,
#: devices in the user's order.
Choice = list[int]


@dataclass(frozen=True)
class Flow:
    """A value that one unit, or an input of the model, gives to other units, and perhaps to an output of the model.

    ``leave`` are the seconds to copy it from each device to the host, paid once; ``arrive`` those to copy it from the
    host to each device. A value that is only read on the device that computes it costs nothing.
    """

    source: int | None
    readers: tuple[int, ...]
    leave: tuple[float, ...]
    arrive: tuple[float, ...]
    is_result: bool = False

    def cost(self, choice: Sequence[int]) -> float:
        """Return the seconds of all transfers of the value."""
        home = None if self.source is None else choice[self.source]
        others = {choice[reader] for reader in self.readers} - {home}
        seconds = sum(self.arrive[device] for device in others)
        return seconds + (self.leave[home] if home is not None and (others or self.is_result) else 0.0)

    def between(self, start: int | None, end: int) -> float:
        """Return the seconds from one device, or from outside the model if ``start`` is None, to another device."""
        if start == end:
            return 0.0
        return self.arrive[end] + (0.0 if start is None or self.is_result else self.leave[start])


@dataclass(frozen=True)
class Problem:
    """The numbers of one placement.

    ``seconds[unit][device]`` is the time of a unit, infinite if the device does not support it or it is pinned
    elsewhere. ``bytes[unit]`` is the device memory that a unit needs for its weights, ``limits`` the memory of the
    devices.
    """

    seconds: Sequence[Sequence[float]]
    flows: Sequence[Flow]
    device_count: int
    bytes: Sequence[float] = ()
    limits: Sequence[float] = ()

    def cost(self, choice: Sequence[int]) -> float:
        """Return the seconds of one inference, one unit after the other; infinite if a device lacks support."""
        running = sum(seconds[device] for seconds, device in zip(self.seconds, choice))
        return running + sum(flow.cost(choice) for flow in self.flows)

    def able(self, unit: int) -> list[int]:
        """Return the devices that may run a unit, in the user's order."""
        return [device for device, seconds in enumerate(self.seconds[unit]) if seconds < math.inf]

    def first_able(self, preferred: Sequence[int] = ()) -> Choice:
        """Return the choice of the first device that may run each unit, preferred devices before all others."""
        order = dict.fromkeys((*preferred, *range(self.device_count)))
        return [next(d for d in order if seconds[d] < math.inf) for seconds in self.seconds]

    def simple_choices(self) -> list[Choice]:
        """Return for each device the choice of that device for all it supports, and of the first able for the rest."""
        return [self.first_able([device]) for device in range(self.device_count)]
