"""Compilation of a model in memory for two devices, against OpenVINO's HETERO:CPU,CPU2, with kernels in the caches."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import openvino

import hetero
from tests import zoo
from tests.benchmarks.interleaved import Comparison, interleave

MODELS = ("resnet50", "densenet121")
DEVICES = ("HETERO:GPU,TEMPLATE", "GPU", "TEMPLATE")
ROUNDS = 5


def compare() -> Iterator[Comparison]:
    ours, theirs = hetero.Core(), openvino.Core()
    theirs.register_plugin("openvino_intel_cpu_plugin", "CPU2")
    for name in MODELS:
        candidates = {"openvino HETERO": _compilation(theirs, name, "HETERO:CPU,CPU2")}
        candidates |= {device: _compilation(ours, name, device) for device in DEVICES}
        yield interleave(f"compile_model of {name}", candidates, ROUNDS)


def _compilation(core: hetero.Core | openvino.Core, name: str, device: str) -> Callable[[], object]:
    model = core.read_model(zoo.path(name))
    return lambda: core.compile_model(model, device)
