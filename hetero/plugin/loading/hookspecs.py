"""The hooks of plugin packages.

A package declares an entry point in the group ``hetero`` that names a module. Functions of that module with these
names, marked by ``hookimpl``, are called once, when the first Core is created. They only register names and factories;
heavy imports belong in the factories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from hetero.plugin.loading.registry import Registry

hookspec = pluggy.HookspecMarker("hetero")
hookimpl = pluggy.HookimplMarker("hetero")


@hookspec
def hetero_register_devices(registry: Registry) -> None:
    """Register devices: ``registry.register_device("NPU", factory)``, where ``factory()`` returns a Plugin."""


@hookspec
def hetero_register_frontends(registry: Registry) -> None:
    """Register frontends: ``registry.register_frontend(factory)``, where ``factory()`` returns a FrontEnd."""


@hookspec
def hetero_register_extensions(registry: Registry) -> None:
    """Register extensions: ``registry.register_extension(factory)``.

    ``factory()`` returns an extension, the class of an operation, or a list of them.
    """
