"""Threads that compile models for AUTO at the same time."""

import _weakrefset
import threading
import weakref

from hetero.properties.hint import Priority
from hetero.virtual import auto
from tests.devices import core_with
from tests.threads import interleaved
from tests.virtual.devices import Backend, square


def test_models_are_compiled_while_another_thread_looks_for_an_idle_device():
    core = core_with(A=Backend(), B=Backend())
    compiled = [core.compile_model(square(), "AUTO:A,B", {"MODEL_PRIORITY": "HIGH"}) for _ in range(2)]
    plugin = core.get_plugin("AUTO")
    _, devices, _ = plugin.resolve({"MULTI_DEVICE_PRIORITIES": "A,B"})

    def first_device() -> str:
        return plugin._by_priority(devices, Priority.LOW)[0].name

    def compile_another() -> None:
        compiled[2:] = [core.compile_model(square(), "AUTO:A,B")]

    outcomes = list(interleaved(first_device, compile_another, threading.Event(), auto, weakref, _weakrefset))
    # The other model runs on B, which is occupied too then.
    assert set(outcomes) == {("B", None), ("A", None)}
