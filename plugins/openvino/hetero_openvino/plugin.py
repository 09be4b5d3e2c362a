"""The plugin: OpenVINO's devices, the operations that they support, and compilation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import openvino

from hetero import properties as props
from hetero.errors import BlobError, DeviceError
from hetero.graph import Model, Node
from hetero.plugin import Device, Plugin, PreparedModel, RemoteContext, common_properties, full_name, unsupported
from hetero.plugin.model_sections import ports_in, section_of
from hetero.plugin.prepared_model import Ports
from hetero.plugin.query import is_terminal
from hetero.properties import Mutability, Property, PropertyTable
from hetero.properties.values import names
from hetero_openvino.compiled_model import BLOB, VERSION, OpenVinoCompiledModel
from hetero_openvino.device import describe, openvino_version, to_openvino
from hetero_openvino.errors import message_of
from hetero_openvino.translation import Untranslatable, translate, translate_supported


class OpenVinoPlugin(Plugin):
    """Every device that OpenVINO lists, with OpenVINO's name as its id."""

    supported_properties = (
        *common_properties,
        openvino_version,
        Property(props.caching_properties, names, (str(openvino_version),), Mutability.RO),
    )

    def __init__(self) -> None:
        super().__init__()
        self.core = openvino.Core()
        self._devices = [describe(self.core, name) for name in self.core.available_devices]

    def devices(self) -> Sequence[Device]:
        return self._devices

    def unsupported_nodes(self, model: Model, properties: PropertyTable, device: Device) -> dict[Node, str]:
        translated, refused = translate_supported(model)
        supported = self.core.query_model(translated, device.id, to_openvino(properties.explicit()))
        for node in model.get_ordered_ops():
            if not is_terminal(node) and node not in refused and node.friendly_name not in supported:
                refused[node] = f"OpenVINO does not support it on {device.id}"
        return refused

    def compile_model(
        self, model: Model, options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> OpenVinoCompiledModel:
        # Not the default, which queries before it compiles: a query takes as long as a compilation.
        properties = self.property_table(options)
        device = self.device(properties.explicit())
        prepared = PreparedModel(self, device, properties, Ports.of(model), model, context)
        try:
            return self.compile(prepared)
        except DeviceError:
            if refused := self.unsupported_nodes(model, properties, device):
                raise unsupported(full_name(self.name, device.id), refused) from None
            raise

    def compile(self, prepared: PreparedModel) -> OpenVinoCompiledModel:
        options = to_openvino(prepared.properties.explicit())
        try:
            engine = self.core.compile_model(translate(prepared.model), prepared.device.id, options)
        except (Untranslatable, RuntimeError) as error:
            where = f"{full_name(self.name, prepared.device.id)} cannot compile '{prepared.friendly_name}'"
            raise DeviceError(f"{where}: {message_of(error)}") from error
        return OpenVinoCompiledModel(prepared, engine)

    def import_model(
        self, sections: Mapping[str, memoryview], options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> OpenVinoCompiledModel:
        properties = self.property_table(options)
        device = self.device(properties.explicit())
        version = section_of(sections, VERSION).tobytes().decode(errors="replace")
        if version != openvino_version.default:
            raise BlobError(f"it was exported by OpenVINO {version}, but this is {openvino_version.default}")
        content = section_of(sections, BLOB).tobytes()
        prepared = PreparedModel(self, device, properties, ports_in(sections), Model([], []), context, sections)
        try:
            engine = self.core.import_model(content, device.id, to_openvino(properties.explicit()))
        except RuntimeError as error:
            raise BlobError(f"OpenVINO cannot import it: {message_of(error)}") from error
        return OpenVinoCompiledModel(prepared, engine)
