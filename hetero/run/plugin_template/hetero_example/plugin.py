"""The plugin: what the device is, what it can run, and how it compiles a model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from hetero import properties as props
from hetero.graph import Model
from hetero.passes import eliminate_dead_code, fold_constants
from hetero.plugin import Plugin, QueryResult, RemoteContext, common_properties, get_supported_nodes, unsupported

from hetero_example.compiled_model import ExampleCompiledModel
from hetero_example.operations import unsupported_reason


class ExamplePlugin(Plugin):
    """Runs the operations of operations.py, one after the other."""

    # The keys that users can read and set; the classes of hetero.plugin follow these. Add those that your code reads:
    # (*common_properties, hetero.properties.Property("EXAMPLE_MODE", str, "fast")).
    supported_properties = common_properties
    # What is done to a model before the device looks at it; hetero.passes has more, and a function of yours will do.
    passes = (fold_constants, eliminate_dead_code)

    def describe(self, device_id: str) -> dict[str, Any]:
        """The values of the read-only properties."""
        return {props.device.full_name: "EXAMPLE by numpy", props.device.capabilities: ("FP32",)}

    def query_model(self, model: Model, options: Mapping[str, Any]) -> QueryResult:
        """Judge the operations of the transformed model, and answer under the names of the original one."""
        transform = partial(self.transform_model, properties=self.property_table(options))
        return get_supported_nodes(model, transform, unsupported_reason, self.name)

    def compile_model(
        self, model: Model, options: Mapping[str, Any], context: RemoteContext | None = None
    ) -> ExampleCompiledModel:
        """Transform the model as query_model does, refuse what it refuses, and make the rest ready."""
        properties = self.property_table(options)
        transformed = self.transform_model(model.clone(), properties)
        refused = {node: reason for node in transformed.get_ordered_ops() if (reason := unsupported_reason(node))}
        if refused:
            raise unsupported(self.name, refused)
        return ExampleCompiledModel(model, transformed, self, properties)
