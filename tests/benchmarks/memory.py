"""Memory of a process with a model of 574 MB: on one device, cut into 20 subgraphs on two, on GPU, and of peers."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from hetero_template.plugin import TemplatePlugin

from hetero import Core
from hetero.dispatch.affinity import is_placed
from hetero.graph.rt_info import AFFINITY
from tests import zoo

SUBGRAPHS = 20
ROUNDS = 3
INFERENCES = 3
ENGINES = ("openvino", "onnxruntime", "GPU")
# Each group of lines: the name of a candidate, and the argument of its process.
GROUPS = {
    "TEMPLATE": {"uncut": "1", f"{SUBGRAPHS} subgraphs": str(SUBGRAPHS)},
    "engine": {name: name for name in ENGINES},
}


def compare() -> Iterator[list[str]]:
    """Yield lines for each group: medians of new processes run in turn, and the increase over the first."""
    zoo.fetch(zoo.LARGE)
    for title, candidates in GROUPS.items():
        measured: dict[str, list[tuple[float, ...]]] = {name: [] for name in candidates}
        for _ in range(ROUNDS):
            for name, argument in candidates.items():
                command = [sys.executable, "-m", "tests.benchmarks.memory", argument]
                printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                measured[name].append(tuple(map(float, printed.split())))
        medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in measured.items()}
        first = next(iter(medians.values()))
        yield [
            f"{f'memory of 574 MB by {title}':32} {name:16} {resident / 1e6:10.0f} MB   {resident / first[0] - 1:+7.2%}"
            f"   peak {peak / 1e6:.0f} MB, {peak / first[1] - 1:+.2%}"
            for name, (resident, peak) in medians.items()
        ]


def measure(argument: str) -> None:
    """Print the resident bytes of this process after inferences of the model, and their peak."""
    path, image = zoo.folder() / zoo.LARGE.files[0][1], np.ones([1, 3, 224, 224], np.float32)
    run = _of_engine(argument, path, image) if argument in ENGINES else _in_subgraphs(int(argument), path, image)
    for _ in range(INFERENCES):
        run()
    print(_memory("VmRSS"), _memory("VmHWM"))


def _of_engine(name: str, path: Path, image: np.ndarray) -> Callable[[], object]:
    if name == "onnxruntime":
        import onnxruntime

        session = onnxruntime.InferenceSession(path)
        feeds = {session.get_inputs()[0].name: image}
        return lambda: session.run(None, feeds)
    if name == "openvino":
        import openvino

        options = {"INFERENCE_PRECISION_HINT": "f32"}
        peer = openvino.compile_model(path, "CPU", options).create_infer_request()
        return lambda: peer.infer([image])
    request = Core().compile_model(path, name).create_infer_request()
    return lambda: request.infer([image])


def _in_subgraphs(count: int, path: Path, image: np.ndarray) -> Callable[[], object]:
    core = Core()
    for name in "AB":
        core.register_plugin(TemplatePlugin, name)
    model = core.read_model(path)
    nodes = [node for node in model.get_ordered_ops() if is_placed(node)]
    for index, node in enumerate(nodes):
        node.rt_info[AFFINITY] = "AB"[index * count // len(nodes) % 2]
    compiled = core.compile_model(model, "HETERO:A,B" if count > 1 else "A")
    if count > 1 and len(compiled.get_property("PLACEMENT_REPORT").subgraphs) != count:
        raise SystemExit(f"not {count} subgraphs")
    return lambda: compiled([image])


def _memory(key: str) -> int:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key)]
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    measure(sys.argv[1])
