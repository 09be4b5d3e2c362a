"""Deploying a model: its operations are placed on devices, cut into subgraphs and compiled.

What a device fails to compile goes to the next one that claims it, and the model is cut anew: of ``HETERO:A,B``, where
A fails to compile one of its two subgraphs, B gets that, and A keeps the other. Operations that the user pinned stay
pinned: where a device fails at nothing but these, that is an error, as the user wants them there or nowhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from hetero.dispatch.affinity import Device, Placed, Placement
from hetero.dispatch.boundaries import context_of
from hetero.dispatch.constant_boundaries import fold_across_cut
from hetero.dispatch.overlap import estimated_seconds
from hetero.dispatch.partition import Subgraph, extract, partition
from hetero.dispatch.placement.strategy import Strategy
from hetero.dispatch.plan import Plan, make_plan
from hetero.dispatch.report import PlacementReport, make_report
from hetero.dispatch.support import Failure, Support, named, names_of
from hetero.errors import DeviceError, PropertyError, device_errors
from hetero.graph import Model, Node, Output, port_name, walk_nested
from hetero.graph.runtime_info import AFFINITY
from hetero.plugin import CompiledModel
from hetero.plugin.model_sections import port_fits

_Key = tuple[Device, tuple[Node, ...], tuple[Output, ...], tuple[Output, ...]]


@dataclass(frozen=True)
class Deployment:
    """A model in the form in which devices run it."""

    support: Support
    subgraphs: list[Subgraph]
    plan: Plan
    report: PlacementReport


class Deployer:
    """Deploys one model, and deploys it anew when a device failed: it keeps the model for that."""

    def __init__(
        self, name: str, model: Model, devices: Sequence[Device], support: Support, strategy: Strategy
    ) -> None:
        self._name, self.model, self.devices, self._strategy = name, model, devices, strategy
        pinned = [node for node in walk_nested(model.get_ordered_ops()) if AFFINITY in node.rt_info]
        self._claims = support
        self._pins = {node: node.rt_info[AFFINITY] for node in pinned}
        self._compiled: dict[_Key, CompiledModel] = {}
        self._known: dict[Node, Placed] = {}

    def deploy(self) -> Deployment:
        """Deploy the model for the first time. Raises DeviceError for operations that no device can run."""
        deployment = self._cut_and_compile(*self._place(self._claims))
        self._claims = deployment.support
        return deployment

    def deploy_without(self, errors: Mapping[str, Exception]) -> Deployment:
        """Deploy the model without devices that failed at inferences; what is pinned to them goes elsewhere too.

        Raises DeviceError where no device is left for an operation.
        """
        return self._cut_and_compile(*self._place(self._claims.without_devices(errors), errors), errors)

    def forget_others(self, deployment: Deployment) -> None:
        """Let go of what was compiled and is not in use."""
        in_use = {id(step.compiled) for step in deployment.plan.steps}
        self._compiled = {key: compiled for key, compiled in self._compiled.items() if id(compiled) in in_use}

    def _place(self, support: Support, unpinned: Collection[str] = ()) -> tuple[Support, Placement]:
        for node in walk_nested(self.model.get_ordered_ops()):
            node.rt_info.pop(AFFINITY, None)
        for node, device in self._pins.items():
            if device not in unpinned:
                node.rt_info[AFFINITY] = device
        support, placement = support.place(self.model, self.devices, self._strategy)
        if placement.unplaced:
            raise support.unsupported_error(f"HETERO:{','.join(d.name for d in self.devices)}", placement.unplaced)
        return support, placement

    def _cut_and_compile(self, support: Support, placement: Placement, unpinned: Collection[str] = ()) -> Deployment:
        while True:
            placed = placement.placed | self._known
            device_of = {node: where.device for node, where in placed.items()}
            gone = fold_across_cut(self.model, device_of)
            self._known |= {node: where for node, where in placed.items() if node in gone}
            subgraphs = partition(self.model, device_of, estimated_seconds)
            compiled, failures = self._compile_all(subgraphs, placed)
            if not failures:
                plan = make_plan(self.model, subgraphs, compiled)
                names = [device.name for device in self.devices]
                known = set(self._known)
                report = make_report(self.model, names, placed, subgraphs, known, support.failures, plan.boundaries)
                return Deployment(support.settled(), subgraphs, plan, report)
            support, placement = self._place(support.without(failures), unpinned)

    def _compile_all(
        self, subgraphs: Sequence[Subgraph], placed: Mapping[Node, Placed]
    ) -> tuple[list[CompiledModel], list[Failure]]:
        compiled, failures = [], []
        for index, subgraph in enumerate(subgraphs):
            try:
                compiled.append(self._compile(subgraph, index))
            except PropertyError:
                raise
            except Exception as error:
                lost = [node for node in subgraph.nodes if not placed[node].is_pinned]
                if not lost:
                    raise DeviceError(f"{error}; pinned to {subgraph.device.name}: {named(subgraph.nodes)}") from error
                failures.append(Failure(subgraph.device.name, names_of(lost), error))
        return compiled, failures

    def _compile(self, subgraph: Subgraph, index: int) -> CompiledModel:
        """The compiled subgraph, which may be known from before another device failed."""
        key = (subgraph.device, tuple(subgraph.nodes), tuple(subgraph.inputs), tuple(subgraph.outputs))
        if key not in self._compiled:
            compiled = subgraph.device.compile(extract(subgraph, f"{self._name}/{index}"))
            problem = f"{subgraph.device.name} failed to compile '{self._name}/{index}'"
            with device_errors(problem):
                _check(compiled, subgraph, problem)
            self._compiled[key] = compiled
        return self._compiled[key]


def _check(compiled: CompiledModel, subgraph: Subgraph, problem: str) -> None:
    """Raise DeviceError unless a compiled model has the ports of its subgraph. Raises what its device raises."""
    context_of(compiled)  # which is needed for boundaries, and made on first use
    for kind, ports, values in (
        ("inputs", compiled.inputs, subgraph.inputs),
        ("outputs", compiled.outputs, subgraph.outputs),
    ):
        if len(ports) != len(values):
            raise DeviceError(f"{problem}: its model has {len(ports)} {kind}, the subgraph has {len(values)}")
        for port, value in zip(ports, values):
            if not port_fits(port, value):
                found, wanted = (f"{one.element_type}{one.partial_shape}" for one in (port, value))
                raise DeviceError(f"{problem}: '{port_name(value)}' is {found} in its {kind}, not {wanted}")
