"""Devices that fail during inferences, and helpers that inspect a model compiled for them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.infer_request import TemplateInferRequest

from hetero import Model, Parameter, Tensor, Type, ops
from hetero.graph.rt_info import AFFINITY
from tests.devices import PickyPlugin

X = np.array([[-1, 0, 0.5, 2]], np.float32)
Y = np.tanh(np.exp(np.maximum(X, 0)))
# Ways to fail in an inference.
FAULTS = ("raise", "wrong shape", "wrong type", "hang", "unwritten", "writes inputs")
# Milliseconds; long for a device that works, also on a busy machine.
TIMEOUT = {"DEVICE_TIMEOUT": 2000}


def inputs(count: int) -> list[np.ndarray]:
    return list(np.random.default_rng(0).standard_normal((count, 1, 4), np.float32))


def chain(**pins: str) -> Model:
    """x → relu → exp → tanh."""
    x = Parameter(Type.f32, [-1, 4], name="x")
    model = Model(ops.Tanh(ops.Exp(ops.Relu(x, name="relu"), name="exp"), name="tanh"), [x], "chain")
    for node in model.get_ordered_ops():
        if node.friendly_name in pins:
            node.rt_info[AFFINITY] = pins[node.friendly_name]
    return model


def limit_inferences(compiled, milliseconds: float) -> None:
    """Lower DEVICE_TIMEOUT for inferences, which must not have begun, to less than a compilation may take."""
    compiled._compiled.timeout = milliseconds / 1e3


def no_exp(node) -> bool:
    return node.type_info.name != "Exp"


def devices_of(compiled) -> dict[str, str]:
    return {o.name: o.device for o in compiled.get_property("PLACEMENT_REPORT").operations}


def warnings_in(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def check_dropped(compiled, caplog, device: str = "A") -> None:
    (warning,) = warnings_in(caplog)
    assert f"no longer on {device}: {device} " in warning
    assert device not in compiled.get_property("EXECUTION_DEVICES")
    report = compiled.get_property("PLACEMENT_REPORT")
    assert device not in set(devices_of(compiled).values())
    assert [failure.device for failure in report.failures] == [device]
    assert any(o.reason.startswith(f"{device}: {device} ") for o in report.operations)


class _Request(TemplateInferRequest):
    """An infer request with the faults of its device."""

    def start(self):
        plugin = self.compiled_model.plugin
        with plugin.lock:
            plugin.count += 1
            fails = plugin.count >= plugin.healthy
        plugin.begin(self.input_tensors())
        fault = plugin.fault if fails else ""
        if fault == "hang":
            plugin.hung.append(threading.current_thread())
            plugin.released.wait(60)
            self.cancelled = False  # the device ignores the cancellation
        if fault == "unwritten but touched":
            for tensor in self.output_tensors():
                tensor.shape = tuple(max(length, 1) for length in tensor.shape)
                tensor.data.flags  # noqa: B018
        if fault.startswith("unwritten"):
            return
        if fault == "writes inputs":
            for tensor in self.input_tensors():
                plugin.write(tensor)
        super().start()
        if fault == "raise":
            raise KeyError("lost")
        if fault == "cancel":
            plugin.cancel()
            self.check_cancelled()
        for tensor in self.output_tensors():
            if fault == "in place":
                tensor.copy_from(tensor.data.copy())
            if fault == "wrong shape":
                tensor.take(np.zeros([*tensor.shape, 2], np.float32))
            if fault == "wrong type":
                tensor.take(np.zeros(tensor.shape, np.int64))

    def set_tensor(self, port, tensor):
        if self.compiled_model.plugin.fault == "set tensor":
            raise KeyError("lost")
        super().set_tensor(port, tensor)

    def query_state(self):
        return None if self.compiled_model.plugin.fault == "no variables" else super().query_state()


class _CompiledModel(TemplateCompiledModel):
    def create_sync_infer_request(self):
        if self.plugin.fault == "create request":
            raise ValueError("no more requests")
        if self.plugin.fault == "no request":
            return None
        if self.plugin.fault == "stop at create request":
            raise StopIteration("no more requests")
        return _Request(self)


class Faulty(PickyPlugin):
    """The reference device; from inference number ``healthy`` on (counted from 1) it fails with ``fault``."""

    def __init__(self, fault: str = "", healthy: int = 1, accepts=lambda node: True) -> None:
        super().__init__(accepts)
        self.fault, self.healthy, self.count = fault, healthy, 0
        self.lock, self.released, self.hung = threading.Lock(), threading.Event(), []
        #: Writes to an input, for the fault "writes inputs".
        self.write: Callable[[Tensor], object] = lambda tensor: tensor.data.fill(7)
        #: Cancels the user's request during an inference, for the fault "cancel".
        self.cancel: Callable[[], None] = lambda: None

    def devices(self):
        return [replace(device, writes_outputs=False) for device in super().devices()]

    def begin(self, inputs: Sequence[Tensor]) -> None:
        """Called at the start of each inference."""

    def compile(self, prepared):
        self.compiled.append(prepared.model)
        return _CompiledModel(prepared)
