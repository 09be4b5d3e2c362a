"""Deployment of a model: place its operations on devices, cut it into subgraphs, and compile these.

What a device fails to compile goes to the next device that supports it, and the model is partitioned again: on
``HETERO:A,B``, if A fails to compile one of its two subgraphs, B gets that and A keeps the other. Operations that the
user pinned stay pinned: a device that fails at nothing but pinned operations is an error.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

from hetero.dispatch.cost.database import estimated_seconds
from hetero.dispatch.cutting.constant_boundaries import fold_across_cut
from hetero.dispatch.cutting.partition import DeviceSubgraph, partition
from hetero.dispatch.cutting.plan import Boundaries, Plan, byte_size, context_of, plan_of_subgraphs
from hetero.dispatch.cutting.preparation import Preparation, prepare_parts
from hetero.dispatch.devices import Failure, ListedDevice, named, names_of
from hetero.dispatch.placement.affinity import Placed, Placement, Strategy
from hetero.dispatch.placement.support import Support
from hetero.dispatch.report import BoundaryReport, FailureReport, OperationReport, PlacementReport, SubgraphReport
from hetero.graph import Model, Node, Output, port_name, walk_nested
from hetero.graph.rt_info import AFFINITY
from hetero.ops.work_estimate import assumed_shapes, work_of
from hetero.passes.specialization import drop_overwritten_assigns
from hetero.plugin import CompiledModel, PreparedModel
from hetero.plugin.blobs.model_sections import port_fits
from hetero.system.errors import DeviceError, HeteroError, device_errors

FOLDED = "known when compiled"


def make_report(
    model: Model,
    devices: Sequence[str],
    placed: Mapping[Node, Placed],
    subgraphs: Sequence[DeviceSubgraph],
    apart: Sequence[tuple[str, ...]],
    folded: set[Node],
    failures: Sequence[Failure],
    boundaries: Boundaries,
) -> PlacementReport:
    """Return the report of a placement.

    ``apart``: the operations of each subgraph that were prepared apart. ``folded``: those folded at compile time.
    """
    shapes = assumed_shapes(model)
    # The first one of an operation on Constants that several subgraphs run.
    subgraph_of = {node: index for index, s in reversed([*enumerate(subgraphs)]) for node in s.nodes}
    operations = tuple(
        OperationReport(
            node.friendly_name,
            node.type_info.name,
            where.device.name,
            FOLDED if node in folded else where.reason,
            subgraph_of.get(node),
            work_of(node, shapes).operations if node in subgraph_of else 0.0,
        )
        for node, where in placed.items()
    )
    return PlacementReport(
        model.friendly_name,
        tuple(devices),
        operations,
        tuple(
            SubgraphReport(i, s.device.name, names_of(s.nodes), len(s.inputs), len(s.outputs), apart[i])
            for i, s in enumerate(subgraphs)
        ),
        _boundaries(subgraphs, subgraph_of, boundaries),
        tuple(FailureReport(f.device, f.operations, str(f.error)) for f in failures),
    )


def _boundaries(
    subgraphs: Sequence[DeviceSubgraph], subgraph_of: Mapping[Node, int], boundaries: Boundaries
) -> tuple[BoundaryReport, ...]:
    readers: dict[Output, list[int]] = {}
    for index, subgraph in enumerate(subgraphs):
        for value in subgraph.inputs:
            if value.node in subgraph_of:
                readers.setdefault(value, []).append(index)
    return tuple(
        BoundaryReport(
            port_name(value),
            value.element_type.to_string(),
            str(value.partial_shape),
            byte_size(value),
            subgraph_of[value.node],
            tuple(targets),
            str(boundaries.by_value[value]),
        )
        for value, targets in readers.items()
    )


_Key = tuple[ListedDevice, tuple[Node, ...], tuple[Output, ...], tuple[Output, ...]]


class _Part(NamedTuple):
    """A compiled subgraph, and the operations of it that were prepared apart."""

    compiled: CompiledModel
    apart: tuple[str, ...]


@dataclass(frozen=True)
class _Cut:
    """A placement whose subgraphs the devices have prepared; ``placed`` has the operations that were folded too."""

    support: Support
    placement: Placement
    placed: Mapping[Node, Placed]
    subgraphs: list[DeviceSubgraph]
    keys: list[_Key]
    prepared: Preparation


@dataclass(frozen=True)
class Deployment:
    """A model in the form in which devices run it."""

    support: Support
    subgraphs: list[DeviceSubgraph]
    plan: Plan
    report: PlacementReport


class Deployer:
    """The deployment of one model, which is kept to deploy it again after a device failed."""

    def __init__(self, model: Model, devices: Sequence[ListedDevice], strategy: Strategy) -> None:
        self._model, self._devices, self._strategy = model, devices, strategy
        self._support = Support()
        #: Those of the user's model: a device may leave out the branch that has a variable.
        self._variables = [variable.info for variable in model.variables]
        drop_overwritten_assigns(model)
        pinned = [node for node in walk_nested(model.get_ordered_ops()) if AFFINITY in node.rt_info]
        self._pins = {node: node.rt_info.get(AFFINITY) for node in pinned}
        self._compiled: dict[_Key, _Part] = {}
        # Operations that no device runs, as they were folded.
        self._folded: dict[Node, Placed] = {}

    def deploy(self) -> Deployment:
        """Deploy the model for the first time. Raise DeviceError for operations that no device can run."""
        deployment = self._cut_and_compile(*self._place(self._support))
        self._support = deployment.support
        return deployment

    def deploy_without(self, errors: Mapping[str, Exception]) -> Deployment:
        """Deploy the model without devices that failed at inferences, by name; their pins are ignored.

        Raises DeviceError for operations that no other device can run.
        """
        return self._cut_and_compile(*self._place(self._support.without_devices(self._model, errors), errors), errors)

    def release_unused(self, deployment: Deployment) -> None:
        """Release compiled subgraphs that this deployment does not use."""
        in_use = {id(step.compiled) for step in deployment.plan.steps}
        self._compiled = {key: part for key, part in self._compiled.items() if id(part.compiled) in in_use}

    def agreed(self, support: Support, placement: Placement) -> tuple[Support, Placement]:
        """Return the placement after devices refused operations without those around them, and its support."""
        if not placement.unplaced:
            cut = self._cut(support, placement)
            support, placement = cut.support, cut.placement
        return support, placement

    def _place(self, support: Support, unpinned: Collection[str] = ()) -> tuple[Support, Placement]:
        for node in walk_nested(self._model.get_ordered_ops()):
            node.rt_info.pop(AFFINITY, None)
        for node, device in self._pins.items():
            if device not in unpinned:
                node.rt_info[AFFINITY] = device
        support, placement = support.place(self._model, self._devices, self._strategy)
        if placement.unplaced:
            raise support.unsupported_error(f"HETERO:{','.join(d.name for d in self._devices)}", placement.unplaced)
        return support, placement

    def _cut(self, support: Support, placement: Placement, unpinned: Collection[str] = ()) -> _Cut:
        """Cut the model, and prepare its parts. What a device refuses of a part is placed again."""
        while True:
            placed = placement.placed | self._folded
            device_of = {node: where.device for node, where in placed.items()}
            removed, shared = fold_across_cut(self._model, device_of)
            self._folded |= {node: where for node, where in placed.items() if node in removed}
            subgraphs = partition(self._model, device_of, estimated_seconds, shared)
            keys = [(s.device, tuple(s.nodes), tuple(s.inputs), tuple(s.outputs)) for s in subgraphs]
            new = [index for index, key in enumerate(keys) if key not in self._compiled]
            prepared = prepare_parts(self._model, subgraphs, new, support.queries)
            if not prepared.errors and not prepared.refused:
                return _Cut(support, placement, placed, subgraphs, keys, prepared)
            for device, reasons in prepared.refused.items():
                support = support.refusing(device, reasons)
            failures = [_failure(subgraphs[index], error, placed) for index, error in prepared.errors.items()]
            support, placement = self._place(support.without(failures), unpinned)

    def _cut_and_compile(self, support: Support, placement: Placement, unpinned: Collection[str] = ()) -> Deployment:
        while True:
            cut = self._cut(support, placement, unpinned)
            cut.support.release_prepared()
            errors = self._compile(cut)
            if not errors:
                return self._deployment(cut)
            failures = [_failure(cut.subgraphs[index], error, cut.placed) for index, error in errors.items()]
            support, placement = self._place(cut.support.without(failures), unpinned)

    def _compile(self, cut: _Cut) -> dict[int, HeteroError]:
        """Compile the new subgraphs in parallel, and keep them by their keys. Return the errors of devices by index.

        Threads save time with devices that compile outside of Python. What was compiled before another device failed
        is used again.
        """
        subgraphs, models = cut.subgraphs, cut.prepared.models
        keys = {index: cut.keys[index] for index in models}
        outcomes: dict[int, CompiledModel | HeteroError] = {}
        if len(keys) > 1:
            with ThreadPoolExecutor(min(len(keys), max(2, os.cpu_count() or 1)), "hetero compile") as threads:
                futures = {
                    index: threads.submit(contextvars.copy_context().run, _compile, subgraphs[index], models.pop(index))
                    for index in keys
                }
                outcomes = {index: future.result() for index, future in futures.items()}
        else:
            outcomes = {index: _compile(subgraphs[index], models.pop(index)) for index in keys}
        errors = {}
        for index, outcome in outcomes.items():
            if isinstance(outcome, CompiledModel):
                self._compiled[keys[index]] = _Part(outcome, cut.prepared.apart.get(index, ()))
            else:
                errors[index] = outcome
        return errors

    def _deployment(self, cut: _Cut) -> Deployment:
        parts = [self._compiled[key] for key in cut.keys]
        plan = plan_of_subgraphs(self._model, cut.subgraphs, [part.compiled for part in parts], self._variables)
        report = make_report(
            self._model,
            [device.name for device in self._devices],
            cut.placed,
            cut.subgraphs,
            [part.apart for part in parts],
            set(self._folded),
            cut.support.failures,
            plan.boundaries,
        )
        return Deployment(cut.support.without_tracebacks(), cut.subgraphs, plan, report)


def _failure(subgraph: DeviceSubgraph, error: HeteroError, placed: Mapping[Node, Placed]) -> Failure:
    """Return that a device failed at a subgraph's operations, except pinned ones. Raise DeviceError if all are."""
    lost = [node for node in subgraph.nodes if not placed[node].is_pinned]
    if not lost:
        raise DeviceError(f"{error}; pinned to {subgraph.device.name}: {named(subgraph.nodes)}") from error
    return Failure(subgraph.device.name, names_of(lost), error)


def _compile(subgraph: DeviceSubgraph, model: Model | PreparedModel) -> CompiledModel | HeteroError:
    """Return the compiled subgraph, or the error of its device."""
    try:
        compiled = subgraph.device.compile(model)
        problem = f"{subgraph.device.name} failed to compile '{model.friendly_name}'"
        with device_errors(problem):
            _check(compiled, subgraph, problem)
    except HeteroError as error:
        return error
    return compiled


def _check(compiled: CompiledModel, subgraph: DeviceSubgraph, problem: str) -> None:
    """Raise DeviceError unless the ports of a compiled model are those of its subgraph. Pass on the device's errors."""
    context_of(compiled)  # the boundaries need the context, which is created on first use
    for kind, ports, values in (
        ("inputs", compiled.inputs, subgraph.inputs),
        ("outputs", compiled.outputs, subgraph.outputs),
    ):
        if len(ports) != len(values):
            raise DeviceError(f"{problem}: its model has {len(ports)} {kind}, the subgraph has {len(values)}")
        for port, value in zip(ports, values):
            if not port_fits(port, value):
                actual, expected = (f"{side.element_type}{side.partial_shape}" for side in (port, value))
                raise DeviceError(f"{problem}: '{port_name(value)}' is {actual} in its {kind}, not {expected}")
