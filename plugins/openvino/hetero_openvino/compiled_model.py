"""The compiled model: OpenVINO's."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import cast

import openvino

from hetero import properties as props
from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.graph import Model, VariableInfo
from hetero.passes.intervals import I32, Intervals
from hetero.plugin import CompiledModel, PreparedModel, Section, ports_section, section_of
from hetero.system.errors import BlobError
from hetero_openvino.device import OpenVinoDevice, from_openvino, openvino_version
from hetero_openvino.infer_request import OpenVinoInferRequest
from hetero_openvino.runtime_model import runtime_model
from hetero_openvino.translation.integers import WIDE_TYPES
from hetero_openvino.translation.variable_ports import VariablePorts

# The sections of an exported model besides the ports: OpenVINO's own blob, its version, and the variables.
BLOB, VERSION, _VARIABLES = "openvino", "openvino_version", "variables"


class OpenVinoCompiledModel(CompiledModel):
    # OpenVINO's compiled models change no property.
    mutable_properties = ()

    def __init__(
        self, prepared: PreparedModel, engine: openvino.CompiledModel, exposed: Sequence[VariablePorts] = ()
    ) -> None:
        """``exposed``: the variables that are ports of OpenVINO's model, which the sections of an imported one have."""
        # OpenVINO's decisions, such as the number of streams.
        chosen, supported = prepared.properties.explicit(), engine.get_property(props.supported_properties)
        prepared.properties.set_internal({
            str(known): known.convert(from_openvino(engine.get_property(known)))
            for known in cast(OpenVinoDevice, prepared.device).engine_properties
            if known in supported and known not in chosen
        })  # fmt: skip
        super().__init__(prepared)
        self.engine = engine
        self._exported = prepared.sections
        infos = [variable.info for variable in prepared.model.variables]
        if prepared.sections:
            infos, exposed = _variables_in(prepared.sections)
        self.exposed = exposed
        self.variables = {info.variable_id: info for info in infos}
        # Integers that may need more bits than OpenVINO has; of an imported model it is not known which.
        proven = [I32.contains(Intervals().of(parameter.output(0))) for parameter in prepared.model.parameters]
        self.wide_inputs = [
            index
            for index, port in enumerate(self.inputs)
            if port.element_type in WIDE_TYPES and not (proven and proven[index])
        ]

    def create_sync_infer_request(self) -> OpenVinoInferRequest:
        return OpenVinoInferRequest(self)

    def export_sections(self) -> dict[str, Section]:
        if self._exported:  # what OpenVINO exports of an imported model cannot be imported
            return dict(self._exported)
        stream = io.BytesIO()
        self.engine.export_model(stream)
        is_assigned = {ports.info.variable_id: ports.is_assigned for ports in self.exposed}
        variables = [
            (name, f"{info.data_type}", str(info.data_shape), is_assigned.get(name))
            for name, info in self.variables.items()
        ]
        return {
            "ports": ports_section(self), VERSION: openvino_version.default.encode(), BLOB: stream.getvalue(),
            _VARIABLES: json.dumps(variables).encode(),
        }  # fmt: skip

    def get_runtime_model(self) -> Model:
        return runtime_model(self.engine, self.execution_times)


def _variables_in(sections: Mapping[str, memoryview]) -> tuple[list[VariableInfo], list[VariablePorts]]:
    """Return the variables of an exported model, and those that are ports. Raises BlobError."""
    try:
        fields = json.loads(section_of(sections, _VARIABLES).tobytes())
        infos = [VariableInfo(str(name), Type(kind), PartialShape(shape)) for name, kind, shape, _ in fields]
        flags = [is_assigned for *_, is_assigned in fields]
        return infos, [VariablePorts(info, bool(flag)) for info, flag in zip(infos, flags) if flag is not None]
    except (ValueError, TypeError, RecursionError) as error:
        raise BlobError(f"the variables of the exported model cannot be understood: {error!r}") from error
