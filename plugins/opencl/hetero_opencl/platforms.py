"""The OpenCL devices of this machine, and how another process finds the same one."""

from __future__ import annotations

import pyopencl as cl

from hetero_opencl import intel, invokers, pocl, pocl_cache


def all_devices() -> list[cl.Device]:
    """Return the devices of every platform. Raises cl.Error if there is no platform."""
    invokers.keep_in_memory()
    pocl_cache.choose_folder()
    with intel.visible():
        platforms = cl.get_platforms()
    devices = [device for platform in platforms for device in devices_of(platform)]
    for device in devices:
        pocl.repair(device)
    return devices


def devices_of(platform: cl.Platform) -> list[cl.Device]:
    try:
        return platform.get_devices()
    except cl.Error:  # a platform without devices reports them as an error
        return []


def identity(device: cl.Device) -> list[str | int]:
    """Return what tells a device from all others, in every process of this machine."""
    platform = device.platform
    return [platform.name, platform.version, devices_of(platform).index(device)]


def find_device(wanted: list[str | int]) -> cl.Device:
    """Return the device with this identity. Raises LookupError if there is none."""
    found = next((device for device in all_devices() if identity(device) == wanted), None)
    if found is None:
        raise LookupError(f"{wanted[0]} is not visible to this process")
    return found
