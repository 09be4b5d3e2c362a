"""Threads that use one Core while others register devices and set properties."""

import threading

from hetero import Core
from hetero.plugin import Device
from hetero.system.errors import DeviceError
from tests.devices import PickyPlugin, core_with
from tests.threads import PATIENCE, Gate, WatchedLock, started


class Listing(PickyPlugin):
    """A device that calls ``listing`` when its devices are listed."""

    def listing(self):
        pass

    def devices(self):
        self.listing()
        return [Device()]


def test_devices_can_be_registered_while_others_are_listed():
    plugin = Listing()
    core = core_with(A=plugin)
    core.get_plugin("A")
    plugin.listing = lambda: started(lambda: core.register_plugin(PickyPlugin, "B")).result(PATIENCE)
    try:
        assert "A" in core.available_devices
    finally:
        del plugin.listing
    assert {"A", "B"} <= set(core.available_devices)


def test_of_two_threads_one_registers_a_name():
    core, meeting = Core(), threading.Barrier(2)

    class Factories(dict):
        def __contains__(self, name):
            found = super().__contains__(name)
            meeting.wait(PATIENCE)
            return found

    core._factories = Factories(core._factories)
    ends = [started(lambda: core.register_plugin(PickyPlugin, "A")) for _ in range(2)]
    (error,) = filter(None, [end.exception(PATIENCE) for end in ends])
    assert isinstance(error, DeviceError) and "device A is registered already" in str(error)


class Checking(PickyPlugin):
    """A device whose properties are looked up at a gate, once ``gate`` is set."""

    gate: Gate | None = None

    @property
    def supported_properties(self):
        if self.gate is not None:
            self.gate.wait()
        return PickyPlugin.supported_properties


def test_a_device_that_is_created_while_properties_are_set_gets_them():
    plugin, settled = Checking(), threading.Event()
    core = core_with(A=plugin)
    core.get_plugin("A")
    core._lock = WatchedLock(settled)
    with Gate() as gate:
        plugin.gate = gate
        setting = started(lambda: core.set_property({"PERF_COUNT": True}))
        gate.wait_until_reached()
        core.register_plugin(PickyPlugin, "B")
        creating = started(lambda: core.get_plugin("B"))
        creating.add_done_callback(lambda _: settled.set())
        assert settled.wait(PATIENCE)  # the device is created, or waits for the end of set_property
    setting.result(PATIENCE)
    creating.result(PATIENCE)
    plugin.gate = None
    assert [core.get_property(name, "PERF_COUNT") for name in "AB"] == [True, True]
