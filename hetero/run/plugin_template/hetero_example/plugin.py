"""The plugin: the device, the operations that it supports, and how it compiles a model."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.graph import Node
from hetero.plugin import Device, Plugin, PreparedModel, common_properties

from hetero_example import operations
from hetero_example.compiled_model import ExampleCompiledModel


class ExamplePlugin(Plugin):
    # The keys that users can read and set. Your own follow them: Property("EXAMPLE_MODE", str, "fast").
    supported_properties = common_properties

    def devices(self) -> Sequence[Device]:
        return [Device(full_name="EXAMPLE by numpy", capabilities=("FP32",))]

    def unsupported_reason(self, node: Node, device: Device) -> str | None:
        return operations.unsupported_reason(node)

    def compile(self, prepared: PreparedModel) -> ExampleCompiledModel:
        return ExampleCompiledModel(prepared)
