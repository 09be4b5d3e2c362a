"""The built-in plugin: the virtual devices and the frontends. An entry point names it, like any other plugin."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from hetero.plugin.loading.hookspecs import hookimpl
from hetero.plugin.loading.registry import Registry


@hookimpl
def hetero_register_devices(registry: Registry) -> None:
    registry.register_device("HETERO", _factory("hetero.dispatch.plugin", "HeteroPlugin"))
    registry.register_device("AUTO", _factory("hetero.virtual", "AutoPlugin"))
    registry.register_device("MULTI", _factory("hetero.virtual", "MultiPlugin"))
    registry.register_device("BATCH", _factory("hetero.virtual", "BatchPlugin"))


@hookimpl
def hetero_register_frontends(registry: Registry) -> None:
    registry.register_frontend(_factory("hetero.frontend.onnx", "OnnxFrontEnd"))
    registry.register_frontend(_factory("hetero.frontend.ir", "IrFrontEnd"))
    registry.register_frontend(_factory("hetero.frontend.tflite", "TfliteFrontEnd"))
    registry.register_frontend(_factory("hetero.frontend.pytorch", "PytorchFrontEnd"))
    registry.register_frontend(_factory("hetero.frontend.paddle", "PaddleFrontEnd"))
    registry.register_frontend(_factory("hetero.frontend.tensorflow", "TensorflowFrontEnd"))


def _factory(module: str, name: str) -> Callable[[], Any]:
    """Return a function that imports a class and creates an instance, so that registration imports nothing."""

    def make() -> Any:
        return getattr(import_module(module), name)()

    make.__module__ = module  # messages about a failure name it
    return make
