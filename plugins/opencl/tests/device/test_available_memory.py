"""A device that shares memory with the host checks the available memory before it allocates a buffer."""

import pytest
from hetero_opencl.device.device import present_devices

from hetero.system import allocation
from hetero.system.errors import DeviceError


@pytest.mark.parametrize("device", present_devices().usable, ids=lambda device: device.full_name)
def test_a_buffer_beyond_the_available_memory_is_refused(device, processor, monkeypatch):
    if not device.handle.host_unified_memory:
        return  # the driver checks dedicated memory
    monkeypatch.setattr(allocation, "available_memory", lambda: 1000)
    size = allocation.MIN_CHECKED_BYTES
    with pytest.raises(DeviceError, match=f"out of device memory while allocating {size} bytes .* only 1,000 are"):
        device.allocate(size)
