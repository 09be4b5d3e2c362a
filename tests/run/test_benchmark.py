"""hetero benchmark. Times are compared with those of a device that sleeps, never with those of a machine."""

import csv
import dataclasses
import json
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hetero import Model, Parameter, Type, ops, save_model
from hetero.plugin import installed_plugins
from hetero.run.cli import app
from tests.devices import PickyPlugin

PAUSE = 0.03


class SleepingPlugin(PickyPlugin):
    """TEMPLATE, but each inference takes at least PAUSE seconds, and a sixteenth of it in bf16."""

    def __init__(self):
        super().__init__()
        self.inputs = []
        self.fastest_type = Type.dynamic

    def devices(self):
        return [dataclasses.replace(device, fastest_type=self.fastest_type) for device in super().devices()]

    def compile(self, prepared):
        compiled = super().compile(prepared)
        run = compiled.run
        is_fast = compiled.get_property("INFERENCE_PRECISION_HINT") is Type.bf16

        def sleep_and_run(inputs, *arguments):
            arrays = list(inputs)
            self.inputs.append(arrays[0].copy())
            time.sleep(PAUSE / 16 if is_fast else PAUSE)
            return run(arrays, *arguments)

        compiled.run = sleep_and_run
        return compiled


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """The plugin of a device SLOW; chain.xml (x → Relu → Tanh) is in the current folder."""
    plugin = SleepingPlugin()
    picky = PickyPlugin(lambda node: node.type_info.name != "Tanh")
    monkeypatch.setitem(installed_plugins().devices, "SLOW", lambda: plugin)
    monkeypatch.setitem(installed_plugins().devices, "PICKY", lambda: picky)
    monkeypatch.chdir(tmp_path)
    x = Parameter(Type.f32, [-1, 4], name="x")
    save_model(Model(ops.Tanh(ops.Relu(x, name="relu"), name="tanh"), [x], "chain"), "chain.xml")
    return plugin


def hetero(*arguments):
    return CliRunner().invoke(app, ["benchmark", "chain.xml", *arguments])


def measure(*arguments):
    result = hetero(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_devices_in_turn(slow):
    report = measure("-d", "SLOW", "-d", "TEMPLATE", "-niter", "9", "--shape", "x=5,4")
    assert (report["api"], report["input_shapes"]) == ("sync", {"x": [5, 4]})
    one, other = report["measurements"]
    for m in (one, other):
        assert (m["requests"], m["inferences"]) == (1, 9)
        assert 0 < m["minimum"] <= m["median"] <= m["p90"] <= m["p99"] <= m["maximum"]
        assert 0 < m["throughput"] <= 1000 / m["minimum"]
    assert one["minimum"] >= 1000 * PAUSE and one["first"] >= 1000 * PAUSE
    assert one["ratio"] == 1 and other["ratio"] == pytest.approx(one["median"] / other["median"])


def test_requests_overlap(slow):
    """Three requests that sleep at the same time are faster than one."""
    options = ["-d", "SLOW", "-niter", "24", "-nstreams", "3"]
    one, three = (measure(*options, *api)["measurements"][0] for api in ([], ["-api", "async", "-nireq", "3"]))
    assert (three["requests"], three["inferences"]) == (3, 24)
    assert three["minimum"] >= 1000 * PAUSE
    assert three["throughput"] > 1.2 * one["throughput"]


def test_time(slow):
    (m,) = measure("-d", "SLOW", "-t", str(8 * PAUSE))["measurements"]
    assert 1 <= m["inferences"] <= 0.5 / PAUSE + 1  # a turn takes half a second
    (m,) = measure("-d", "TEMPLATE", "-t", "0")["measurements"]
    assert m["inferences"] >= 1


def test_options_of_benchmark_app(slow):
    np.save("x.npy", np.full((1, 4), 7, np.float32))
    options = ["benchmark", "-m", "chain.xml", "-d", "SLOW", "-niter", "1"]
    for more, shape in ((["-i", "x.npy"], (1, 4)), (["-b", "3"], (3, 4)), (["-shape", "[2,5]"], (2, 5))):
        result = CliRunner().invoke(app, [*options, *more])
        assert result.exit_code == 0, result.output
        assert slow.inputs[-1].shape == shape and (slow.inputs[-1] == 7).all() == ("-i" in more)


def test_all_samples_of_a_folder(slow):
    Path("samples").mkdir()
    for index in range(3):
        np.save(f"samples/{index}.npy", np.full((1, 4), index, np.float32))
    measure("-d", "SLOW", "-niter", "6", "--inputs", "samples")
    assert [array[0, 0] for array in slow.inputs] == [0, 0, 1, 2, 0, 1, 2]  # the first one is not counted


def test_times_of_subgraphs_and_operations(slow):
    options = ["-d", "HETERO:PICKY,TEMPLATE", "-niter", "5"]
    (m,) = measure(*options, "-pc")["measurements"]
    assert [(s["device"], s["operations"]) for s in m["placement"]["subgraphs"]] == [("PICKY", 1), ("TEMPLATE", 1)]
    assert all(s["milliseconds"] > 0 for s in m["placement"]["subgraphs"])
    assert {o["name"] for o in m["slowest"]} == {"relu", "tanh"}
    (m,) = measure(*options)["measurements"]
    assert m["slowest"] == []
    text = hetero(*options, "-pc").stdout
    assert "slowest operations" in text and "subgraph" in text
    assert "slowest operations" not in hetero(*options).stdout


def test_table_and_csv(slow):
    result = hetero("-d", "TEMPLATE", "-d", "SLOW", "-niter", "2", "--csv", "times.csv")
    assert result.exit_code == 0, result.output
    for part in ("chain.xml, api sync, x [1, 4]", "per second", "latencies in ms; ratio"):
        assert part in result.stdout
    with open("times.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["device"] for row in rows] == ["TEMPLATE", "SLOW"]
    assert [row["inferences"] for row in rows] == ["2", "2"]
    assert float(rows[1]["median"]) >= 1000 * PAUSE > 0 < float(rows[1]["ratio"]) < 1


def test_gain_of_a_faster_type(slow):
    """SLOW sleeps for a sixteenth of the time in bf16."""
    slow.fastest_type = Type.bf16
    devices = ("-d", "SLOW", "-d", "HETERO:SLOW,TEMPLATE", "-d", "TEMPLATE", "-niter", "2")
    one, cut, other = measure(*devices)["measurements"]
    assert (one["faster_type"], cut["faster_type"], other["faster_type"]) == ("bf16", "bf16", "")
    assert one["faster_ratio"] > 4 and cut["faster_ratio"] > 4 and other["faster_ratio"] == 1
    printed = " ".join(hetero(*devices).stdout.split())
    assert "SLOW: --property EXECUTION_MODE_HINT=PERFORMANCE is " in printed and "times as fast in bf16" in printed
    for chosen in ("EXECUTION_MODE_HINT=ACCURACY", "INFERENCE_PRECISION_HINT=f32"):
        assert measure("-d", "SLOW", "-niter", "2", "--property", chosen)["measurements"][0]["faster_type"] == ""


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["-d", "NONE"], ["no device NONE"]),
        (["-d", "SLOW", "--property", "PERF_CONT=YES"], ["did you mean PERF_COUNT?"]),
        (["-d", "SLOW", "-hint", "latensy"], ["PERFORMANCE_HINT", "LATENCY"]),
        (["-d", "SLOW", "--csv", "no/x.csv"], ["there is no folder no"]),
        (["-d", "SLOW", "--csv", "chain.xml"], ["chain.xml cannot be written"]),
        (["-d", "SLOW", "--inputs", "x.npz"], ["there is no file x.npz"]),
        (["-d", "SLOW", "--shape", "x=-1,4"], ["input x takes the shape [?,4], not [-1, 4]: give its lengths"]),
        (["-d", "SLOW", "-m", "chain.xml"], ["hetero benchmark takes one model"]),
    ],
)
def test_errors_are_one_line(slow, arguments, parts):
    result = hetero(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr


def test_unknown_api(slow):
    result = hetero("-d", "SLOW", "-api", "asynch")
    assert result.exit_code == 2 and "sync" in result.stderr
