"""Device EXAMPLE: what hetero finds by the entry point in pyproject.toml."""

from __future__ import annotations

from hetero.plugin import Plugin, Registry, hookimpl


@hookimpl
def hetero_register_devices(registry: Registry) -> None:
    registry.register_device("EXAMPLE", _make_plugin)


def _make_plugin() -> Plugin:
    # Imported when the device is first used, so that registering stays cheap. Raise here, or in the plugin's
    # constructor, where there is no such device or driver: it is then listed as unavailable, with your message.
    from hetero_example.plugin import ExamplePlugin

    return ExamplePlugin()
