"""The OpenCL devices of this machine, and an identity by which another process finds the same device."""

from __future__ import annotations

import pyopencl as cl

from hetero_opencl.device import caches, intel, pocl


def all_devices() -> list[cl.Device]:
    """Return the devices of every platform. Raises cl.Error if there is no platform."""
    caches.keep_invokers_in_memory()
    caches.choose_pocl_folder()
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
    """Return values that identify a device in every process of this machine."""
    platform = device.platform
    return [platform.name, platform.version, devices_of(platform).index(device)]


def find_device(device_identity: list[str | int]) -> cl.Device:
    """Return the device with this identity. Raises LookupError if there is none."""
    for device in all_devices():
        if identity(device) == device_identity:
            return device
    raise LookupError(f"the OpenCL platform {device_identity[0]} is not visible to this process")


def target_of(device: cl.Device) -> str:
    """Return the processor or instruction set that code is generated for, empty if the driver was not told one."""
    return pocl.built_for() if pocl.is_pocl(device) else intel.built_for(device)


def name_of(device: cl.Device) -> str:
    return f"{device.name.strip()} ({device.platform.name.strip()})"
