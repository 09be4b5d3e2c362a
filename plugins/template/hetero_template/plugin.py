"""The plugin: what the device can run, and how a model is compiled for it."""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Mapping
from functools import partial
from typing import Any

from hetero import properties as props
from hetero.graph import Model, Node
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
    remove_identities,
    upgrade_opset,
)
from hetero.plugin import (
    Plugin,
    QueryResult,
    RemoteContext,
    common_properties,
    get_supported_nodes,
    models_in,
    unsupported,
)
from hetero.reference import unknown_operation
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.remote import TemplateContext


class TemplatePlugin(Plugin):
    """Runs every operation that the reference can evaluate, one after the other, with numpy on the host."""

    supported_properties = (*common_properties, props.inference_num_threads)
    passes = (
        fold_constant_if,
        upgrade_opset,
        fold_constants,
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

    @functools.cached_property
    def _default_context(self) -> TemplateContext:
        return TemplateContext(self.name, {})

    def describe(self, device_id: str) -> dict[str, Any]:
        return {
            props.device.full_name: "numpy reference",
            props.device.architecture: platform.machine(),
            props.device.type: props.device.Type.INTEGRATED,
            props.device.capabilities: ("FP32", "FP16", "BIN", "INT8", "EXPORT_IMPORT"),
            props.range_for_streams: (1, os.cpu_count() or 1),
        }

    def query_model(self, model: Model, options: Mapping[str, Any]) -> QueryResult:
        transform = partial(self.transform_model, properties=self.property_table(options))
        return get_supported_nodes(model, transform, unsupported_reason, self.name)

    def compile_model(
        self, model: Model, options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> TemplateCompiledModel:
        properties = self.property_table(options)
        transformed = self.transform_model(model.clone(), properties)
        refused = {node: reason for node in transformed.get_ordered_ops() if (reason := unsupported_reason(node))}
        if refused:
            raise unsupported(self.name, refused)
        return TemplateCompiledModel(model, transformed, self, properties, context)

    def import_model(
        self, sections: Mapping[str, memoryview], options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> TemplateCompiledModel:
        return TemplateCompiledModel(*models_in(sections), self, self.property_table(options), context)

    def create_context(self, params: Mapping[str, Any]) -> TemplateContext:
        return TemplateContext(self.name, params)

    def get_default_context(self, params: Mapping[str, Any]) -> TemplateContext:
        return self._default_context


def unsupported_reason(node: Node) -> str | None:
    """Why the device cannot run a node; None where it can."""
    unknown = unknown_operation(node)
    if unknown is None:
        return None
    where = "" if unknown is node else f" '{unknown.friendly_name}' in its body"
    hint = ": its class has no evaluate" if unknown.type_info.version_id == "extension" else ""
    return f"the reference does not evaluate {unknown.type_info.version_id}::{unknown.type_info.name}{where}{hint}"
