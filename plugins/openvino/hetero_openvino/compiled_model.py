"""The compiled model: OpenVINO's, and another one that keeps NaN if the first one does not."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import openvino

from hetero import properties as props
from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.graph import Model, VariableInfo
from hetero.passes.bounds.intervals import I32, Intervals
from hetero.plugin import CompiledModel, PreparedModel, Section, ports_section, section_of
from hetero.system.errors import BlobError
from hetero_openvino.device import OpenVinoDevice, from_openvino, openvino_version
from hetero_openvino.infer_request import OpenVinoInferRequest
from hetero_openvino.runtime_model import runtime_model
from hetero_openvino.translation.integers import WIDE_TYPES
from hetero_openvino.translation.variable_ports import VariablePorts

# The sections of an exported model besides the ports: OpenVINO's own blob, its version, and the variables.
BLOB, EXACT_BLOB, VERSION, _VARIABLES = "openvino", "openvino_exact", "openvino_version", "variables"

Compile = Callable[[], openvino.CompiledModel]


class OpenVinoCompiledModel(CompiledModel):
    # OpenVINO's compiled models change no property.
    mutable_properties = ()

    def __init__(
        self,
        prepared: PreparedModel,
        engine: openvino.CompiledModel,
        compile_exact: Compile | None = None,
        exposed: Sequence[VariablePorts] = (),
    ) -> None:
        """``compile_exact``: for numbers that are not ordinary; None if ``engine`` keeps NaN.

        ``exposed``: the variables that are ports of OpenVINO's model, which the sections of an imported one have.
        """
        # OpenVINO's decisions, such as the number of streams.
        chosen, supported = prepared.properties.explicit(), engine.get_property(props.supported_properties)
        prepared.properties.set_internal({
            str(known): known.convert(from_openvino(engine.get_property(known)))
            for known in cast(OpenVinoDevice, prepared.device).engine_properties
            if known in supported and known not in chosen
        })  # fmt: skip
        super().__init__(prepared)
        self.engine = engine
        self._compile_exact, self._exact = compile_exact, engine if compile_exact is None else None
        #: Whether another engine than ``engine`` keeps NaN.
        self.has_exact_engine = compile_exact is not None
        self._lock = threading.Lock()
        #: The inputs that decide which engine runs.
        self.deciding_inputs = [
            index for index, port in enumerate(self.inputs) if compile_exact and port.element_type.is_real()
        ]
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

    def exact_engine(self) -> openvino.CompiledModel:
        """Return the engine that keeps NaN, which is compiled when the first inference needs it."""
        with self._lock:
            if self._exact is None:
                assert self._compile_exact is not None
                self._exact = self._compile_exact()
            return self._exact

    def create_sync_infer_request(self) -> OpenVinoInferRequest:
        return OpenVinoInferRequest(self)

    def export_sections(self) -> dict[str, Section]:
        if self._exported:  # what OpenVINO exports of an imported model cannot be imported
            return dict(self._exported)
        is_assigned = {ports.info.variable_id: ports.is_assigned for ports in self.exposed}
        variables = [
            (name, f"{info.data_type}", str(info.data_shape), is_assigned.get(name))
            for name, info in self.variables.items()
        ]
        sections: dict[str, Section] = {
            "ports": ports_section(self), VERSION: openvino_version.default.encode(), BLOB: _exported(self.engine),
            _VARIABLES: json.dumps(variables).encode(),
        }  # fmt: skip
        if self._compile_exact is not None:
            sections[EXACT_BLOB] = _exported(self._exact or self._compile_exact())
        return sections

    def get_runtime_model(self) -> Model:
        return runtime_model(self.engine, self.execution_times)


def _exported(engine: openvino.CompiledModel) -> bytes:
    stream = io.BytesIO()
    engine.export_model(stream)
    return stream.getvalue()


def _variables_in(sections: Mapping[str, memoryview]) -> tuple[list[VariableInfo], list[VariablePorts]]:
    """Return the variables of an exported model, and those that are ports. Raises BlobError."""
    try:
        fields = json.loads(section_of(sections, _VARIABLES).tobytes())
        infos = [VariableInfo(str(name), Type(kind), PartialShape(shape)) for name, kind, shape, _ in fields]
        flags = [is_assigned for *_, is_assigned in fields]
        return infos, [VariablePorts(info, bool(flag)) for info, flag in zip(infos, flags) if flag is not None]
    except (ValueError, TypeError, RecursionError) as error:
        raise BlobError(f"the variables of the exported model cannot be understood: {error!r}") from error
