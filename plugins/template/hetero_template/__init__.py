"""Device TEMPLATE: the numpy reference. Copy this package, rename it, and you have a device."""

from __future__ import annotations

from hetero.plugin import Plugin, Registry, hookimpl


@hookimpl
def hetero_register_devices(registry: Registry) -> None:
    registry.register_device("TEMPLATE", _make_plugin)


def _make_plugin() -> Plugin:
    # Imported when the device is first used: registering stays cheap.
    from hetero_template.plugin import TemplatePlugin

    return TemplatePlugin()
