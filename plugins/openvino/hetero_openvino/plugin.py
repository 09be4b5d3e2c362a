"""The plugin: OpenVINO's devices, the operations that they support, and compilation."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, cast

import openvino

from hetero import properties as props
from hetero.graph import Model, Node, Output, is_terminal
from hetero.plugin import (
    Device,
    Plugin,
    Ports,
    PreparedModel,
    RemoteContext,
    common_properties,
    full_name,
    hint_properties,
    ports_in,
    section_of,
    unsupported,
)
from hetero.properties import Mutability, Property, PropertyTable
from hetero.properties.values import names
from hetero.system.errors import BlobError, DeviceError
from hetero_openvino.compiled_model import BLOB, EXACT_BLOB, VERSION, OpenVinoCompiledModel
from hetero_openvino.device import OpenVinoDevice, describe, openvino_version, to_openvino
from hetero_openvino.errors import fork_guard, message_of
from hetero_openvino.translation.finite_values import finite_values
from hetero_openvino.translation.ports import Untranslatable
from hetero_openvino.translation.translation import translate, translate_alone, translate_supported
from hetero_openvino.translation.unread_values import keep_initial_values
from hetero_openvino.translation.variable_ports import expose_variables


@functools.cache
def _core() -> openvino.Core:
    """OpenVINO's core, one for the whole process.

    On processors with AMX, a core gives the thread that first uses it a stack for signals, and takes it back at its
    own end. After several cores the thread may be left with a released stack, and the next signal ends the process.
    """
    return openvino.Core()


class OpenVinoPlugin(Plugin):
    """Every device that OpenVINO lists, with OpenVINO's name as its id."""

    supported_properties: Collection[Property] = (
        *common_properties,
        openvino_version,
        Property(props.caching_properties, names, (str(openvino_version),), Mutability.RO),
    )

    def __init__(self) -> None:
        super().__init__()
        self.core = _core()
        self._devices = [describe(self.core, name) for name in self.core.available_devices]
        # Keys that every device accepts, and that OpenVINO has a use for, such as INFERENCE_NUM_THREADS: Core passes
        # values for all devices to plugins that list the key.
        known = {*common_properties, *hint_properties}
        used = {key: key for device in self._devices for key in device.engine_properties if key in known}
        self.supported_properties = (*type(self).supported_properties, *used.values())

    def devices(self) -> Sequence[OpenVinoDevice]:
        fork_guard.check()
        return self._devices

    def properties_of(self, device: Device, values: Mapping[str, Any]) -> Sequence[Property]:
        return (*type(self).supported_properties, *cast(OpenVinoDevice, device).engine_properties)

    def unsupported_nodes(self, model: Model, properties: PropertyTable, device: Device) -> dict[Node, str]:
        query = partial(self.core.query_model, device_name=device.id, config=to_openvino(properties.explicit()))
        translated, refused = translate_supported(model)
        try:
            supported = query(translated)
        except RuntimeError:
            # One operation can make the query of a whole model fail.
            translated, refused = translate_supported(model, refused | self._failing_nodes(model, refused, query))
            try:
                supported = query(translated)
            except RuntimeError as error:
                problem = f"OpenVINO fails at the model: {message_of(error)}"
                return {node: refused.get(node, problem) for node in model.get_ordered_ops() if not is_terminal(node)}
        for node in model.get_ordered_ops():
            if not is_terminal(node) and node not in refused and node.friendly_name not in supported:
                refused[node] = f"OpenVINO does not support it on {device.id}"
        return refused

    def _failing_nodes(
        self, model: Model, refused: Mapping[Node, str], query: Callable[[openvino.Model], object]
    ) -> dict[Node, str]:
        """Return the operations at which OpenVINO fails even without the rest of the model."""
        failing = {}
        for node in model.get_ordered_ops():
            if not is_terminal(node) and node not in refused:
                try:
                    with contextlib.suppress(Untranslatable):  # OpenVINO has it for the values of the model only
                        query(translate_alone(node, model))
                except RuntimeError as error:
                    failing[node] = f"OpenVINO fails at it: {message_of(error)}"
        return failing

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
        where = f"{full_name(self.name, prepared.device.id)} cannot compile '{prepared.friendly_name}'"

        def make(*finite: Collection[Output]) -> openvino.CompiledModel:
            try:
                return self.core.compile_model(translate(model, *finite), prepared.device.id, options)
            except (Untranslatable, RuntimeError) as error:
                raise DeviceError(f"{where}: {message_of(error)}") from error

        model, ports = expose_variables(keep_initial_values(prepared.model))
        finite = finite_values(model)
        engine = make(*finite)
        is_exact = not finite.values
        if not is_exact and engine.get_property(props.hint.inference_precision) == openvino.Type.f16:
            engine, is_exact = make(), True  # sums of ordinary numbers may be infinite
        return OpenVinoCompiledModel(prepared, engine, None if is_exact else make, ports)

    def import_model(
        self, sections: Mapping[str, memoryview], options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> OpenVinoCompiledModel:
        properties = self.import_properties(options)
        device = self.device(properties.explicit())
        version = section_of(sections, VERSION).tobytes().decode(errors="replace")
        if version != openvino_version.default:
            raise BlobError(f"it was exported by OpenVINO {version}, but this is {openvino_version.default}")
        prepared = PreparedModel(self, device, properties, ports_in(sections), Model([], []), context, sections)

        def load(name: str) -> openvino.CompiledModel:
            content = section_of(sections, name).tobytes()
            try:
                return self.core.import_model(content, device.id, to_openvino(properties.explicit()))
            except RuntimeError as error:
                raise BlobError(f"OpenVINO cannot import it: {message_of(error)}") from error

        load_exact = partial(load, EXACT_BLOB) if EXACT_BLOB in sections else None
        return OpenVinoCompiledModel(prepared, load(BLOB), load_exact)
