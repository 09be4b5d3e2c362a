"""Host: what a plugin can ask of the Core that loaded it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hetero.graph import Model
    from hetero.plugin.compiled_model import CompiledModel
    from hetero.plugin.plugin import Plugin


class Host(Protocol):
    """Access to the other devices, for a plugin that uses them. Methods raise DeviceError for an unknown device."""

    @property
    def available_devices(self) -> list[str]:
        """The names of the devices that can be used, such as "GPU.0"."""

    @property
    def fast_devices(self) -> list[str]:
        """Those of ``available_devices`` that may compile fast. Other kinds of devices are not created for it."""

    def has_device(self, kind: str) -> bool:
        """Return whether a package has devices of a kind, available or not. None is created for it."""

    @property
    def unavailable_devices(self) -> dict[str, str]:
        """The devices and packages that cannot be used, by name, each with the reason."""

    def resolve_device(self, device_name: str) -> tuple[Plugin, dict[str, Any]]:
        """Return the plugin behind a device string and the options that the string implies."""

    def compile_on(self, device_name: str, model: Model, options: Mapping[str, Any]) -> CompiledModel:
        """Compile a copy of a model for a device, or load it from the model cache if CACHE_DIR is set."""

    def get_property(self, device_name: str, property: str) -> Any:
        """Return a property of a device."""

    def get_versions(self, device_name: str) -> Mapping[str, Any]:
        """Return the versions of the packages behind a device string, by device name."""
