"""The execution plan: which values go from which subgraph to which, found once for all requests."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType

import numpy as np

from hetero import properties as props
from hetero.dispatch.boundaries import Boundaries, plan_boundaries
from hetero.dispatch.partition import Subgraph
from hetero.errors import DeviceError, device_errors
from hetero.graph import Constant, Model, Output, walk_nested
from hetero.plugin import CompiledModel, SyncInferRequest


class StepError(DeviceError):
    """What a device raised at a step: the user is told the error itself, unless another device can do the step."""

    def __init__(self, device: str, error: Exception) -> None:
        super().__init__(str(error))
        self.device, self.error = device, error


class step_errors(contextlib.AbstractContextManager[None]):
    """Context manager that turns what a device raises into a StepError; no generator, as ``device_errors`` is none."""

    def __init__(self, device: str) -> None:
        self._device = device

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if isinstance(error, Exception):
            raise StepError(self._device, error) from error


@dataclass(frozen=True)
class Step:
    """A subgraph, compiled."""

    name: str
    device: str
    compiled: CompiledModel
    # By their indices: the steps that write what this one reads, and those that read what it writes.
    waits_for: set[int] = field(default_factory=set)
    readers: set[int] = field(default_factory=set)

    def create_request(self) -> SyncInferRequest:
        """A request of the compiled subgraph. Raises StepError."""
        problem = f"{self.device} failed to create a request of '{self.compiled.name}'"
        with step_errors(self.device), device_errors(problem):
            request = self.compiled.create_sync_infer_request()
            if not isinstance(request, SyncInferRequest):
                raise DeviceError(f"{problem}: it returned {type(request).__name__}, not a SyncInferRequest")
            return request


@dataclass(frozen=True)
class Place:
    """A port of a step, at which a value is read or written."""

    step: int
    port: Output


@dataclass
class Plan:
    """Steps in the order in which they run, and where each value of the model is read and written.

    A value is named by its Output in the model; the first of its places writes it, unless it is an input
    of the model.
    """

    steps: list[Step]
    inputs: list[Output]
    outputs: list[Output]
    places: dict[Output, list[Place]] = field(default_factory=dict)
    constants: dict[Output, np.ndarray] = field(default_factory=dict)
    # Whether the steps can only run one after the other.
    is_chain: bool = True
    # The memory of what goes from step to step.
    boundaries: Boundaries = field(default_factory=Boundaries)
    # The step that sets each variable, of which other steps may have the contents too.
    setters: dict[str, int] = field(default_factory=dict)

    @functools.cached_property
    def slots(self) -> dict[str, int]:
        """How many steps each device runs at once: as many as it finds best."""
        slots: dict[str, int] = {}
        for step in self.steps:
            best = step.compiled.properties.value_of(props.optimal_number_of_infer_requests)
            slots[step.device] = max(slots.get(step.device, 1), best)
        return slots

    def writer_of(self, value: Output) -> Output:
        """The port of the step that writes a value: of its shape it may know more than the whole model does."""
        return self.places[value][0].port

    def link(self) -> None:
        """Once all places are known: let each step wait for those that write what it reads, and choose the memory."""
        for value in self.places.keys() - set(self.inputs):
            writer, *readers = (place.step for place in self.places[value])
            self.steps[writer].readers.update(readers)
            for reader in readers:
                self.steps[reader].waits_for.add(writer)
        one_device = len({step.device for step in self.steps}) < 2
        self.is_chain = one_device or all(i in step.waits_for for i, step in enumerate(self.steps[1:]))
        self.boundaries = plan_boundaries(self)


def make_plan(model: Model, subgraphs: Sequence[Subgraph], compiled: Sequence[CompiledModel]) -> Plan:
    """The plan of a model cut into subgraphs, each with its compiled form."""
    plan = Plan(
        steps=[Step(f"subgraph {i}", s.device.name, c) for i, (s, c) in enumerate(zip(subgraphs, compiled))],
        inputs=model.inputs,
        outputs=[result.input_value(0) for result in model.results],
    )
    for index, (subgraph, step) in enumerate(zip(subgraphs, plan.steps)):
        ports = [*zip(subgraph.inputs, step.compiled.inputs), *zip(subgraph.outputs, step.compiled.outputs)]
        for value, port in ports:
            plan.places.setdefault(value, []).append(Place(index, port))
        plan.setters |= {
            node.variable_id: index for node in walk_nested(subgraph.nodes) if node.type_info.name == "Assign"
        }
    plan.constants = {v: v.node.data for v in plan.outputs if isinstance(v.node, Constant)}
    plan.link()
    return plan
