"""Boundaries: in which memory each value is that goes from step to step, and when that memory is free again."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from hetero.containers import ContainerType
from hetero.errors import NotSupportedError
from hetero.graph import Output
from hetero.plugin import CompiledModel, RemoteContext, RemoteTensor, SharedTensor, plan_memory
from hetero.shape import Dimension
from hetero.tensor import Tensor
from hetero.types import Type

if TYPE_CHECKING:
    from hetero.dispatch.plan import Plan, Step

# Values of fewer bytes are not given back: that would take time, and save next to nothing.
SMALLEST_RELEASED = 1 << 14


@dataclass(frozen=True, eq=False)
class Memory:
    """A kind of memory: the host's, what a context shares with the host, or, where ``is_remote``, what it has alone."""

    context: RemoteContext | None = None
    is_remote: bool = False

    def create(self, kind: Type, shape: Sequence[int]) -> Tensor:
        if self.context is None:
            return Tensor(kind, shape)
        return (self.context.create_tensor if self.is_remote else self.context.create_host_tensor)(kind, shape)

    def create_in(self, slot: RemoteTensor | SharedTensor, kind: Type, shape: Sequence[int]) -> Tensor:
        """A tensor at the start of another one's memory."""
        return type(slot)(slot.memory, kind, shape)


HOST = Memory()


@dataclass(frozen=True)
class Boundary:
    """The memory that a value is in, and how often an inference copies it: the dispatcher, or a device on its own."""

    memory: Memory
    copies: int

    def __str__(self) -> str:
        """In words, as in ``subgraph 0 to 2, in shared device memory``."""
        if self.copies:
            return "copied" if self.copies == 1 else f"copied {self.copies} times"
        return f"in shared {'device' if self.memory.is_remote else 'host'} memory"


@dataclass
class Boundaries:
    """The values of a plan that go from step to step.

    Of those in memory that devices compute in ``slot_of`` tells the slot, where their bytes are known; ``slots`` are
    these with their bytes. ``released`` tells for large ones after which step nobody needs them any more.
    """

    by_value: dict[Output, Boundary] = field(default_factory=dict)
    slot_of: dict[Output, int] = field(default_factory=dict)
    slots: list[tuple[Memory, int]] = field(default_factory=list)
    released: dict[Output, int] = field(default_factory=dict)


def plan_boundaries(plan: Plan) -> Boundaries:
    """Choose memory for every value that a step gives to others: as little as can be is copied, and reused it is where
    the order of the steps allows it in every schedule.
    """
    found = Boundaries()
    inputs, outputs = set(plan.inputs), set(plan.outputs)  # they are in the user's tensors
    steps_of = {
        value: [place.step for place in places]
        for value, places in plan.places.items()
        if len(places) > 1 and value not in inputs
    }
    if not steps_of:
        return found
    times = _times(plan.steps)
    kinds = _Kinds([step.compiled for step in plan.steps])
    for value, steps in steps_of.items():
        port = plan.writer_of(value)
        is_ours = is_plain(port) and value not in outputs
        found.by_value[value] = kinds.choose(kinds.all if is_ours else [HOST], steps)
        last = _last_step(plan.steps, steps, times)
        if last is not None and is_ours and _is_large(port):
            found.released[value] = last
    for memory in kinds.all[1:]:
        there = [value for value in steps_of if found.by_value[value].memory is memory]
        sizes = {v: _byte_size(plan.writer_of(v)) for v in there if plan.writer_of(v).partial_shape.is_static}
        _plan_slots(found, memory, sizes, {value: {times[step] for step in steps_of[value]} for value in sizes})
    return found


def is_plain(port: Output) -> bool:
    """Whether devices can hold the elements of a port: numbers and booleans of a type that is known."""
    kind = port.element_type
    return not isinstance(kind, ContainerType) and kind not in (Type.dynamic, Type.string)


def smallest_shape(port: Output) -> list[int]:
    """Return the smallest shape with an element that fits a port, or one without elements if only that fits."""
    dimensions = port.partial_shape if port.partial_shape.has_rank else [Dimension()]
    return [d.min_length or int(d.max_length != 0) for d in dimensions]


class _Kinds:
    """The kinds of memory that the devices of some steps have, and who computes in which."""

    def __init__(self, compiled: Sequence[CompiledModel]) -> None:
        contexts: list[RemoteContext | None] = [None]
        self._context_of: list[int] = []  # of each step, as its index
        for model in compiled:
            context = context_of(model)
            if context not in contexts:
                contexts.append(context)
            self._context_of.append(contexts.index(context))
        self.all = [HOST]
        host = HOST.create(Type.f32, [1])
        for context in contexts[1:]:
            if not context.holds(host):
                self.all.append(Memory(context, is_remote=True))
                shared = Memory(context)
                if isinstance(shared.create(Type.f32, [1]), SharedTensor):
                    self.all.append(shared)
        self._held = {memory: _held_by(memory, contexts) for memory in self.all}
        self._chosen: dict[tuple, Boundary] = {}

    def choose(self, choices: Sequence[Memory], steps: Sequence[int]) -> Boundary:
        """The boundary between steps, of which the first one writes, with the fewest copies."""
        key = (len(choices), *sorted(self._context_of[step] for step in steps))
        if key not in self._chosen:
            copies = {memory: self._copies(memory, key[1:]) for memory in choices}
            memory = min(copies, key=copies.__getitem__)
            self._chosen[key] = Boundary(memory, copies[memory])
        return self._chosen[key]

    def _copies(self, memory: Memory, contexts: Sequence[int]) -> int:
        others = [context for context in contexts if not self._held[memory][context]]
        if not memory.is_remote:
            return len(others)  # each device copies for itself
        # One copy in host memory is for all others.
        return bool(others) + sum(not self._held[HOST][context] for context in others)


def context_of(model: CompiledModel) -> RemoteContext | None:
    """Return the memory of a compiled model's device; None if it has none."""
    try:
        return model.context
    except NotSupportedError:
        return None


def _held_by(memory: Memory, contexts: Sequence[RemoteContext | None]) -> list[bool]:
    """Whether each context's device computes in the memory; one without a context does in all that the host sees."""
    tensor = memory.create(Type.f32, [1])
    return [not memory.is_remote if context is None else context.holds(tensor) for context in contexts]


def _plan_slots(
    found: Boundaries, memory: Memory, sizes: Mapping[Output, int], times_of: Mapping[Output, set[int]]
) -> None:
    """Give slots to values in a kind of memory, of so many bytes and needed at these times."""
    uses: dict[int, list[Output]] = {}
    for value, times in times_of.items():
        for time in times:
            uses.setdefault(time, []).append(value)
    slot_of, slot_sizes = plan_memory([uses[time] for time in sorted(uses)], sizes.__getitem__)
    found.slot_of.update((value, len(found.slots) + slot) for value, slot in slot_of.items())
    found.slots += [(memory, size) for size in slot_sizes]


def _byte_size(port: Output) -> int:
    return math.prod(port.shape) * port.element_type.to_dtype().itemsize


def _is_large(port: Output) -> bool:
    """Whether its memory is worth to be given back, or may be."""
    return port.partial_shape.is_dynamic or _byte_size(port) >= SMALLEST_RELEASED


def _times(steps: Sequence[Step]) -> list[int]:
    """A number for each step: one with a smaller number has ended, in every schedule, when one with a larger begins.

    Where the graph of steps narrows to a single one, that has a number of its own: all before it have ended when it
    begins, and none behind it begins before it has ended.
    """
    count = len(steps)
    first_readers = [min(step.readers, default=count) for step in steps]
    last_writers = [max(step.waits_for, default=-1) for step in steps]
    # A step is waited for by all behind it where each of them waits for it, or for another one behind it.
    before = [-1, *accumulate(first_readers, max)]
    behind = [*accumulate(reversed([*last_writers, count]), min)][::-1]
    times, time = [], 0
    for index in range(count):
        is_narrow = before[index] <= index <= behind[index + 1]
        time += is_narrow
        times.append(time)
        time += is_narrow
    return times


def _last_step(steps: Sequence[Step], users: Sequence[int], times: Sequence[int]) -> int | None:
    """A step after which none of these needs a value any more in any schedule, if there is one."""
    last = max(users)
    if all(user == last or times[user] < times[last] or user in steps[last].waits_for for user in users):
        return last
    later = bisect_right(times, times[last])
    return later if later < len(times) else None
