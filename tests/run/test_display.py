"""Truncation of long reports."""

import io

from rich.console import Console

from hetero.run.devices import DeviceInfo, DeviceList
from hetero.run.display import _show_placement, show_device_list
from hetero.run.yaml_runs.runner import PlacementInfo, Reason


def test_most_frequent_reasons_are_shown():
    reasons = [Reason("B", f"reason {index}!", {"Tanh": 1 + (index == 24)}) for index in range(25)]
    console = Console(file=io.StringIO(), width=120)
    _show_placement(console, PlacementInfo("a summary", {"B": 26}, [], reasons))
    text = console.file.getvalue()
    assert [index for index in range(25) if f"reason {index}!" in text] == [*range(19), 24]
    assert text.index("reason 24!") < text.index("reason 0!")
    assert "5 more reasons: see PLACEMENT_REPORT" in text


def test_devices_fit_a_terminal():
    details = {
        "driver": "3.0 of a vendor whose name is long enough for two lines, " * 2,
        "processor": "CPU, 2 compute units",
    }
    device = DeviceInfo("GPU.0", "a processor (" + 9 * "long name " + ")", "integrated", ("FP32", "FP16"), details, "")
    console = Console(file=io.StringIO(), width=100, markup=False)
    show_device_list(console, DeviceList([device], {}))
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 100
    assert any(line.split() == ["processor", "CPU,", "2", "compute", "units"] for line in lines)
    assert sum("long name" in line for line in lines) == 2
