"""Faulty devices: errors name the device, and other devices keep working."""

import logging
import threading

import numpy as np
import pytest
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.infer_request import TemplateInferRequest

from hetero import Core, Model, Parameter, Type, ops
from hetero.plugin import Device, QueryResult
from hetero.run.devices import find_devices
from hetero.system.errors import CancelledError, DeviceError, RequestBusyError, UnsupportedOperationError
from tests.devices import PickyPlugin, core_with

X = np.array([[-1, 0, 0.5, 2]], np.float32)
Y = np.tanh(np.exp(np.maximum(X, 0)))


def chain() -> Model:
    """x → relu → exp → tanh."""
    x = Parameter(Type.f32, [-1, 4], name="x")
    return Model(ops.Tanh(ops.Exp(ops.Relu(x, name="relu"), name="exp"), name="tanh"), [x], "chain")


class _Request(TemplateInferRequest):
    """An infer request with the fault of its plugin."""

    def start(self):
        plugin = self.compiled_model.plugin
        super().start()
        for tensor in self.output_tensors():
            if plugin.fault == "infer":
                raise KeyError("lost")
            if plugin.fault == "wrong shape":
                tensor.take(np.zeros([*tensor.shape, 1], np.float32))
            if plugin.fault == "wrong type":
                tensor.take(np.zeros(tensor.shape, np.int64))

    def wait(self):
        if self.compiled_model.plugin.fault == "hang":
            self.compiled_model.plugin.released.wait(60)


class _CompiledModel(TemplateCompiledModel):
    def create_sync_infer_request(self):
        if self.plugin.fault == "create request":
            raise ValueError("no more requests")
        return _Request(self)


class _NamelessDevice(Device):
    def properties(self):
        raise KeyError("name")


class _Faulty(PickyPlugin):
    """TEMPLATE with a fault."""

    def __init__(self, fault: str) -> None:
        if fault == "constructor":
            raise OSError("libnpu.so: cannot open shared object file")
        super().__init__(lambda node: node.type_info.name != "Exp")
        self.fault, self.released = fault, threading.Event()

    def devices(self):
        if self.fault == "properties":
            return [_NamelessDevice()]
        return {}["bus"] if self.fault == "devices" else super().devices()

    def query_model(self, model, options):
        if self.fault == "query":
            raise IndexError("out of lists")
        if self.fault == "claims too much":
            return QueryResult({node.friendly_name: self.name for node in model.get_ordered_ops()})
        return super().query_model(model, options)

    def compile_model(self, model, options, context=None):
        if self.fault == "compile":
            raise ZeroDivisionError("by nothing")
        if any(not self._accepts(node) for node in model.get_ordered_ops()):
            raise UnsupportedOperationError(f"{self.name} cannot run Exp 'exp'")
        return super().compile_model(model, options, context)

    def compile(self, prepared):
        return _CompiledModel(prepared)


FAULTS = {
    "constructor": "device NPU is not available: OSError: libnpu.so",
    "devices": "device NPU is not available: KeyError: 'bus'",
    "properties": "NPU failed to get property SUPPORTED_PROPERTIES: KeyError: 'name'",
    "query": "NPU failed to query model 'chain': IndexError: out of lists",
    "claims too much": "NPU cannot run Exp 'exp'",
    "compile": "NPU failed to compile 'chain/0': ZeroDivisionError: by nothing",
    "create request": "NPU failed to create a request of 'chain/0': ValueError: no more requests",
    "infer": "NPU failed in start of 'chain/0': KeyError: 'lost'",
    "wrong shape": r"NPU gave a wrong output of 'chain/0': .* the shape \[\?,4\], but the tensor has \[1, 4, 1\]",
    "wrong type": "NPU gave a wrong output of 'chain/0': .* f32 elements, but the tensor has i64",
}


def run(core: Core, device: str) -> np.ndarray:
    return core.compile_model(chain(), device).create_infer_request().infer(X)[0]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["infer", "start_async"])
def test_error_names_the_faulty_device_and_others_keep_working(fault, asynchronous):
    core = core_with(EXP=PickyPlugin(lambda node: node.type_info.name == "Exp"), B=PickyPlugin())
    core.register_plugin(lambda: _Faulty(fault), "NPU")
    with pytest.raises(DeviceError, match=FAULTS[fault]) as caught:
        request = core.compile_model(chain(), "HETERO:NPU,EXP").create_infer_request()
        if asynchronous:
            request.start_async(X)
            request.wait()
        else:
            request.infer(X)
    assert "\n" not in str(caught.value)
    np.testing.assert_allclose(run(core, "B"), Y, rtol=1e-6)
    np.testing.assert_allclose(run(core, "HETERO:B"), Y, rtol=1e-6)


@pytest.mark.parametrize("fault", FAULTS)
def test_available_devices_survives_a_faulty_device(fault):
    core = core_with(B=PickyPlugin())
    core.register_plugin(lambda: _Faulty(fault), "NPU")
    assert "B" in core.available_devices
    assert ("NPU" in core.available_devices) == ("NPU" not in core.unavailable_devices)
    assert {"B", *core.host.available_devices} <= {device.name for device in find_devices(core)}
    if fault == "properties":
        with pytest.raises(DeviceError, match="NPU failed to get property FULL_DEVICE_NAME: KeyError: 'name'"):
            core.get_property("NPU", "FULL_DEVICE_NAME")


@pytest.mark.parametrize("device", ["NPU", "HETERO:NPU"])
def test_request_is_usable_after_a_fault(device):
    plugin = _Faulty("infer")
    plugin._accepts = lambda node: True
    core = core_with(NPU=plugin, B=PickyPlugin())
    request = core.compile_model(chain(), device).create_infer_request()
    for start in (request.infer, request.start_async):
        with pytest.raises(DeviceError, match="NPU failed in start of 'chain"):
            start(X)
            request.wait()
    plugin.fault = ""
    np.testing.assert_allclose(request.infer(X)[0], Y, rtol=1e-6)
    request.start_async(X)
    request.wait()


@pytest.mark.parametrize("device", ["NPU", "HETERO:NPU,B"])
def test_wait_for_returns_while_a_device_hangs(device, caplog):
    plugin = _Faulty("hang")
    plugin._accepts = lambda node: True
    core = core_with(NPU=plugin, B=PickyPlugin())
    compiled = core.compile_model(chain(), device)
    request, other = compiled.create_infer_request(), core.compile_model(chain(), "B").create_infer_request()
    request.start_async(X)
    assert request.wait_for(20) is False
    with pytest.raises(RequestBusyError, match=f"'chain' is busy on {device.split(':')[0]} for "):
        request.start_async(X)
    other.start_async(X)
    other.wait()
    np.testing.assert_allclose(other.results[0], Y, rtol=1e-6)
    with caplog.at_level(logging.WARNING, "hetero"):
        dispatched = device.startswith("HETERO")
        executor = compiled._compiled.scheduler._executor if dispatched else compiled._compiled.executor
        assert executor.shutdown(0.05) is False
    assert "does not end; its thread is abandoned" in caplog.text and device.split(":")[0] in caplog.text
    request.cancel()
    plugin.released.set()
    with pytest.raises(CancelledError, match="the inference of 'chain.*' was cancelled"):
        request.wait()


def test_query_may_return_a_plain_dictionary():
    plugin = PickyPlugin()
    plugin.query_model = lambda model, options: {"relu": "NPU"}
    core = core_with(NPU=plugin, B=PickyPlugin())
    report = core.compile_model(chain(), "HETERO:NPU,B").get_property("PLACEMENT_REPORT")
    assert [(o.name, o.device) for o in report.operations] == [("relu", "NPU"), ("exp", "B"), ("tanh", "B")]
    assert report.operations[1].reason == "NPU: not supported"
