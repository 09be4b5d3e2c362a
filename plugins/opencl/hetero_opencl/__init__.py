"""Plugin for the device GPU, which runs models on any OpenCL device of any vendor."""

from __future__ import annotations

from hetero.plugin import Plugin, Registry, hookimpl


@hookimpl
def hetero_register_devices(registry: Registry) -> None:
    # So that programs for device CPU do not wait for the trial of OpenCL's drivers.
    registry.register_device("GPU", _make_plugin, compiles_fast=False)


def _make_plugin() -> Plugin:
    # Imported at the first use, so that registering is cheap and works without OpenCL.
    from hetero_opencl.plugin import OpenCLPlugin

    return OpenCLPlugin()
