"""The compiled model: one that a worker keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from hetero import properties as props
from hetero.graph import Model
from hetero.plugin import CompiledModel, PreparedModel, Section, ports_section
from hetero_ray.device import RayDevice, node_options, ray_timeout
from hetero_ray.infer_request import RayInferRequest
from hetero_ray.runtime_model import model_of

if TYPE_CHECKING:
    from hetero_ray.plugin import RayPlugin


class RayCompiledModel(CompiledModel):
    """A model on a worker. ``sections`` are its IR."""

    def __init__(self, prepared: PreparedModel, sections: Mapping[str, Section]) -> None:
        super().__init__(prepared)
        device = cast(RayDevice, prepared.device)
        # One request more than the node runs at once: its inputs are at the node when another inference ends.
        streams = self.properties.value_of(props.num_streams)
        self.properties.set_internal({props.optimal_number_of_infer_requests: streams + 1})
        self._sections = {name: section for name, section in sections.items() if name != "ports"}
        self.variables = [variable.info for variable in prepared.model.variables]
        cargo = cast("RayPlugin", prepared.plugin).store.pack(self._sections)
        #: The worker that keeps the model.
        self.client = device.client
        self.number = self.client.new_number(self)
        name, options = node_options(device, prepared.properties)
        self.client.call("compile", self.number, name, options, cargo.shipment, *cargo.references)
        self._shared = cargo.shared  # other models with these weights need not put them into the store again
        self.infer_method = self.client.infer_method(len(self.outputs))
        #: Seconds that an inference may take, None for no limit.
        self.timeout = self.properties.get(ray_timeout) / 1000 or None

    def create_sync_infer_request(self) -> RayInferRequest:
        return RayInferRequest(self)

    def export_sections(self) -> dict[str, Section]:
        return {"ports": ports_section(self), **self._sections}

    def set_property(self, values: Mapping[str, Any]) -> None:
        super().set_property(values)
        self.client.call("set_property", self.number, dict(values))

    def get_runtime_model(self) -> Model:
        return model_of(self.client.call("runtime_model", self.number), self.name)
