"""Devices for tests: the reference under other names, with faults to order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hetero_template.plugin import TemplatePlugin

from hetero import Core, Model
from hetero.graph import Node

# Every OpenCL device there is. Where there is none, tests fail by the device that is not there; PoCL is installed.
GPUS = [name for name in Core().available_devices if name.startswith("GPU")] or ["GPU"]


class PickyPlugin(TemplatePlugin):
    """The reference, but it runs only operations of some types."""

    def __init__(self, accepts: Callable[[Node], bool] = lambda node: True) -> None:
        super().__init__()
        self._accepts = accepts
        self.compiled: list[Model] = []

    def unsupported_reason(self, node, device):
        return super().unsupported_reason(node, device) if self._accepts(node) else f"{self.name} is picky"

    def compile_model(self, model: Model, options: Mapping[str, Any], context=None):
        self.compiled.append(model)
        return super().compile_model(model, options, context)


def core_with(**plugins: PickyPlugin) -> Core:
    """A Core that has these devices besides the installed ones."""
    core = Core()
    for name, plugin in plugins.items():
        core.register_plugin(lambda plugin=plugin: plugin, name)
    return core
