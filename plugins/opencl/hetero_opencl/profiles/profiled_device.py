"""A device that is known by its profile."""

from __future__ import annotations

from typing import Any

from hetero.plugin import Device
from hetero_opencl.profiles.profile import DeviceProfile


class ProfiledDevice(Device):
    """A device that models are lowered for. It may not be at hand: only ``OpenCLDevice`` builds and runs kernels."""

    def __init__(self, profile: DeviceProfile, **fields: Any) -> None:
        """``fields``: those of Device, less ``full_name``."""
        super().__init__(full_name=profile.name, **fields)
        #: Selects the kernels and their sizes.
        self.profile = profile
