"""Programs: the kernel launches of a model of static shapes, and the memory they need.

A ``KernelProgram`` is made once per model, input shapes and profile, without a device. A ``BuiltProgram`` has its
kernels on a device, and each request has its own ``BoundProgram`` of that.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
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
        self._plans: dict[tuple[frozenset[Buffer], tuple[int, ...]], MemoryPlan[Buffer]] = {}
        uses = Counter(buffer for launch in self.launches for buffer in set(launch.buffers()))
        # Outputs that other launches read, besides the one that writes them.
        self.read_again = {buffer for buffer in self.outputs if uses[buffer] > 1}
        #: For each buffer but constants the indices of the commands and of their arguments that it is.
        self.uses: dict[Buffer, list[tuple[int, int]]] = {}
        for at, launch in enumerate(self.commands):
            for index, argument in enumerate(launch.arguments):
                if isinstance(argument, Buffer) and argument.is_planned:
                    self.uses.setdefault(argument, []).append((at, index))
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

        ``lengths`` are those of the symbols, by default of the shape at hand. The plan is for lengths that are up to a
        quarter larger, so that others have the same.
        """
        values = self.varying.evaluate(lengths) if self.varying and lengths else ()
        plan = self._whole_plan(bound, lengths, values)
        return replace(plan, slots={**plan.slots, **self._slots_of_parts(plan, values)}) if self._parts else plan

    def _whole_plan(
        self, bound: frozenset[Buffer], lengths: tuple[int, ...], values: Sequence[int]
    ) -> MemoryPlan[Buffer]:
        """Return the plan of the buffers that are no parts."""
        rounded = tuple(map(_rounded_up, lengths))
        most = self.varying.evaluate(rounded) if self.varying and lengths else ()
        if most and self.varying and any(most[i] < values[i] for i in self.varying.byte_sizes.values()):
            rounded, most = lengths, values
        if (bound, rounded) not in self._plans:
            sizes = {b: most[i] for b, i in self.varying.byte_sizes.items()} if self.varying and most else {}
            lifetimes = {
                buffer: life._replace(byte_size=sizes.get(buffer, life.byte_size))
                for buffer, life in self._lifetimes().items()
                if buffer not in bound
            }
            arena_limit = self.profile.max_allocation_bytes - SLACK
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            like = next((plan for (other, _), plan in self._plans.items() if other == bound), None)
            self._plans[bound, rounded] = plan_arenas(lifetimes, self.profile.base_alignment, arena_limit, like)
        return self._plans[bound, rounded]

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

    def _lifetimes(self) -> dict[Buffer, Lifetime]:
        """Return the lifetime of each buffer but constants. Inputs live before all launches, results after them."""
        results = [*self.outputs, *self.shape_buffers.values()]
        lifetimes: dict[Buffer, Lifetime] = {}
        for time, buffers in enumerate([self.inputs, *(launch.buffers() for launch in self.launches), results], -1):
            for buffer in (used.whole or used for used in buffers):
                if buffer.is_planned:
                    first = lifetimes[buffer].first if buffer in lifetimes else time
                    lifetimes[buffer] = Lifetime(buffer.byte_size, first, time)
        return lifetimes


def _rounded_up(length: int) -> int:
    """Return the next number of three binary digits and zeros, which is at most a quarter larger."""
    zeros = max(0, length.bit_length() - 3)
    return -(-length >> zeros) << zeros


def memory_of(programs: Sequence[KernelProgram], others: Iterable[KernelProgram] = ()) -> dict[str, int]:
    """Return the value of ``model_memory`` for programs that run one after another in one arena, and for others."""
    constants = dict.fromkeys(buffer for program in (*programs, *others) for buffer in program.constants())
    plans = [program.memory_plan(lengths=program.lengths) for program in programs]
    return {
        "weights": sum(buffer.memory.size for buffer in constants if buffer.memory),
        "arena": max((plan.byte_size for plan in plans), default=0),
        "largest_live_set": max((plan.largest_live_set for plan in plans), default=0),
    }
