"""The plugin: which devices there are, what they can run, and how a model is compiled for one."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from hetero import properties as props
from hetero.core.types import Type
from hetero.graph import Model, Node, is_terminal
from hetero.ops.control_flow.variables import VariableOp
from hetero.passes import (
    align_prelu_slopes,
    compute_integers_in_f32,
    eliminate_common_subexpressions,
    eliminate_dead_code,
    flush_denormal_weights,
    fold_batch_norm,
    fold_constant_if,
    fold_constants,
    fuse_attention,
    fuse_gelu,
    fuse_layer_norm,
    fuse_pad_into_convolution,
    gather_compressed_rows,
    join_products,
    keeps_values,
    remove_identities,
    sink_channel_shuffles,
    split_batch_norm,
    upgrade_opset,
)
from hetero.plugin import (
    Device,
    Plugin,
    PreparedModel,
    common_properties,
    full_name,
    inference_precision,
    model_programs,
)
from hetero.properties import PropertyTable
from hetero.system.errors import DeviceError
from hetero_opencl.compile.fp16 import convert_to_fp16
from hetero_opencl.compile.variable_ports import variable_unsupported_reason
from hetero_opencl.compiled_model import OpenCLCompiledModel
from hetero_opencl.device.caches import BinaryCache, default_folder
from hetero_opencl.device.device import OpenCLDevice, driver_version, present_devices, total_memory
from hetero_opencl.device.memory import memory_statistics
from hetero_opencl.device.process_guard import fork_guard
from hetero_opencl.execute.remote import OpenCLContext, create_context
from hetero_opencl.kernels import unsupported_reason
from hetero_opencl.kernels.doubles import needs_doubles
from hetero_opencl.lowering.program import model_memory
from hetero_opencl.profiles.profiled_device import ProfiledDevice

_HINTS = (
    props.intel_gpu.enable_loop_unrolling, props.intel_gpu.disable_winograd_convolution,
    props.intel_gpu.hint.queue_priority, props.intel_gpu.hint.queue_throttle, props.intel_gpu.hint.host_task_priority,
    props.intel_gpu.hint.available_device_mem, props.intel_gpu.hint.enable_large_allocations,
    props.intel_gpu.hint.enable_lora_operation,
)  # fmt: skip


class OpenCLPlugin(Plugin):
    """Every OpenCL device of every platform, numbered from 0. Raises DeviceError if there is none."""

    supported_properties = (
        *common_properties, props.cache_dir, driver_version, total_memory,
        memory_statistics, model_memory, model_programs, inference_precision(Type.f16), props.tuning_file,
        props.device.details, *_HINTS,
    )  # fmt: skip
    has_strings = False
    passes = (
        fold_constant_if,
        upgrade_opset,
        align_prelu_slopes,
        fold_constants,
        gather_compressed_rows,
        eliminate_dead_code,
        eliminate_common_subexpressions,
        remove_identities,
        fuse_pad_into_convolution,
        split_batch_norm,
        fold_batch_norm,
        flush_denormal_weights,
        sink_channel_shuffles,
        fuse_gelu,
        fuse_layer_norm,
        fuse_attention,
        join_products,
    )

    def __init__(self, devices: Sequence[ProfiledDevice] | None = None) -> None:
        super().__init__()
        self._devices = devices or present_devices().usable
        self._contexts: dict[str, OpenCLContext] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        self._contexts.clear()

    def devices(self) -> Sequence[ProfiledDevice]:
        fork_guard.check()
        return self._devices

    def unavailable_devices(self) -> dict[str, str]:
        return {full_name(self.name, number): fault for number, fault in present_devices().unusable.items()}

    def unsupported_reason(self, node: Node, device: Device) -> str | None:
        if is_terminal(node):  # of a body
            return None
        types = {value.element_type for value in (*node.input_values(), *node.outputs())}
        if (Type.f64 in types or needs_doubles(node)) and not cast(ProfiledDevice, device).profile.has_doubles:
            return f"{device.full_name} has no f64"
        for body in filter(None, node.bodies):
            for inner in body.get_ordered_ops():
                is_variable = isinstance(inner, VariableOp)
                reason = "a variable of a body" if is_variable else self.unsupported_reason(inner, device)
                if reason:
                    return f"{inner.type_info.name} '{inner.friendly_name}' in it: {reason}"
        return variable_unsupported_reason(node) if isinstance(node, VariableOp) else unsupported_reason(node)

    def compile(self, prepared: PreparedModel) -> OpenCLCompiledModel:
        prepared.refuse_strings()
        folder = prepared.properties.get(props.cache_dir)
        binaries = BinaryCache(Path(folder) if folder else default_folder(), prepared.sections)
        context = prepared.context
        if context is None:
            context = self.get_default_context({props.device.id: prepared.device.id})
        elif not isinstance(context, OpenCLContext):
            raise DeviceError(f"{self.name} cannot compile for a context of {context.get_device_name()}")
        return OpenCLCompiledModel(prepared, context, binaries)

    @keeps_values
    def transform_model(self, model: Model, properties: PropertyTable) -> Model:
        model = super().transform_model(model, properties)
        if properties.get(props.hint.inference_precision) is Type.f16:
            convert_to_fp16(model, partial(self.unsupported_reason, device=self.device(properties.explicit())))
        if not properties.value_of(props.disable_transformations):
            compute_integers_in_f32(model)  # last: fusions and f16 would round what it computes
        return model

    def create_context(self, params: Mapping[str, Any]) -> OpenCLContext:
        self.device(params)  # raises PropertyError for an unknown DEVICE_ID
        return create_context(self.name, cast(Sequence[OpenCLDevice], self.devices()), params)

    def get_default_context(self, params: Mapping[str, Any]) -> OpenCLContext:
        device = cast(OpenCLDevice, self.device(params))
        with self._lock:
            if device.id not in self._contexts:
                self._contexts[device.id] = OpenCLContext(full_name(self.name, device.id), device)
            return self._contexts[device.id]
