"""Device TEMPLATE: the numpy reference, and the guide for who writes a device with all that a device may have.

Read its files in this order, which is that of the roles in ``hetero.plugin``; each method is the least that is right:

1. ``plugin.py`` is the Plugin: its properties, what it can run, how it compiles and imports, its memory.
2. ``compiled_model.py``: the CompiledModel, what is worked out once for all inferences.
3. ``infer_request.py``: the SyncInferRequest, one inference. The default AsyncInferRequest is enough for it.
4. ``remote.py``: the RemoteContext and the memory behind its RemoteTensors.
5. ``variable_state.py``: the VariableState, what is remembered from one inference to the next.

A package to begin with, of a device with less, is written by ``hetero plugin new NAME``.
"""

from __future__ import annotations

from hetero.plugin import Plugin, Registry, hookimpl


@hookimpl
def hetero_register_devices(registry: Registry) -> None:
    registry.register_device("TEMPLATE", _make_plugin)


def _make_plugin() -> Plugin:
    # Imported when the device is first used: registering stays cheap.
    from hetero_template.plugin import TemplatePlugin

    return TemplatePlugin()
