"""What a plugin package may hook into.

A package declares an entry point in the group ``hetero`` that names a module; functions of that module with
these names, marked by ``hookimpl``, are called once when the first Core is made. Register only: a name
and something to call later. Nothing heavy may be imported or opened before that call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from hetero.plugin.registry import Registry

hookspec = pluggy.HookspecMarker("hetero")
hookimpl = pluggy.HookimplMarker("hetero")


@hookspec
def hetero_register_devices(registry: Registry) -> None:
    """Register devices: ``registry.register_device("NPU", factory)``, where ``factory()`` gives a Plugin."""


@hookspec
def hetero_register_frontends(registry: Registry) -> None:
    """Register readers of model formats: ``registry.register_frontend(factory)``; ``factory()`` gives a FrontEnd."""


@hookspec
def hetero_register_extensions(registry: Registry) -> None:
    """Register what frontends are to learn: ``registry.register_extension(factory)``; ``factory()`` gives an extension,
    the class of an operation, or a list of them.
    """
