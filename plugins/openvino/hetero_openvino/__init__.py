"""Device OPENVINO: the devices of OpenVINO, such as OPENVINO.CPU and OPENVINO.GPU.

Its files, the first five in the order of the roles in ``hetero.plugin``:

1. ``plugin.py``: the Plugin, which asks OpenVINO what it supports.
2. ``device.py``: the Devices with OpenVINO's properties.
3. ``compiled_model.py``: the CompiledModel; ``runtime_model.py`` reports what OpenVINO executes.
4. ``infer_request.py``: the SyncInferRequest; ``engine_request.py`` binds the tensors in place.
5. ``variable_state.py``: the VariableState.
6. ``translation.py`` makes OpenVINO's model from hetero's, of what ``single_operation.py`` and ``ports.py`` make;
   ``limitations.py`` lists what OpenVINO is not given, and ``corrections.py`` has operations whose results need a
   correction unless ``finite_values.py`` proves that they have neither NaN nor infinities, or lets ``bounds.py`` check
   that in each inference. Before, ``variable_ports.py`` makes inputs and outputs of some variables, and
   ``unread_values.py`` corrects loops that may not run.
7. ``memory.py`` shares arrays; ``errors.py`` shortens OpenVINO's messages.
"""

from __future__ import annotations

from hetero.plugin import Plugin, Registry, hookimpl
from hetero.system.errors import DeviceError, reason_of


@hookimpl
def hetero_register_devices(registry: Registry) -> None:
    registry.register_device("OPENVINO", _make_plugin)


def _make_plugin() -> Plugin:
    # Imported at the first use: importing OpenVINO takes a third of a second.
    try:
        import openvino
    except Exception as error:  # a library that is missing or broken raises more than ImportError
        install = "pip install --upgrade --force-reinstall openvino"
        raise DeviceError(f"OpenVINO cannot be imported ({reason_of(error)}): install it by {install}") from error
    if openvino.Core.__module__.startswith("hetero."):
        raise DeviceError(
            "the module openvino of this process is hetero: run the program by python -m hetero.as_openvino, which "
            "leaves OpenVINO itself to this device"
        )
    from hetero_openvino.plugin import OpenVinoPlugin

    return OpenVinoPlugin()
