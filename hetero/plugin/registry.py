"""The devices and frontends that the installed packages register, found by their entry points."""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pluggy

from hetero.messages import get_logger
from hetero.plugin import hookspecs

if TYPE_CHECKING:
    from hetero.frontend import Extension, FrontEnd
    from hetero.plugin.plugin import Plugin

ENTRY_POINT_GROUP = "hetero"
log = get_logger("hetero.plugin")


class Registry:
    """Factories by device name, factories of frontends, and why a package could not be loaded."""

    def __init__(self) -> None:
        self.devices: dict[str, Callable[[], Plugin]] = {}
        self.frontends: list[Callable[[], FrontEnd]] = []
        self.extensions: list[Callable[[], Any]] = []
        self.failures: dict[str, str] = {}
        # The package of each device, by name and version.
        self.packages: dict[str, str] = {}

    def register_device(self, name: str, factory: Callable[[], Plugin]) -> None:
        """Offer a device. The factory is called when a Core first uses it; what it raises makes the device unavailable.

        A name that is taken stays with the first; the second is kept out and said so in the log.
        """
        if name in self.devices:
            log.warning("device %s is registered twice; the first registration is used", name)
            return
        self.devices[name] = factory

    def register_frontend(self, factory: Callable[[], FrontEnd]) -> None:
        """Offer a reader of a model format. The factory is called when the first model is read."""
        self.frontends.append(factory)

    def register_extension(self, factory: Callable[[], Any]) -> None:
        """Offer what ``Core.add_extension`` takes. The factory is called for the first model or extension of a user."""
        self.extensions.append(factory)

    @functools.cached_property
    def made_extensions(self) -> list[Extension]:
        """What the factories of extensions give; one that fails is noted in ``failures``, never raised."""
        from hetero.frontend.extension import add_extensions
        from hetero.frontend.given_extensions import as_extensions

        made: list[Extension] = []
        for factory in self.extensions:
            try:
                add_extensions(made, as_extensions(factory()))
            except Exception as error:
                self.note_failure(factory.__module__, error)
        return made

    def note_failure(self, package: str, error: Exception) -> None:
        """Note that a package, or a part of it, cannot be used."""
        self.failures[package] = f"{type(error).__name__}: {error}"
        log.warning("plugin package %s cannot be used: %s", package, self.failures[package])


@functools.cache
def installed_plugins() -> Registry:
    """The registry filled by all installed packages. A package that fails is noted in ``failures``, never raised."""
    registry = Registry()
    # The package's own devices and frontends come first, so that no other package takes their names.
    entry_points = sorted(
        importlib.metadata.entry_points(group=ENTRY_POINT_GROUP), key=lambda e: (e.name != "builtin", e.name)
    )
    for entry_point in entry_points:
        manager = pluggy.PluginManager("hetero")
        manager.add_hookspecs(hookspecs)
        try:
            manager.register(entry_point.load(), entry_point.name)
            manager.hook.hetero_register_devices(registry=registry)
            if entry_point.dist:
                package = f"{entry_point.dist.name} {entry_point.dist.version}"
                registry.packages.update(dict.fromkeys(registry.devices.keys() - registry.packages.keys(), package))
            manager.hook.hetero_register_frontends(registry=registry)
            manager.hook.hetero_register_extensions(registry=registry)
        except Exception as error:
            registry.note_failure(entry_point.name, error)
    return registry
