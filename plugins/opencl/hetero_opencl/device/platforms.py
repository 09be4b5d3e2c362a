"""The OpenCL devices of this machine, and an identity by which another process finds the same device."""

from __future__ import annotations

import contextlib
import ctypes

import pyopencl as cl

from hetero_opencl.device import caches, intel, pocl

# CL_DEVICE_PCI_BUS_INFO_KHR of the extension cl_khr_pci_bus_info, which pyopencl does not know: domain, bus, device and
# function, each of 32 bits.
_PCI_BUS_INFO = 0x410F


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


def pci_address(device: cl.Device) -> tuple[int, ...] | None:
    """Return the PCI domain, bus, device and function of a GPU, as all its drivers give them; None if none is known.

    What AMD's and NVIDIA's extensions mean is as in hwloc's hwloc/opencl.h.
    """
    if "cl_khr_pci_bus_info" in device.extensions.split():
        return info_of(device, _PCI_BUS_INFO, 4)
    with contextlib.suppress(cl.Error, AttributeError):
        topology = device.topology_amd
        return 0, topology.bus & 0xFF, topology.device & 0xFF, topology.function & 0xFF
    with contextlib.suppress(cl.Error, AttributeError):
        slot = device.pci_slot_id_nv
        return device.pci_domain_id_nv, device.pci_bus_id_nv, slot >> 3, slot & 7
    return None


def info_of(device: cl.Device, key: int, count: int) -> tuple[int, ...] | None:
    """Return the numbers of 32 bits that clGetDeviceInfo gives for a key, or None if it gives none."""
    values = (ctypes.c_uint32 * count)()
    try:
        # pyopencl's module is linked with the loader of OpenCL, wherever that is; not so on Windows.
        query = ctypes.CDLL(cl._cl.__file__).clGetDeviceInfo
    except (OSError, AttributeError):
        return None
    handle, size = ctypes.c_void_p(device.int_ptr), ctypes.c_size_t(ctypes.sizeof(values))
    return tuple(values) if query(handle, ctypes.c_uint(key), size, values, None) == 0 else None


def target_of(device: cl.Device) -> str:
    """Return the processor or instruction set that code is generated for, empty if the driver was not told one."""
    return pocl.built_for() if pocl.is_pocl(device) else intel.built_for(device)


def name_of(device: cl.Device) -> str:
    return f"{device.name.strip()} ({device.platform.name.strip()})"
