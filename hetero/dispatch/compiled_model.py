"""HeteroCompiledModel: a model cut into subgraphs, each compiled by its own device."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from hetero import properties as props
from hetero.dispatch.affinity import Device
from hetero.dispatch.claims import Claims
from hetero.dispatch.deployment import Deployer, Deployment
from hetero.dispatch.drawing import visualize
from hetero.dispatch.infer_request import HeteroAsyncInferRequest, HeteroInferRequest
from hetero.dispatch.report import NOTICE, PlacementReport, log
from hetero.dispatch.runtime_model import join_runtime_models
from hetero.dispatch.scheduler import Scheduler
from hetero.graph import Model
from hetero.plugin import AsyncInferRequest, CompiledModel, Plugin
from hetero.properties import Property, PropertyTable

placement_report = Property("PLACEMENT_REPORT", PlacementReport, None, props.Mutability.RO)


class HeteroCompiledModel(CompiledModel):
    def __init__(
        self, model: Model, devices: Sequence[Device], claims: Claims, plugin: Plugin, properties: PropertyTable
    ) -> None:
        super().__init__(model, plugin, properties)
        deployment = Deployer(self.name, model, devices, claims).first
        self._adopt(deployment)
        visualize(model, deployment.subgraphs, deployment.report)
        for failure in deployment.claims.failures[:1]:
            log.warning("%s: %s; other devices run what it does not", self.name, failure.error)
        log.log(NOTICE, "%s: %s", self.name, deployment.report.summary())

    def _adopt(self, deployment: Deployment) -> None:
        self.plan = deployment.plan
        #: How many steps each device runs at once: as many as it finds best.
        self.slots: dict[str, int] = {}
        for step in self.plan.steps:
            best = step.compiled.properties.value_of(props.optimal_number_of_infer_requests)
            self.slots[step.device] = max(self.slots.get(step.device, 1), best)
        self.properties.fill(
            {
                props.num_streams: max(self.slots.values(), default=1),
                props.optimal_number_of_infer_requests: sum(self.slots.values()) or 1,
                props.execution_devices: tuple(dict.fromkeys(s.device.name for s in deployment.subgraphs)),
                placement_report: deployment.report,
            }
        )

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
