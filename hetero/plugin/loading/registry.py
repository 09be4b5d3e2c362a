"""The registry of devices, frontends and extensions of the installed packages, found by their entry points.

If two packages register one device name, the device is unavailable until the environment variable
HETERO_DEVICE_PACKAGES says which package to use, such as ``HETERO_DEVICE_PACKAGES="GPU=hetero-opencl,NPU=acme-npu"``.
"""

from __future__ import annotations

import functools
import importlib.metadata
import inspect
import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pluggy

from hetero.plugin.loading import hookspecs
from hetero.plugin.loading.package_code import package_code
from hetero.system.errors import DeviceError, reason_of
from hetero.system.messages import get_logger, nearest, suggest

if TYPE_CHECKING:
    from hetero.frontend import Extension, FrontEnd
    from hetero.plugin.plugin import Plugin

ENTRY_POINT_GROUP = "hetero"
PACKAGE_CHOICES = "HETERO_DEVICE_PACKAGES"
# How the names of hooks begin.
HOOK_PREFIX = "hetero_register_"
# The name of a device, as a regular expression.
DEVICE_NAME = r"[A-Za-z_]\w*"
log = get_logger("hetero.plugin")


def check_device_name(name: object, package: str = "") -> None:
    """Raise DeviceError for an invalid device name. ``package`` is the package that registers it."""
    if not isinstance(name, str) or not re.fullmatch(DEVICE_NAME, name):
        accepted = "a letter or underscore, followed by letters, digits and underscores, such as NPU"
        source = f" in package {package}" if package else ""
        raise DeviceError(f"{name!r} cannot be the name of a device{source}: it takes {accepted}")


class Registry:
    """Factories of devices, frontends and extensions, and why packages could not be loaded."""

    def __init__(self) -> None:
        self.devices: dict[str, Callable[[], Plugin]] = {}
        # The devices that were registered with compiles_fast=False.
        self.slow_to_compile: set[str] = set()
        self.frontends: list[Callable[[], FrontEnd]] = []
        self.extensions: list[Callable[[], Any]] = []
        self.failures: dict[str, str] = {}
        # The package of each device, by name and version.
        self.packages: dict[str, str] = {}
        # The package whose hooks are running, and the factories of each device by package.
        self.package = ""
        self._offered: dict[str, dict[str, Callable[[], Plugin]]] = {}

    def register_device(self, name: str, factory: Callable[[], Plugin], *, compiles_fast: bool = True) -> None:
        """Register a device. The factory is called when a Core first uses it; if it raises, the device is unavailable.

        ``compiles_fast``: False if no ``Device`` of the kind compiles fast. It is not created then to find the devices
        that ``CPU`` means.

        A device that several packages register is unavailable, unless HETERO_DEVICE_PACKAGES names one of them.
        Raises DeviceError for an invalid name, and for one that the package has registered before.
        """
        check_device_name(name, self.package)
        self._check_factory(factory, f"register_device({name!r}, …)", "a Plugin")
        offered = self._offered.setdefault(name, {})
        if self.package in offered:
            raise DeviceError(f"package {self.package} registers device {name} twice: it takes each name once")
        offered[self.package] = factory
        used = self.package if len(offered) == 1 else _chosen_package(name, offered)
        self.devices[name] = offered[used] if used else functools.partial(_refuse, name, list(offered))
        self.packages[name] = used or self.package
        if not compiles_fast:
            self.slow_to_compile.add(name)

    def register_frontend(self, factory: Callable[[], FrontEnd]) -> None:
        """Register a frontend. The factory is called when the first model is read."""
        self._check_factory(factory, "register_frontend", "a FrontEnd")
        self.frontends.append(factory)

    def register_extension(self, factory: Callable[[], Any]) -> None:
        """Register extensions. The factory is called for the first model that is read or extension that is added."""
        self._check_factory(factory, "register_extension", "extensions")
        self.extensions.append(factory)

    def _check_factory(self, factory: object, call: str, made: str) -> None:
        if not callable(factory):
            raise DeviceError(f"{call} of package {self.package} takes a function that returns {made}, not {factory!r}")

    @functools.cached_property
    def loaded_extensions(self) -> list[Extension]:
        """The extensions that the factories return. An error is recorded in ``failures`` and not raised."""
        from hetero.frontend.extension import add_extensions
        from hetero.frontend.extension_loader import as_extensions

        made: list[Extension] = []
        for factory in self.extensions:
            try:
                with package_code(f"making the extensions of {factory.__module__}"):
                    add_extensions(made, as_extensions(factory()))
            except Exception as error:
                self.note_failure(factory.__module__, error)
        return made

    def note_failure(self, package: str, error: Exception) -> None:
        """Record that a package, or a part of it, cannot be used."""
        self.failures[package] = reason_of(error)
        log.warning("plugin package %s cannot be used: %s", package, self.failures[package])
        log.debug("the error of plugin package %s", package, exc_info=error)


@functools.cache
def installed_plugins() -> Registry:
    """Return the registry of all installed packages. An error of a package is recorded in ``failures``, not raised."""
    registry = Registry()
    # hetero's own devices and frontends come first.
    entry_points = sorted(
        importlib.metadata.entry_points(group=ENTRY_POINT_GROUP), key=lambda e: (e.name != "builtin", e.name)
    )
    for entry_point in entry_points:
        manager = pluggy.PluginManager("hetero")
        manager.add_hookspecs(hookspecs)
        try:
            _check_version(entry_point.dist)
            with package_code(f"importing plugin package {entry_point.name}"):
                module = entry_point.load()
                _check_hooks(manager, module)
                manager.register(module, entry_point.name)
                dist = entry_point.dist
                registry.package = f"{dist.name} {dist.version}" if dist else entry_point.name
                manager.hook.hetero_register_devices(registry=registry)
                manager.hook.hetero_register_frontends(registry=registry)
                manager.hook.hetero_register_extensions(registry=registry)
        except Exception as error:
            registry.note_failure(entry_point.name, error)
    return registry


def _check_hooks(manager: pluggy.PluginManager, module: object) -> None:
    """Raise DeviceError for a function that is marked as a hook or named like one, but cannot be called as one.

    Without any hook, it is enough that a name is similar.
    """
    known = [name for name in dir(hookspecs) if name.startswith(HOOK_PREFIX)]
    hooks = [name for name in dir(module) if manager.parse_hookimpl_opts(module, name) is not None]
    for name in dir(module):
        if (name in hooks or name.startswith(HOOK_PREFIX)) and name not in known:
            raise DeviceError(f"there is no hook {name}; {suggest(name, known)}")
        if name in known and name not in hooks:
            raise DeviceError(f"the hook {name} is never called: mark it by hetero.plugin.hookimpl")
    for name in hooks:
        arguments = list(inspect.signature(getattr(module, name)).parameters)
        if arguments not in ([], ["registry"]):
            raise DeviceError(f"the hook {name} takes one argument, registry, not {', '.join(arguments)}")
    if not hooks:
        for name in dir(module):
            if callable(getattr(module, name)) and (near := nearest(name, known)):
                raise DeviceError(f"there is no hook {name}; {near}")
        raise DeviceError(f"it registers nothing: a package has at least one of the hooks {', '.join(known)}")


def _check_version(dist: importlib.metadata.Distribution | None) -> None:
    """Raise DeviceError if a package requires another version of hetero.

    pip checks this when it installs the package, but not if hetero is replaced by another version later.
    """
    if dist is None:
        return
    installed = importlib.metadata.version("hetero")
    # What plugins require by default. Reading anything else takes the import of packaging, some 10 ms.
    expected = f"hetero=={'.'.join(installed.split('.')[:2])}.*"
    for text in dist.requires or ():
        if re.match(r"hetero(?![\w.-])", text) and text not in ("hetero", expected):
            from packaging.requirements import Requirement

            requirement = Requirement(text)
            applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if applies and not requirement.specifier.contains(installed, prereleases=True):
                raise DeviceError(
                    f"{dist.name} {dist.version} requires hetero{requirement.specifier}, but hetero {installed} is "
                    f"installed: install versions that fit, for example with pip install -U hetero {dist.name}"
                )


def _chosen_package(device: str, packages: Iterable[str]) -> str | None:
    """Return the package that the user chose for a device, None if it is not one of these."""
    choices = dict(choice.strip().partition("=")[::2] for choice in os.environ.get(PACKAGE_CHOICES, "").split(","))
    chosen = _normalized(choices.get(device, ""))
    return next((package for package in packages if _normalized(package.partition(" ")[0]) == chosen), None)


def _refuse(device: str, packages: Sequence[str]) -> Plugin:
    choices = " or ".join(f"{device}={package.partition(' ')[0]}" for package in packages)
    raise DeviceError(f"{' and '.join(packages)} each register a device {device}: set {PACKAGE_CHOICES} to {choices}")


def _normalized(package: str) -> str:
    """Return a package name in normalized form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", package.strip()).lower()
