"""Programs: the kernel launches of a model of static shapes, and the memory they need.

A ``KernelProgram`` is made once per model, input shapes and profile, without a device. A ``BuiltProgram`` has its
kernels on a device, and each request has its own ``BoundProgram`` of that.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hetero.graph import Model
from hetero.plugin import ExecutedStep
from hetero.properties import Mutability, Property
from hetero_opencl.device.launch import SLACK, Buffer, Launch
from hetero_opencl.lowering.memory_plan import Lifetime, MemoryPlan, Slot, plan_arenas
from hetero_opencl.profiles.profile import DeviceProfile

if TYPE_CHECKING:
    from hetero_opencl.lowering.lowering import LoweringReport
    from hetero_opencl.lowering.varying import Varying


#: Memory of a compiled model in bytes: ``weights``, the buffers of all constants, in the layouts of the kernels of all
#: programs; for the programs it used last ``arena``, the memory that each request allocates for all other values, and
#: ``largest_live_set``, the most of the arena that is needed at the same time.
model_memory = Property("GPU_MODEL_MEMORY", dict, {}, Mutability.RO)
# Estimated seconds of the commands between two points at which a canceled inference can end. Two such slices are queued
# at a time, so that the device never waits for the host.
SLICE_SECONDS = 0.1
# Memory plans of a program that are kept, for other shapes and for other tensors that are bound.
_MAX_PLANS = 64


@dataclass(eq=False)
class KernelProgram:
    """Launches in order, with the buffers of the model's inputs and outputs. ``commands`` are those that are enqueued.

    ``steps`` lists the nodes of ``model`` with the kernels that run them. If the shape of an output depends on data,
    its entry in ``output_shapes`` is None, and launches write its dimensions, as i64, to ``shape_buffers[index]``.
    """

    profile: DeviceProfile
    model: Model
    steps: list[ExecutedStep]
    launches: list[Launch]
    commands: list[Launch]
    inputs: list[Buffer]
    outputs: list[Buffer]
    output_shapes: list[tuple[int, ...] | None]
    shape_buffers: dict[int, Buffer]
    lowering_report: LoweringReport
    #: What changes from shape to shape, None if the program is for one.
    varying: Varying | None = None

    def __post_init__(self) -> None:
        #: The lengths of the symbols in the inference that began last.
        self.lengths: tuple[int, ...] = ()
        # By the bound buffers, and whether sizes are of other lengths than those of the shape at hand: the numbers that
        # a plan is for, the bytes that are the same for all, and the plan.
        self._plans: dict[tuple[frozenset[Buffer], bool], list[tuple[Sequence[int], int, MemoryPlan[Buffer]]]] = {}
        # By the bound buffers: a plan without the parts, their slots, and the plan with them.
        self._with_parts: dict[
            frozenset[Buffer], tuple[MemoryPlan[Buffer], dict[Buffer, Slot], MemoryPlan[Buffer]]
        ] = {}
        uses = Counter(buffer for launch in self.launches for buffer in set(launch.buffers()))
        # Outputs that other launches read, besides the one that writes them.
        self.read_again = {buffer for buffer in self.outputs if uses[buffer] > 1}
        #: For each buffer but constants the indices of the commands and of their arguments that it is.
        self.uses: dict[Buffer, list[tuple[int, int]]] = {}
        for at, launch in enumerate(self.commands):
            for index, argument in enumerate(launch.arguments):
                if isinstance(argument, Buffer) and argument.is_planned:
                    self.uses.setdefault(argument, []).append((at, index))
        #: Inputs that need no memory, such as the first one of Append, which is in that of its output.
        self.unread = {buffer for buffer in self.inputs if buffer not in self.uses and buffer not in self.outputs}
        self._parts = [buffer for buffer in (*self.uses, *self.outputs) if buffer.whole is not None]
        #: Buffers that share memory with others, so that they are in the arena.
        self.shared = {*self._parts, *(part.whole for part in self._parts)}

    @functools.cached_property
    def slice_ends(self) -> list[int]:
        """The indices in ``commands`` behind slices of about SLICE_SECONDS; ordinary programs are one slice."""
        launches_of = Counter(launch.node_name for launch in self.launches)  # ``seconds`` is the sum of all of them
        ends, seconds = [], 0.0
        for end, command in enumerate(self.commands, 1):
            seconds += sum(part.seconds / launches_of[part.node_name] for part in command.parts or [command])
            if seconds > SLICE_SECONDS:
                ends.append(end)
                seconds = 0.0
        return ends if ends[-1:] == [len(self.commands)] else [*ends, len(self.commands)]

    def constants(self) -> list[Buffer]:
        """Return the constants that kernels read or that are outputs, each once."""
        read = [buffer for launch in self.launches for buffer in launch.buffers()]
        return list(dict.fromkeys(buffer for buffer in (*read, *self.outputs) if not buffer.is_planned))

    def memory_plan(self, bound: frozenset[Buffer] = frozenset(), lengths: tuple[int, ...] = ()) -> MemoryPlan[Buffer]:
        """Return the offsets of all buffers in the arena except the ``bound`` ones, which have other memory.

        ``lengths`` are those of the symbols, by default of the shape at hand. Others have the same plan as long as its
        buffers are large enough, and at most a quarter larger together.
        """
        values = self.varying.evaluate(lengths) if self.varying and lengths else ()
        plan = self._whole_plan(bound, lengths, values)
        if not self._parts:
            return plan
        parts = self._slots_of_parts(plan, values)
        whole, known, with_parts = self._with_parts.get(bound, (None, None, plan))
        if whole is not plan or known != parts:
            with_parts = replace(plan, slots={**plan.slots, **parts})
            self._with_parts[bound] = plan, parts, with_parts
        return with_parts

    def plan_ahead(self, in_place: Sequence[int]) -> None:
        """Plan the memory for the shape at hand before the first inference. Outputs ``in_place`` have their own."""
        outputs = [self.outputs[index] for index in in_place]
        own = {buffer for buffer in outputs if buffer.is_planned} - {*self.inputs, *self.shared}
        self.memory_plan(frozenset(own), self.varying.at_hand if self.varying else ())

    def _whole_plan(
        self, bound: frozenset[Buffer], lengths: tuple[int, ...], values: Sequence[int]
    ) -> MemoryPlan[Buffer]:
        """Return the plan of the buffers that are no parts."""
        varying = self.varying if values else None
        own = varying.byte_sizes if varying else {}
        own = {buffer: index for buffer, index in own.items() if buffer in self._lifetimes and buffer not in bound}
        plans = self._plans.setdefault((bound, bool(own)), [])
        for most, fixed, plan in plans:
            if _has_room(most, values, own.values(), fixed):
                return plan
        lifetimes = {buffer: life for buffer, life in self._lifetimes.items() if buffer not in bound}
        fixed = sum(life.byte_size for buffer, life in lifetimes.items() if buffer not in own)
        for digits in (1, 3, 64):  # first the next power of two, as many lengths grow
            most = varying.evaluate([_rounded_up(length, digits) for length in lengths]) if varying and own else ()
            if _has_room(most, values, own.values(), fixed):
                break
        for buffer, index in own.items():
            lifetimes[buffer] = lifetimes[buffer]._replace(byte_size=most[index])
        arena_limit = self.profile.max_allocation_bytes - SLACK
        like = plans[-1][2] if plans else None
        plan = plan_arenas(lifetimes, self.profile.base_alignment, arena_limit, like)
        if len(plans) >= _MAX_PLANS:
            plans.clear()
        plans.append((most, fixed, plan))
        return plan

    def _slots_of_parts(self, plan: MemoryPlan[Buffer], values: Sequence[int]) -> dict[Buffer, Slot]:
        varying, slots = self.varying, {}
        for buffer in self._parts:
            assert buffer.whole is not None
            arena, offset, _ = plan.slots[buffer.whole]
            own, size = buffer.offset, buffer.byte_size
            if varying is not None and values:
                own = values[varying.offsets[buffer]] if buffer in varying.offsets else own
                size = values[varying.byte_sizes[buffer]] if buffer in varying.byte_sizes else size
            slots[buffer] = Slot(arena, offset + own, size)
        return slots

    @functools.cached_property
    def _lifetimes(self) -> dict[Buffer, Lifetime]:
        """The lifetime of each buffer but constants. Inputs live before all launches, results after them."""
        results = [*self.outputs, *self.shape_buffers.values()]
        lifetimes: dict[Buffer, Lifetime] = {}
        for time, buffers in enumerate([self.inputs, *(launch.buffers() for launch in self.launches), results], -1):
            for buffer in (used.whole or used for used in buffers):
                if buffer.is_planned and buffer not in self.unread:
                    first = lifetimes[buffer].first if buffer in lifetimes else time
                    lifetimes[buffer] = Lifetime(buffer.byte_size, first, time)
        return lifetimes


def _rounded_up(length: int, digits: int) -> int:
    """Return the next number of so many binary digits and zeros; with one digit a larger one, unless it is small."""
    zeros = max(0, length.bit_length() - digits) if length >= 4 else 0
    return -(-(length + (digits == 1 and zeros > 0)) >> zeros) << zeros


def _has_room(most: Sequence[int], values: Sequence[int], sizes: Collection[int], fixed: int) -> bool:
    """Return whether the sizes at these places are large enough, but all with ``fixed`` bytes a quarter too large."""
    return all(most[i] >= values[i] for i in sizes) and (
        4 * (sum(most[i] for i in sizes) + fixed) <= 5 * (sum(values[i] for i in sizes) + fixed)
    )


def memory_of(programs: Sequence[KernelProgram], others: Iterable[KernelProgram] = ()) -> dict[str, int]:
    """Return the value of ``model_memory`` for programs that run one after another in one arena, and for others."""
    constants = dict.fromkeys(buffer for program in (*programs, *others) for buffer in program.constants())
    plans = [program.memory_plan(lengths=program.lengths) for program in programs]
    return {
        "weights": sum(buffer.memory.size for buffer in constants if buffer.memory),
        "arena": max((plan.byte_size for plan in plans), default=0),
        "largest_live_set": max((plan.largest_live_set for plan in plans), default=0),
    }
