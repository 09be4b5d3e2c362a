"""Devices for tests: TEMPLATE under other names, limited to some operations."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hetero_opencl.profiles.profile import Family
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.plugin import TemplatePlugin

from hetero import Core, Model
from hetero.graph import Node
from hetero.plugin import PreparedModel


def _is_pocl(name: str) -> bool:
    return "Portable Computing Language" in Core().get_property(name, "FULL_DEVICE_NAME")


def _find_gpus() -> list[str]:
    """Return all OpenCL devices, PoCL last: it takes twice as long to build a kernel, and most tests run on the first.

    Without any, tests fail because GPU is missing; PoCL is a test requirement. The processes of one test run share what
    the first one finds.
    """
    if "HETERO_TEST_GPUS" not in os.environ:
        names = sorted((name for name in Core().available_devices if name.startswith("GPU")), key=_is_pocl)
        os.environ["HETERO_TEST_GPUS"] = ",".join(names or ["GPU"])
    return os.environ["HETERO_TEST_GPUS"].split(",")


GPUS = _find_gpus()

# What drivers of GPUs report: AMD's have the smallest work-groups, NVIDIA's the least local memory; f32 is their widest
# vector. OpenCL lets a device have less space for parameters than the runtimes for processors have.
GPU_LIMITS: dict[str, Any] = {
    "family": Family.GPU,
    "vector_width": 1,
    "vector_registers": 16,
    "item_registers": 128,
    "l1_bytes": 48 << 10,
    "local_memory_bytes": 48 << 10,
    "max_work_group_size": 256,
    "max_parameter_bytes": 1024,
}

# Devices that wrap other engines.
ENGINES = ("OPENVINO.CPU", "ONEDNN")
# A device of each kind that computes on this machine.
ALL_KINDS = (*ENGINES, GPUS[0], "TEMPLATE")
MEDIAPIPE_OPERATORS = Path(__file__).parents[1] / "configs" / "mediapipe_operators.py"


class PickyPlugin(TemplatePlugin):
    """TEMPLATE, but it supports only the operations that ``accepts`` returns True for."""

    def __init__(self, accepts: Callable[[Node], bool] = lambda node: True) -> None:
        super().__init__()
        self._accepts = accepts
        self.compiled: list[Model] = []

    def unsupported_reason(self, node, device):
        return super().unsupported_reason(node, device) if self._accepts(node) else f"{self.name} is picky"

    def compile(self, prepared: PreparedModel) -> TemplateCompiledModel:
        self.compiled.append(prepared.model)
        return super().compile(prepared)


def core_with(**plugins: PickyPlugin) -> Core:
    """Return a Core with these devices besides the installed ones."""
    core = Core()
    for name, plugin in plugins.items():
        core.register_plugin(lambda plugin=plugin: plugin, name)
    return core
