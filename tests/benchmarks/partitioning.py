"""Partitioning, query and compilation of random graphs with a random device for each operation.

OpenVINO's HETERO runs the same graphs, up to the size that takes it seconds, with its CPU plugin under two names. It
raises if its subgraphs form a cycle.
"""

from __future__ import annotations

import logging
import random
import statistics
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from hetero_template.plugin import TemplatePlugin

import hetero
from hetero.dispatch.cost.database import estimated_seconds
from hetero.dispatch.cutting.partition import partition
from hetero.graph import is_terminal
from hetero.graph.rt_info import AFFINITY

SIZES = (1_000, 10_000, 100_000)
COMPILED = (100, 300, 1_000)
MAX_OPENVINO_SIZE = 300
WIDTH = 30  # number of parallel branches
ROUNDS = 3


def compare() -> list[str]:
    """Return a line for each size and number of devices, with the median of several rounds, and the compilations."""
    graphs = {(size, k): _graph(hetero, size, "ABCD"[:k]) for size in SIZES for k in (2, 4)}
    seconds: dict[tuple[int, int], list[float]] = {key: [] for key in graphs}
    counts = {}
    for _ in range(ROUNDS):
        for key, model in graphs.items():
            device_of = {n: n.rt_info[AFFINITY] for n in model.get_ordered_ops() if not is_terminal(n)}
            elapsed, subgraphs = _timed(
                lambda model=model, devices=device_of: partition(model, devices, estimated_seconds)
            )
            seconds[key].append(elapsed)
            counts[key] = len(subgraphs)
    lines = []
    for (size, devices), times in seconds.items():
        median = statistics.median(times)
        task = f"partitioning {size} nodes"
        lines.append(
            f"{task:32} {f'{devices} devices':16} {median * 1e3:10.2f} ms   {median / size * 1e6:6.2f} us per node"
            f"   {counts[size, devices]} subgraphs"
        )
    return lines + _compilations()


def _compilations() -> list[str]:
    import openvino

    ours, theirs = hetero.Core(), openvino.Core()
    for name in "AB":
        ours.register_plugin(TemplatePlugin, name)
    theirs.register_plugin("openvino_intel_cpu_plugin", "CPU_AGAIN")
    logging.getLogger("hetero").setLevel(logging.ERROR)
    lines = []
    for size in COMPILED:
        for what in ("query_model", "compile_model"):
            for module, core, devices in ((hetero, ours, ("A", "B")), (openvino, theirs, ("CPU", "CPU_AGAIN"))):
                if module is openvino and size > MAX_OPENVINO_SIZE:
                    continue
                lines.append(
                    f"{f'{what} of {size} nodes':32} {module.__name__:16} {_measure(module, core, what, size, devices)}"
                )
    return lines


def _measure(module: ModuleType, core: Any, what: str, size: int, devices: tuple[str, ...]) -> str:
    model = _graph(module, size, devices)
    try:
        elapsed, _ = _timed(lambda: getattr(core, what)(model, f"HETERO:{','.join(devices)}"))
    except RuntimeError as error:
        return f"      raises {str(error).strip().splitlines()[-1]}"
    return f"{elapsed * 1e3:10.2f} ms"


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = run()
    return time.perf_counter() - started, result


def _graph(module: ModuleType, size: int, devices: str | tuple[str, ...]) -> Any:
    """Return a model of WIDTH branches with Relu, and Add between two branches, on random devices."""
    draw = random.Random(0)
    factories = __import__(f"{module.__name__}.opset13", fromlist=["relu"])
    parameter = factories.parameter([4], np.float32)
    branches = [parameter] * WIDTH
    for _ in range(size):
        index = draw.randrange(WIDTH)
        other = branches[draw.randrange(WIDTH)]
        is_relu = draw.random() < 0.5
        branches[index] = factories.relu(branches[index]) if is_relu else factories.add(branches[index], other)
    ends = [node for node in dict.fromkeys(branches) if node is not parameter]
    model = module.Model([factories.result(node) for node in ends], [parameter], f"{size} nodes")
    for node in model.get_ordered_ops():
        node.get_rt_info()[AFFINITY] = draw.choice(devices)
    return model
