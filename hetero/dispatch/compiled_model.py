"""HeteroCompiledModel: a model cut into subgraphs, each compiled by its own device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hetero import properties as props
from hetero.dispatch.cutting.plan import shared_context
from hetero.dispatch.cutting.plan_sections import plan_sections
from hetero.dispatch.execution.infer_request import (
    DeployedModel,
    HeteroAsyncInferRequest,
    HeteroInferRequest,
    placement_report,
)
from hetero.dispatch.runtime_model import join_runtime_models
from hetero.graph import Model
from hetero.plugin import AsyncInferRequest, RemoteContext, Section, model_programs
from hetero.plugin.blobs.model_sections import ports_section


class HeteroCompiledModel(DeployedModel):
    """The device HETERO's compiled model: what it exports, and the properties of its subgraphs."""

    def export_sections(self) -> dict[str, Section]:
        report = self.properties.get(placement_report)
        return {"ports": ports_section(self), **plan_sections(self.name, self.plan, report)}

    def get_runtime_model(self) -> Model:
        names = [port.node.friendly_name for port in self.outputs]
        subgraphs = self.properties.get(placement_report).subgraphs
        return join_runtime_models(self.name, self.plan, subgraphs, names)

    def get_property(self, key: str) -> Any:
        """Return a property of its own, else that of the first subgraph that has it.

        The placement report has the programs that the subgraphs have made so far.
        """
        if key == placement_report:
            report = super().get_property(key)
            return replace(
                report,
                subgraphs=tuple(
                    replace(each, programs=step.compiled.get_property(model_programs))
                    if model_programs in step.compiled.properties
                    else each
                    for each, step in zip(report.subgraphs, self.plan.steps, strict=True)
                ),
            )
        if key not in self.properties:
            for step in self.plan.steps:
                if key in step.compiled.properties:
                    return step.compiled.get_property(key)
        return super().get_property(key)

    @property
    def context(self) -> RemoteContext:
        """The context that the devices of all subgraphs share. Raises NotSupportedError if they share none."""
        return shared_context({step.device: step.compiled.context for step in self.plan.steps})

    def create_sync_infer_request(self) -> HeteroInferRequest:
        return HeteroInferRequest(self)

    def create_infer_request(self) -> AsyncInferRequest:
        if self.properties.get(props.exclusive_async_requests):
            return super().create_infer_request()
        return HeteroAsyncInferRequest(self.create_sync_infer_request())
