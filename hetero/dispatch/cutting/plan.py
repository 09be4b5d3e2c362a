"""Plan: the execution plan of a model, made once for all requests: its steps, and the memory of values between them."""

from __future__ import annotations

import contextlib
import functools
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from types import TracebackType
from typing import Any

import numpy as np

from hetero import properties as props
from hetero.core.containers import ContainerType
from hetero.core.shape import Dimension
from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.dispatch.cutting.partition import DeviceSubgraph
from hetero.dispatch.cutting.variable_use import VariableUse, find_variable_uses
from hetero.graph import Constant, Model, Output, VariableInfo
from hetero.plugin import CompiledModel, RemoteContext, RemoteTensor, SharedTensor, SyncInferRequest, plan_memory
from hetero.system.error_origin import is_from_signal
from hetero.system.errors import DeviceError, NotSupportedError, device_error

# Values of fewer bytes keep their memory: releasing it would take time and save next to nothing.
MIN_RELEASED = 1 << 14


@dataclass(frozen=True, eq=False)
class Memory:
    """A kind of memory: of the host, of a context but visible to the host, or, if ``is_remote``, of a context alone."""

    context: RemoteContext | None = None
    is_remote: bool = False

    def create(self, kind: Type, shape: Sequence[int]) -> Tensor:
        if self.context is None:
            return Tensor(kind, shape)
        return (self.context.create_tensor if self.is_remote else self.context.create_host_tensor)(kind, shape)

    def create_in(self, slot: Tensor, kind: Type, shape: Sequence[int]) -> Tensor:
        """Return a tensor at the start of another tensor's memory."""
        assert isinstance(slot, (RemoteTensor, SharedTensor))  # only memory of a device is shared by several values
        return type(slot)(slot.memory, kind, shape)


HOST = Memory()


@dataclass(frozen=True)
class Boundary:
    """The memory of a value, and how often an inference copies it, whether the dispatcher does so or a device."""

    memory: Memory
    copies: int

    def __str__(self) -> str:
        """Return a phrase for messages such as ``subgraph 0 to 2, in shared device memory``."""
        if self.copies:
            return "copied" if self.copies == 1 else f"copied {self.copies} times"
        return f"in shared {'device' if self.memory.is_remote else 'host'} memory"


@dataclass
class Boundaries:
    """The memory of the values that go from step to step.

    ``slot_of`` gives the slot of a value of known size, ``slots`` the memory and bytes of each slot.
    ``released`` gives the step after which a large value is not needed any more. ``lent`` are values that a sequence
    may hold after their last reader: they get new host memory in each inference.
    """

    by_value: dict[Output, Boundary] = field(default_factory=dict)
    slot_of: dict[Output, int] = field(default_factory=dict)
    slots: list[tuple[Memory, int]] = field(default_factory=list)
    released: dict[Output, int] = field(default_factory=dict)
    lent: set[Output] = field(default_factory=set)


def plan_boundaries(
    steps: Sequence[ExecutionStep],
    inputs: Sequence[Output],
    outputs: Sequence[Output],
    ports: Mapping[Output, Sequence[StepPort]],
) -> Boundaries:
    """Choose the memory of every value that a step gives to others.

    The number of copies is minimal. Memory is reused if every schedule that the dependencies allow permits it.
    """
    boundaries = Boundaries()
    user_inputs, user_outputs = set(inputs), set(outputs)  # in tensors of the user
    steps_of = {
        value: [port.step for port in step_ports]
        for value, step_ports in ports.items()
        if len(step_ports) > 1 and value not in user_inputs
    }
    if not steps_of:
        return boundaries
    # The port of the writing step may know more about the shape than the whole model does.
    writers = {value: ports[value][0].port for value in steps_of}
    # Steps whose sequences may hold the arrays of their inputs.
    holders = {writer.step for writer, *_ in ports.values() if not is_plain(writer.port)}
    boundaries.lent.update(value for value, users in steps_of.items() if holders.intersection(users[1:]))
    own = user_outputs | boundaries.lent  # in memory of their own
    times = _times(steps)
    choice = _MemoryChoice([step.compiled for step in steps])
    for value, users in steps_of.items():
        port = writers[value]
        is_internal = is_plain(port) and value not in own
        boundaries.by_value[value] = choice.best(choice.memories if is_internal else [HOST], users)
        last, size = _last_step(steps, users, times), byte_size(port)
        if last is not None and is_internal and (size is None or size >= MIN_RELEASED):
            boundaries.released[value] = last
    internal = [value for value in steps_of if value not in own]
    for memory in choice.memories:
        there = {v: byte_size(writers[v]) for v in internal if boundaries.by_value[v].memory is memory}
        sizes = {value: size for value, size in there.items() if size is not None}
        _plan_slots(boundaries, memory, sizes, {value: {times[step] for step in steps_of[value]} for value in sizes})
    return boundaries


def is_plain(port: Output) -> bool:
    """Return whether a port has a known type of numbers or booleans, which devices can hold."""
    kind = port.element_type
    return not isinstance(kind, ContainerType) and kind not in (Type.dynamic, Type.string)


def byte_size(port: Output) -> int | None:
    """Return the bytes of a value; None if its shape or type is dynamic, or if it holds strings or sequences."""
    return math.prod(port.shape) * port.element_type.size if is_plain(port) and port.partial_shape.is_static else None


def smallest_shape(port: Output) -> list[int]:
    """Return the smallest shape with an element that fits a port, or one without elements if only that fits."""
    dimensions = port.partial_shape if port.partial_shape.has_rank else [Dimension()]
    return [d.min_length or int(d.max_length != 0) for d in dimensions]


class _MemoryChoice:
    """The kinds of memory that the devices of some steps have, and which device computes in which memory."""

    def __init__(self, compiled: Sequence[CompiledModel]) -> None:
        contexts: list[RemoteContext | None] = [None]
        self._context_of: list[int] = []  # the index of each step's context
        for model in compiled:
            context = context_of(model)
            if context not in contexts:
                contexts.append(context)
            self._context_of.append(contexts.index(context))
        self.memories = [HOST]
        host = HOST.create(Type.f32, [1])
        for context in contexts:
            if context is not None and not context.holds(host):
                self.memories.append(Memory(context, is_remote=True))
                shared = Memory(context)
                if isinstance(shared.create(Type.f32, [1]), SharedTensor):
                    self.memories.append(shared)
        self._held = {memory: _held_by(memory, contexts) for memory in self.memories}
        self._chosen: dict[tuple[Any, ...], Boundary] = {}

    def best(self, memories: Sequence[Memory], steps: Sequence[int]) -> Boundary:
        """Return the boundary with the fewest copies for a value that these steps use."""
        key = (len(memories), *sorted(self._context_of[step] for step in steps))
        if key not in self._chosen:
            copies = {memory: self._copies(memory, key[1:]) for memory in memories}
            memory = min(copies, key=copies.__getitem__)
            self._chosen[key] = Boundary(memory, copies[memory])
        return self._chosen[key]

    def _copies(self, memory: Memory, contexts: Sequence[int]) -> int:
        others = [context for context in contexts if not self._held[memory][context]]
        if not memory.is_remote:
            return len(others)  # each device copies for itself
        # One copy in host memory serves all others.
        return bool(others) + sum(not self._held[HOST][context] for context in others)


def context_of(model: CompiledModel) -> RemoteContext | None:
    """Return the context of a compiled model's device; None if it has none."""
    try:
        return model.context
    except NotSupportedError:
        return None


def shared_context(contexts: Mapping[str, RemoteContext]) -> RemoteContext:
    """Return the context that all devices have, given by device name. Raises NotSupportedError if they have several."""
    shared = list(contexts.values())
    if not shared or any(context != shared[0] for context in shared):
        raise NotSupportedError(
            f"{' and '.join(contexts) or 'no device'} have no context in common: use tensors in host memory, or the "
            "context of one device"
        )
    return shared[0]


def _held_by(memory: Memory, contexts: Sequence[RemoteContext | None]) -> list[bool]:
    """Return whether the device of each context computes in a memory; None computes in all that the host sees."""
    tensor = memory.create(Type.f32, [1])
    return [not memory.is_remote if context is None else context.holds(tensor) for context in contexts]


def _plan_slots(
    boundaries: Boundaries, memory: Memory, sizes: Mapping[Output, int], times_of: Mapping[Output, set[int]]
) -> None:
    """Assign slots of a memory to values, given their bytes and the times at which they are used."""
    uses: dict[int, list[Output]] = {}
    for value, times in times_of.items():
        for time in times:
            uses.setdefault(time, []).append(value)
    slot_of, slot_sizes = plan_memory([uses[time] for time in sorted(uses)], sizes.__getitem__)
    boundaries.slot_of.update((value, len(boundaries.slots) + slot) for value, slot in slot_of.items())
    boundaries.slots += [(memory, size) for size in slot_sizes]


def _times(steps: Sequence[ExecutionStep]) -> list[int]:
    """Return a time for each step: in every schedule, steps of smaller times end before steps of larger times begin.

    A step at which the graph narrows has a time of its own: all steps before it end before it begins, and all steps
    behind it begin after it ends.
    """
    count = len(steps)
    first_readers = [min(step.readers, default=count) for step in steps]
    last_writers = [max(step.waits_for, default=-1) for step in steps]
    # All steps behind a step wait for it if each of them waits for it or for another step behind it.
    before = [-1, *accumulate(first_readers, max)]
    behind = [*accumulate(reversed([*last_writers, count]), min)][::-1]
    times, time = [], 0
    for index in range(count):
        is_narrow = before[index] <= index <= behind[index + 1]
        time += is_narrow
        times.append(time)
        time += is_narrow
    return times


def _last_step(steps: Sequence[ExecutionStep], users: Sequence[int], times: Sequence[int]) -> int | None:
    """Return a step after which no user needs a value in any schedule; None if there is none."""
    last = max(users)
    if all(user == last or times[user] < times[last] or user in steps[last].waits_for for user in users):
        return last
    later = bisect_right(times, times[last])
    return later if later < len(times) else None


class StepError(DeviceError):
    """The error of a device at a step. The user gets ``error`` itself, unless another device can run the step."""

    def __init__(self, device: str, error: Exception) -> None:
        super().__init__(str(error))
        self.device, self.error = device, error


class step_errors(contextlib.AbstractContextManager[None]):
    """Context manager that raises the errors of a device as StepError: ``GPU failed to {doing}: …``.

    A class and not a generator, because a generator cannot pass on StopIteration.
    """

    def __init__(self, device: str, doing: str) -> None:
        self._device, self._doing = device, doing

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if error is not None and not is_from_signal(error):
            raise StepError(self._device, device_error(error, f"{self._device} failed to {self._doing}")) from error


@dataclass(frozen=True)
class ExecutionStep:
    """A compiled subgraph, and the indices of the steps that it depends on and that depend on it."""

    name: str
    device: str
    compiled: CompiledModel
    waits_for: frozenset[int] = frozenset()
    readers: frozenset[int] = frozenset()

    def create_request(self) -> SyncInferRequest:
        """Return a new request of the compiled subgraph. Raise StepError if the device fails."""
        doing = f"create a request of '{self.compiled.name}'"
        with step_errors(self.device, doing):
            request = self.compiled.create_sync_infer_request()
            if not isinstance(request, SyncInferRequest):
                returned = f"it returned {type(request).__name__}, not a SyncInferRequest"
                raise DeviceError(f"{self.device} failed to {doing}: {returned}")
            return request


@dataclass(frozen=True)
class StepPort:
    """An input or output port of a step, by the index of the step."""

    step: int
    port: Output


@dataclass(frozen=True)
class Plan:
    """Steps in topological order, and where each value of the model is written and read. Made by ``build_plan``.

    A value is identified by its Output in the model. The first of its ``ports`` writes it, unless it is an input of the
    model; the others read it.
    """

    steps: Sequence[ExecutionStep]
    inputs: Sequence[Output]
    outputs: Sequence[Output]
    ports: Mapping[Output, Sequence[StepPort]]
    #: Outputs of the model that are Constants.
    constants: Mapping[Output, np.ndarray]
    #: The steps that read or assign each variable of the model.
    variables: Sequence[VariableUse]
    #: Whether the steps can only run one after the other.
    is_chain: bool
    #: The memory of the values between steps.
    boundaries: Boundaries

    @functools.cached_property
    def slots(self) -> dict[str, int]:
        """The number of steps that each device runs at once: its optimal number of requests."""
        slots: dict[str, int] = {}
        for step in self.steps:
            best = step.compiled.properties.value_of(props.optimal_number_of_infer_requests)
            slots[step.device] = max(slots.get(step.device, 1), best)
        return slots


def build_plan(
    steps: Sequence[ExecutionStep],
    inputs: Sequence[Output],
    outputs: Sequence[Output],
    ports: Mapping[Output, Sequence[StepPort]],
    constants: Mapping[Output, np.ndarray],
    variables: Sequence[VariableUse],
) -> Plan:
    """Return a plan: compute the dependencies of the steps, and choose the memory of the values between them."""
    readers: list[set[int]] = [set() for _ in steps]
    waits_for: list[set[int]] = [set() for _ in steps]
    for value in ports.keys() - set(inputs):
        writer, *others = (port.step for port in ports[value])
        readers[writer].update(others)
        for reader in others:
            waits_for[reader].add(writer)
    steps = tuple(
        replace(step, waits_for=frozenset(before), readers=frozenset(after))
        for step, before, after in zip(steps, waits_for, readers)
    )
    one_device = len({step.device for step in steps}) < 2
    is_chain = one_device or all(index in step.waits_for for index, step in enumerate(steps[1:]))
    boundaries = plan_boundaries(steps, inputs, outputs, ports)
    return Plan(steps, tuple(inputs), tuple(outputs), ports, constants, variables, is_chain, boundaries)


def plan_of_subgraphs(
    model: Model,
    subgraphs: Sequence[DeviceSubgraph],
    compiled: Sequence[CompiledModel],
    variables: Sequence[VariableInfo] = (),
) -> Plan:
    """Return the plan of a partitioned model with these variables, given the compiled form of each subgraph."""
    steps = [ExecutionStep(f"subgraph {i}", s.device.name, c) for i, (s, c) in enumerate(zip(subgraphs, compiled))]
    outputs = [result.input_value(0) for result in model.results]
    ports: dict[Output, list[StepPort]] = {}
    for index, (subgraph, step) in enumerate(zip(subgraphs, steps)):
        pairs = [*zip(subgraph.inputs, step.compiled.inputs), *zip(subgraph.outputs, step.compiled.outputs)]
        for value, port in pairs:
            ports.setdefault(value, []).append(StepPort(index, port))
    constants = {value: value.node.data for value in outputs if isinstance(value.node, Constant)}
    uses = find_variable_uses(variables, model, subgraphs)
    return build_plan(steps, model.inputs, outputs, ports, constants, uses)
