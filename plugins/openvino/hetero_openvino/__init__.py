"""Device OPENVINO: the devices of OpenVINO, such as OPENVINO.CPU and OPENVINO.GPU.

Its files: ``plugin.py``, ``compiled_model.py``, ``infer_request.py`` and ``variable_state.py`` have the roles of
``hetero.plugin``; ``translation.py`` makes OpenVINO's model from hetero's, ``memory.py`` shares arrays between both, and
``device.py`` describes a device with its properties.
"""

from __future__ import annotations

from hetero.errors import DeviceError, reason_of
from hetero.plugin import Plugin, Registry, hookimpl


@hookimpl
def hetero_register_devices(registry: Registry) -> None:
    registry.register_device("OPENVINO", _make_plugin)


def _make_plugin() -> Plugin:
    # Imported at the first use: importing OpenVINO takes a third of a second.
    try:
        import openvino  # noqa: F401
    except Exception as error:  # a library that is missing or broken raises more than ImportError
        install = "pip install --upgrade --force-reinstall openvino"
        raise DeviceError(f"OpenVINO cannot be imported ({reason_of(error)}): install it by {install}") from error
    from hetero_openvino.plugin import OpenVinoPlugin

    return OpenVinoPlugin()
