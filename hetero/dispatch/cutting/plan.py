"""Plan: the execution plan of a model, computed once for all requests."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hetero import properties as props
from hetero.dispatch.cutting.boundaries import Boundaries, plan_boundaries
from hetero.dispatch.cutting.execution_step import ExecutionStep, StepPort
from hetero.dispatch.cutting.partition import DeviceSubgraph
from hetero.graph import Constant, Model, Output, walk_nested
from hetero.ops.control_flow.variables import AssignV3
from hetero.plugin import CompiledModel


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
    #: The step that assigns each variable, by variable id.
    setters: Mapping[str, int]
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
    setters: Mapping[str, int],
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
    return Plan(steps, tuple(inputs), tuple(outputs), ports, constants, setters, is_chain, boundaries)


def plan_of_subgraphs(model: Model, subgraphs: Sequence[DeviceSubgraph], compiled: Sequence[CompiledModel]) -> Plan:
    """Return the plan of a partitioned model, given the compiled form of each subgraph."""
    steps = [ExecutionStep(f"subgraph {i}", s.device.name, c) for i, (s, c) in enumerate(zip(subgraphs, compiled))]
    outputs = [result.input_value(0) for result in model.results]
    ports: dict[Output, list[StepPort]] = {}
    setters: dict[str, int] = {}
    for index, (subgraph, step) in enumerate(zip(subgraphs, steps)):
        pairs = [*zip(subgraph.inputs, step.compiled.inputs), *zip(subgraph.outputs, step.compiled.outputs)]
        for value, port in pairs:
            ports.setdefault(value, []).append(StepPort(index, port))
        setters |= {node.variable_id: index for node in walk_nested(subgraph.nodes) if isinstance(node, AssignV3)}
    constants = {value: value.node.data for value in outputs if isinstance(value.node, Constant)}
    return build_plan(steps, model.inputs, outputs, ports, constants, setters)
