"""The plugin: the device, the operations that it supports, and its memory."""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any

from hetero import properties as props
from hetero.graph import Node
from hetero.passes import (
    eliminate_common_subexpressions,
    eliminate_dead_code,
    fold_batch_norm,
    fold_constant_if,
    fold_constants,
    fuse_attention,
    fuse_convolution,
    fuse_gelu,
    fuse_layer_norm,
    fuse_pad_into_convolution,
    gather_compressed_rows,
    remove_identities,
    upgrade_opset,
)
from hetero.plugin import Device, Plugin, PreparedModel, Rank, common_properties
from hetero.reference import unknown_operation
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.remote import TemplateContext


class TemplatePlugin(Plugin):
    """Runs every operation that the reference can evaluate, with numpy on the host."""

    supported_properties = (*common_properties, props.inference_num_threads)
    passes = (
        fold_constant_if,
        upgrade_opset,
        fold_constants,
        gather_compressed_rows,
        eliminate_dead_code,
        eliminate_common_subexpressions,
        remove_identities,
        fold_batch_norm,
        fuse_pad_into_convolution,
        fuse_convolution,
        fuse_attention,
        fuse_layer_norm,
        fuse_gelu,
    )

    def __init__(self) -> None:
        super().__init__()
        self._device = Device(
            full_name="numpy reference",
            architecture=platform.machine(),
            capabilities=("FP32", "FP16", "BIN", "INT8", "EXPORT_IMPORT"),
            max_streams=os.cpu_count() or 1,
            rank=Rank.REFERENCE,
            compiles_fast=True,
            writes_outputs=True,
        )

    def devices(self) -> Sequence[Device]:
        return [self._device]

    def unsupported_reason(self, node: Node, device: Device) -> str | None:
        unknown = unknown_operation(node)
        if unknown is None:
            return None
        where = "" if unknown is node else f" '{unknown.friendly_name}' in its body"
        hint = ": its class has no evaluate" if unknown.type_info.version_id == "extension" else ""
        return f"the reference does not evaluate {unknown.type_info.version_id}::{unknown.type_info.name}{where}{hint}"

    def compile(self, prepared: PreparedModel) -> TemplateCompiledModel:
        return TemplateCompiledModel(prepared)

    def create_context(self, params: Mapping[str, Any]) -> TemplateContext:
        self.device(params)  # raises PropertyError for another DEVICE_ID
        return TemplateContext(self.name, params)

    def get_default_context(self, params: Mapping[str, Any]) -> TemplateContext:
        return self._default_context

    @functools.cached_property
    def _default_context(self) -> TemplateContext:
        return TemplateContext(self.name, {})
