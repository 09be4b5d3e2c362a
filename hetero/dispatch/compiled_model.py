"""HeteroCompiledModel: a model cut into subgraphs, each compiled by its own device."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from hetero import properties as props
from hetero.dispatch.affinity import Placed
from hetero.dispatch.drawing import visualize
from hetero.dispatch.infer_request import HeteroAsyncInferRequest, HeteroInferRequest
from hetero.dispatch.partition import extract, partition
from hetero.dispatch.plan import make_plan
from hetero.dispatch.report import NOTICE, PlacementReport, log, make_report
from hetero.dispatch.runtime_model import join_runtime_models
from hetero.dispatch.scheduler import Scheduler
from hetero.graph import Constant, Model, Node
from hetero.graph.runtime_info import copy_runtime_info
from hetero.ops.values import is_exact
from hetero.plugin import AsyncInferRequest, CompiledModel, Plugin
from hetero.properties import Property, PropertyTable

placement_report = Property("PLACEMENT_REPORT", PlacementReport, None, props.Mutability.RO)


class HeteroCompiledModel(CompiledModel):
    def __init__(self, model: Model, placed: Mapping[Node, Placed], plugin: Plugin, properties: PropertyTable) -> None:
        super().__init__(model, plugin, properties)
        known = _fold_known_values(model)
        subgraphs = partition(model, {node: where.device for node, where in placed.items()})
        compiled = [
            subgraph.device.compile(extract(subgraph, f"{self.name}/{index}"))
            for index, subgraph in enumerate(subgraphs)
        ]
        self.plan = make_plan(model, subgraphs, compiled)
        report = make_report(model, self.properties.get(props.device.priorities), placed, subgraphs, known)
        #: How many steps each device runs at once: as many as it finds best.
        self.slots: dict[str, int] = {}
        for step in self.plan.steps:
            best = step.compiled.properties.value_of(props.optimal_number_of_infer_requests)
            self.slots[step.device] = max(self.slots.get(step.device, 1), best)
        self.properties.fill(
            {
                props.num_streams: max(self.slots.values(), default=1),
                props.optimal_number_of_infer_requests: sum(self.slots.values()) or 1,
                props.execution_devices: tuple(dict.fromkeys(s.device.name for s in subgraphs)),
                placement_report: report,
            }
        )
        visualize(model, subgraphs, report)
        log.log(NOTICE, "%s: %s", self.name, report.summary())

    def get_runtime_model(self) -> Model:
        names = [port.node.friendly_name for port in self.outputs]
        subgraphs = self.properties.get(placement_report).subgraphs
        return join_runtime_models(self.name, self.plan, subgraphs, names)

    def get_property(self, key: str) -> Any:
        """Its own, or one of its devices': the first of the plan that has it tells."""
        if key not in self.properties:
            for step in self.plan.steps:
                if key in step.compiled.properties:
                    return step.compiled.get_property(key)
        return super().get_property(key)

    def create_sync_infer_request(self) -> HeteroInferRequest:
        return HeteroInferRequest(self)

    def create_infer_request(self) -> AsyncInferRequest:
        if self.properties.get(props.exclusive_async_requests):
            return super().create_infer_request()
        return HeteroAsyncInferRequest(self.create_sync_infer_request())

    @functools.cached_property
    def scheduler(self) -> Scheduler:
        return Scheduler(f"{self.device_name} {self.name}", self.slots)


def _fold_known_values(model: Model) -> set[Node]:
    """Put Constants in the place of values that are known already, such as the shapes of static tensors.

    So no value that was known before the cut is computed, or sent from device to device, after it.
    Returns the operations that are no longer needed.
    """
    before = model.get_ordered_ops()
    for node in before:
        for output in node.outputs():
            if not isinstance(node, Constant) and is_exact(output.value) and output.get_target_inputs():
                constant = Constant(output.value.astype(output.element_type.to_dtype()), name=node.friendly_name)
                copy_runtime_info([node], constant)
                output.replace(constant.output(0))
    gone = set(before) - set(model.get_ordered_ops())
    for node in gone:
        node.disconnect()
    return gone
