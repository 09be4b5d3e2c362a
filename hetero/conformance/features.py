"""Optional features of devices, and checks that a device reports a missing one correctly."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hetero import Core, Model, ops
from hetero.conformance.samples import SampleModel, check_refusal, supports
from hetero.dispatch.devices import parse_device_name
from hetero.graph import Constant
from hetero.plugin.blobs.blob_import import exports_models
from hetero.system.errors import DeviceError, NotSupportedError


def has_export(core: Core, device: str, sample: SampleModel) -> bool:
    has = _does(core.compile_model(sample.model(), device).export_model)
    assert has == exports_models(*core.resolve_device(device)), (
        f"OPTIMIZATION_CAPABILITIES must {'' if has else 'not '}list EXPORT_IMPORT"
    )
    return has


#: Functions that return whether a device has a feature. They raise AssertionError if it lacks the feature without
#: reporting that correctly.
FEATURES: dict[str, Callable[[Core, str, SampleModel], bool]] = {
    "dynamic shapes": lambda core, device, sample: _runs(core, device, sample.model(-1)),
    "export and import": has_export,
    "remote tensors": lambda core, device, sample: _does(lambda: core.get_default_context(device)),
    "runtime models": lambda core, device, sample: _does(core.compile_model(sample.model(), device).get_runtime_model),
    "variables": lambda core, device, sample: _runs(core, device, delay(sample)),
    "placement by HETERO": lambda core, device, sample: runs_under_hetero(core, device, sample),
}


def runs_under_hetero(core: Core, device: str, sample: SampleModel) -> bool:
    """Return whether HETERO may place operations on the device: on all except virtual devices."""
    kind = parse_device_name(device).kind
    if not core.get_plugin(kind).is_virtual:
        core.compile_model(sample.model(), f"HETERO:{device}")
        return True
    with pytest.raises(DeviceError, match=f"cannot use .*{kind}"):
        core.compile_model(sample.model(), f"HETERO:{kind}")
    return False


def delay(sample: SampleModel) -> Model:
    """Return a model x → y whose y is the operation applied to x of the previous inference.

    In the first inference it is applied to ``sample.array(9)``.
    """
    x = sample.parameter("x")
    read = ops.ReadValue(Constant(sample.array(9)), "last", name="read")
    return Model(sample.node(read, "y"), [x], "delay", sinks=[ops.Assign(x, "last", name="assign")])


def _runs(core: Core, device: str, model: Model) -> bool:
    if supports(core, model, device):
        return True
    check_refusal(core, model, device)
    return False


def _does(action: Callable[[], object]) -> bool:
    """Return whether an action works; False if it raises a NotSupportedError."""
    try:
        action()
    except NotSupportedError:
        return False
    return True
