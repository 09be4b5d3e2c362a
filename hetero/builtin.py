"""The built-in plugin: device HETERO and the frontends. It is found through an entry point, like any other plugin."""

from __future__ import annotations

from hetero.plugin.hookspecs import hookimpl
from hetero.plugin.registry import Registry


@hookimpl
def hetero_register_devices(registry: Registry) -> None:
    def dispatcher():
        from hetero.dispatch import HeteroPlugin

        return HeteroPlugin()

    registry.register_device("HETERO", dispatcher)


@hookimpl
def hetero_register_frontends(registry: Registry) -> None:
    def onnx():
        from hetero.frontend.onnx import OnnxFrontEnd

        return OnnxFrontEnd()

    def ir():
        from hetero.frontend.ir import IrFrontEnd

        return IrFrontEnd()

    def tflite():
        from hetero.frontend.tflite import TfliteFrontEnd

        return TfliteFrontEnd()

    for frontend in (onnx, ir, tflite):
        registry.register_frontend(frontend)
