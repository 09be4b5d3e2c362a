"""Plugin for the device ONEDNN, which runs models with the primitives of the library oneDNN.

Its files from bottom to top: ``library/`` loads oneDNN, calls its C API and wraps its objects, ``primitives/`` has the
operations by family, ``keep_nan.py`` changes operations that would lose NaN, ``lowering.py``
turns a model into the ``program.py`` that requests run; the other files have the same roles as TEMPLATE's.
"""

from __future__ import annotations

from hetero.plugin import Plugin, Registry, hookimpl


@hookimpl
def hetero_register_devices(registry: Registry) -> None:
    registry.register_device("ONEDNN", _make_plugin)


def _make_plugin() -> Plugin:
    # Imported at the first use, so that registering is cheap and works without oneDNN.
    from hetero_onednn.plugin import OneDnnPlugin

    return OneDnnPlugin()
