"""Device EXAMPLE: what hetero finds by the entry point in pyproject.toml."""

from __future__ import annotations

from hetero.plugin import Plugin, Registry, hookimpl


@hookimpl
def hetero_register_devices(registry: Registry) -> None:
    registry.register_device("EXAMPLE", _make_plugin)


def _make_plugin() -> Plugin:
    # Imported on first use, so that registering is cheap. Raise an error here or in the plugin's constructor if there
    # is no device or driver: the device is then listed as unavailable with your message.
    from hetero_example.plugin import ExamplePlugin

    return ExamplePlugin()
