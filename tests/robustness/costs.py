"""Files of measured costs: a damaged one is ignored with a warning, and results stay correct."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import numpy as np

from hetero import Core
from hetero.dispatch.cost.benchmark import DeviceBenchmark
from hetero.dispatch.cost.database import CostDatabase, OperationTimes, model_key, operation_key
from hetero.dispatch.devices import ListedDevice
from hetero.ops.work_estimate import assumed_shapes
from tests.devices import PickyPlugin, core_with
from tests.dispatch.faulty import X, Y, chain
from tests.robustness.damage import Files, on_file
from tests.robustness.trees import change_json

FIGURES = DeviceBenchmark(1e9, 2e9, 3e9, 4e9, 5e9, 1e-6, 1e-4)


def _devices(core: Core) -> list[ListedDevice]:
    return [ListedDevice(name, *core.resolve_device(name)) for name in "AB"]


@functools.cache
def samples() -> list[Files]:
    core, model = core_with(A=PickyPlugin(), B=PickyPlugin()), chain()
    shapes = assumed_shapes(model)
    seconds = {operation_key(node, shapes): 1e-3 for node in model.get_ordered_ops()}
    with tempfile.TemporaryDirectory() as folder:
        measured = CostDatabase(folder)
        for device in _devices(core):
            measured.write_benchmark(device, FIGURES)
            measured.write_operation_times(device, model_key(model), OperationTimes(seconds, 1e-4, 0.5))
        measured.write_input_shapes(model_key(model), [(1, 4)])
        return [{file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}]


def run(folder: Path) -> None:
    core, measured = core_with(A=PickyPlugin(), B=PickyPlugin()), CostDatabase(folder)
    for device in _devices(core):
        if measured.benchmark(device) is None:
            measured.write_benchmark(device, FIGURES)  # measuring them again would take seconds
    for placement in ("MIN_CUT", "PIPELINE"):
        compiled = core.compile_model(chain(), "HETERO:A,B", {"PLACEMENT": placement, "COSTS_DIR": folder})
        np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)


MUTATORS = {
    "entry": on_file(".json", change_json),
    "more entries": on_file(".json", change_json),
    "bytes": on_file(".json"),
}
