"""Memory of a process with a model of 574 MB: on one device, cut into 20 subgraphs on two, on GPU, and of peers."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from hetero import Core
from hetero.graph import is_terminal
from hetero.graph.rt_info import AFFINITY
from tests import zoo
from tests.benchmarks.engine_process import EngineProcess
from tests.benchmarks.engines import Arrays, Inference, on_hetero, on_onnxruntime, on_openvino

SUBGRAPHS = 20
ROUNDS = 3
INFERENCES = 3
IMAGE = {"data_0": np.ones([1, 3, 224, 224], np.float32)}


def compare() -> Iterator[list[str]]:
    """Yield lines for each group: medians of new processes run in turn, and the increase over the first."""
    zoo.fetch(zoo.LARGE)
    groups: dict[str, dict[str, Callable[[Path, Arrays], Inference]]] = {
        "TEMPLATE": {
            "uncut": partial(_in_subgraphs, 1),
            f"{SUBGRAPHS} subgraphs": partial(_in_subgraphs, SUBGRAPHS),
        },
        "engine": {"openvino": on_openvino, "onnxruntime": on_onnxruntime, "GPU": partial(on_hetero, "GPU")},
    }
    for title, candidates in groups.items():
        measured: dict[str, list[tuple[int, int]]] = {name: [] for name in candidates}
        for _ in range(ROUNDS):
            for name, load in candidates.items():
                measured[name].append(_measure(load))
        medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in measured.items()}
        first = next(iter(medians.values()))
        yield [
            f"{f'memory of 574 MB by {title}':32} {name:16} {resident / 1e6:10.0f} MB   {resident / first[0] - 1:+7.2%}"
            f"   peak {peak / 1e6:.0f} MB, {peak / first[1] - 1:+.2%}"
            for name, (resident, peak) in medians.items()
        ]


def _measure(load: Callable[[Path, Arrays], Inference]) -> tuple[int, int]:
    """Return the resident bytes of a process after inferences of the model, and their peak."""
    with EngineProcess(partial(load, zoo.folder() / zoo.LARGE.files[0][1], IMAGE)) as engine:
        for _ in range(INFERENCES):
            turn = engine.run()
    return turn.resident, turn.peak


def _in_subgraphs(count: int, file: Path, feeds: Arrays) -> Inference:
    from hetero_template.plugin import TemplatePlugin

    core = Core()
    for name in "AB":
        core.register_plugin(TemplatePlugin, name)
    model = core.read_model(file)
    nodes = [node for node in model.get_ordered_ops() if not is_terminal(node)]
    for index, node in enumerate(nodes):
        node.rt_info[AFFINITY] = "AB"[index * count // len(nodes) % 2]
    compiled = core.compile_model(model, "HETERO:A,B" if count > 1 else "A")
    if count > 1 and len(compiled.get_property("PLACEMENT_REPORT").subgraphs) != count:
        raise RuntimeError(f"not {count} subgraphs")
    return lambda: compiled(feeds)
