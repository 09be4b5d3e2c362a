"""Device TEMPLATE: the numpy reference, and an example of a plugin with every optional feature.

Its files, in the order of the roles in ``hetero.plugin``:

1. ``plugin.py``: the Plugin with its device, properties, supported operations and contexts.
2. ``compiled_model.py``: the CompiledModel, prepared once for all inferences.
3. ``infer_request.py``: the SyncInferRequest, one inference. It uses the default AsyncInferRequest.
4. ``remote.py``: the RemoteContext and the memory of its RemoteTensors.
5. ``variable_state.py``: the VariableState, which keeps a variable between inferences.

``hetero plugin new NAME`` writes a package with a minimal plugin to start from.
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
