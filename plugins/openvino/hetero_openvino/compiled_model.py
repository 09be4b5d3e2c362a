"""The compiled model: OpenVINO's."""

from __future__ import annotations

import io

import openvino

from hetero import properties as props
from hetero.graph import Model
from hetero.plugin import CompiledModel, PreparedModel, Section
from hetero.plugin.model_sections import ports_section
from hetero_openvino.device import from_openvino, openvino_version
from hetero_openvino.infer_request import OpenVinoInferRequest
from hetero_openvino.runtime_model import runtime_model

# The sections of an exported model besides the ports: OpenVINO's own blob, and the version that wrote it.
BLOB, VERSION = "openvino", "openvino_version"


class OpenVinoCompiledModel(CompiledModel):
    def __init__(self, prepared: PreparedModel, engine: openvino.CompiledModel) -> None:
        # OpenVINO's decisions, such as the number of streams.
        chosen, supported = prepared.properties.explicit(), engine.get_property(props.supported_properties)
        prepared.properties.set_internal({
            str(known): known.convert(from_openvino(engine.get_property(known)))
            for known in prepared.device.supported_properties if known in supported and known not in chosen
        })  # fmt: skip
        super().__init__(prepared)
        self.engine = engine
        self.variables = {variable.info.variable_id: variable.info for variable in prepared.model.variables}
        self._exported = prepared.sections

    def create_sync_infer_request(self) -> OpenVinoInferRequest:
        return OpenVinoInferRequest(self)

    def export_sections(self) -> dict[str, Section]:
        if self._exported:  # what OpenVINO exports of an imported model cannot be imported
            return dict(self._exported)
        stream = io.BytesIO()
        self.engine.export_model(stream)
        return {"ports": ports_section(self), VERSION: openvino_version.default.encode(), BLOB: stream.getvalue()}

    def get_runtime_model(self) -> Model:
        return runtime_model(self.engine, self.execution_times)
