"""The plugin: which devices there are, what they can run, and how a model is compiled for one."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hetero import properties as props
from hetero.errors import DeviceError
from hetero.graph import Constant, Model, Node, Parameter, Result
from hetero.passes import (
    align_prelu_slopes,
    eliminate_dead_code,
    fold_batch_norm,
    fold_constant_if,
    fold_constants,
    fuse_pad_into_convolution,
    split_batch_norm,
    upgrade_opset,
)
from hetero.plugin import (
    Plugin,
    QueryResult,
    RemoteContext,
    common_properties,
    full_name,
    get_supported_nodes,
    models_in,
    unsupported,
)
from hetero.properties import Property, PropertyTable
from hetero.properties.values import element_type
from hetero.types import Type
from hetero_opencl.binaries import Binaries, default_folder
from hetero_opencl.compiled_model import OpenCLCompiledModel
from hetero_opencl.device import OpenCLDevice, present_devices
from hetero_opencl.forks import check_process
from hetero_opencl.fp16 import convert_to_fp16
from hetero_opencl.kernels import unsupported_reason
from hetero_opencl.kernels.expressions import needs_doubles
from hetero_opencl.memory_use import memory_statistics, model_memory, statistics_of
from hetero_opencl.remote import OpenCLContext, create_context
from hetero_opencl.variable_ports import ASSIGNS, READS, variable_unsupported_reason

driver_version = Property("GPU_DRIVER_VERSION", str, "", props.Mutability.RO)
total_memory = Property("GPU_DEVICE_TOTAL_MEM_SIZE", int, 0, props.Mutability.RO)  # OpenVINO's, in bytes
# What f32 models are computed in; the other types of a model stay as they are.
inference_precision = Property(
    props.hint.inference_precision, element_type(Type.f32, Type.f16, Type.dynamic), Type.dynamic
)
# One that the device computes, and one whose inputs or outputs are on their way meanwhile.
MOST_STREAMS = 2


class OpenCLPlugin(Plugin):
    """Every OpenCL device of every platform, numbered from 0. Raises DeviceError if there is none."""

    supported_properties = (
        *common_properties, props.cache_dir, props.caching_properties, driver_version, total_memory,
        memory_statistics, model_memory, inference_precision, props.device.details,
    )  # fmt: skip
    passes = (
        fold_constant_if,
        upgrade_opset,
        align_prelu_slopes,
        fold_constants,
        eliminate_dead_code,
        fuse_pad_into_convolution,
        split_batch_norm,
        fold_batch_norm,
    )

    def __init__(self, devices: Sequence[OpenCLDevice] | None = None) -> None:
        super().__init__()
        self.devices = devices or present_devices().usable
        self._contexts: dict[str, OpenCLContext] = {}
        self._lock = threading.Lock()

    def device_ids(self) -> list[str]:
        check_process()
        return [str(index) for index in range(len(self.devices))]

    def unavailable_devices(self) -> dict[str, str]:
        return present_devices().unusable

    def describe(self, device_id: str) -> dict[str, Any]:
        handle = self._device(device_id).handle
        types = props.device.Type
        return {
            props.device.full_name: self._device(device_id).name,
            props.device.architecture: f"{handle.vendor.strip()} {handle.name.strip()}, {handle.version.strip()}",
            props.device.type: types.INTEGRATED if handle.host_unified_memory else types.DISCRETE,
            props.device.capabilities: ("FP32", "FP16", "EXPORT_IMPORT"),
            props.device.details: self._device(device_id).details(),
            driver_version: handle.driver_version,
            total_memory: handle.global_mem_size,
            memory_statistics: statistics_of(handle),
            props.caching_properties: (driver_version,),
            props.range_for_streams: (1, MOST_STREAMS),
        }

    def transform_model(self, model: Model, properties: PropertyTable) -> Model:
        model = super().transform_model(model, properties)
        if properties.get(props.hint.inference_precision) is Type.f16:
            convert_to_fp16(model, partial(_refusal, self._device(properties.get(props.device.id))))
        return model

    def query_model(self, model: Model, options: Mapping[str, Any]) -> QueryResult:
        properties = self.property_table(options)
        return get_supported_nodes(
            model,
            partial(self.transform_model, properties=properties),
            partial(_refusal, self._device(properties.get(props.device.id))),
            full_name(self.name, properties.get(props.device.id)),
        )

    def compile_model(
        self, model: Model, options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> OpenCLCompiledModel:
        properties = self.property_table(options)
        transformed = self.transform_model(model.clone(), properties)
        device = self._device(properties.get(props.device.id))
        refused = {node: reason for node in transformed.get_ordered_ops() if (reason := _refusal(device, node))}
        if refused:
            raise unsupported(self.name, refused)
        return self._compiled(model, transformed, properties, context, {})

    def import_model(
        self, sections: Mapping[str, memoryview], options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> OpenCLCompiledModel:
        return self._compiled(*models_in(sections), self.property_table(options), context, sections)

    def _compiled(
        self,
        model: Model,
        transformed: Model,
        properties: PropertyTable,
        context: RemoteContext | None,
        binaries: Mapping[str, memoryview],
    ) -> OpenCLCompiledModel:
        folder = properties.get(props.cache_dir)
        kept = Binaries(Path(folder) if folder else default_folder(), binaries)
        if context is None:
            context = self.get_default_context({props.device.id: properties.get(props.device.id)})
        elif not isinstance(context, OpenCLContext):
            raise DeviceError(f"{self.name} cannot compile for a context of {context.get_device_name()}")
        return OpenCLCompiledModel(model, transformed, self, properties, context, kept)

    def create_context(self, params: Mapping[str, Any]) -> OpenCLContext:
        devices = {full_name(self.name, device_id): self._device(device_id) for device_id in self.device_ids()}
        return create_context(self.name, devices, params)

    def get_default_context(self, params: Mapping[str, Any]) -> OpenCLContext:
        device_id = str(int(params.get(props.device.id) or 0))
        with self._lock:
            if device_id not in self._contexts:
                self._contexts[device_id] = OpenCLContext(full_name(self.name, device_id), self._device(device_id))
            return self._contexts[device_id]

    def _device(self, device_id: str) -> OpenCLDevice:
        return self.devices[int(device_id or 0)]


def _refusal(device: OpenCLDevice, node: Node) -> str | None:
    if isinstance(node, (Parameter, Constant, Result)):
        return None
    types = {value.element_type for value in (*node.input_values(), *node.outputs())}
    if (Type.f64 in types or needs_doubles(node)) and not device.has_doubles:
        return f"{device.name} has no f64"
    for body in getattr(node, "bodies", ()):
        for inner in body.get_ordered_ops():
            reason = "a variable of a body" if isinstance(inner, READS + ASSIGNS) else _refusal(device, inner)
            if reason:
                return f"{inner.type_info.name} '{inner.friendly_name}' in it: {reason}"
    return variable_unsupported_reason(node) if isinstance(node, READS + ASSIGNS) else unsupported_reason(node)
