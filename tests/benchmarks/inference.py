"""One inference of each model of the zoo on devices of hetero, against ONNX Runtime or LiteRT, OpenVINO and tinygrad.

``python -m tests.benchmarks.inference [--batch N] [--bf16] [MODEL …]`` measures some of the models. The engines run in
turn, each in its own process. ``--isa avx2`` measures device GPU on Intel's runtime, limited to that instruction set.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table

from hetero import Core
from hetero.run.display import make_console, progress_bar
from tests import zoo
from tests.benchmarks import batched_models, engines, limited_isa
from tests.benchmarks.engine_process import EngineError, EngineProcess
from tests.benchmarks.interleaved import SETTLING
from tests.devices import GPUS

BATCHES = (1, 8)
# An engine runs a second in total, in this many turns.
ROUNDS = 9
TURN_SECONDS = 1 / ROUNDS
LIBRARIES = ("ONNX Runtime", "LiteRT", "OpenVINO")
TINYGRAD = "tinygrad"
# The devices of hetero to measure. A library that some operations are missing in gets TEMPLATE for them.
OPENVINO = "OPENVINO.CPU"
ONEDNN = "HETERO:ONEDNN,TEMPLATE"
DEVICES = (*GPUS, OPENVINO, f"HETERO:{OPENVINO},TEMPLATE", ONEDNN)
ENGINES = (*LIBRARIES, TINYGRAD, *DEVICES)
NAMES = {device: Core().get_property(device, "FULL_DEVICE_NAME") for device in GPUS}
# The device that tinygrad runs on too: Intel's runtime for CPUs if present, where it is faster than on PoCL.
SHARED_DEVICE = next((device for device in GPUS if "(Intel(R) OpenCL)" in NAMES[device]), GPUS[0])
# Engines whose times are compared apart from the others.
_PAIRS = ((TINYGRAD, [SHARED_DEVICE]), (OPENVINO, ["OpenVINO"]))
# Columns of the output to a file or a pipe, for the whole table.
FILE_WIDTH = 240
# Rows with the geometric means of some networks.
MEANS: dict[str, Callable[[str], bool]] = {
    "geometric mean, ONNX": lambda network: network in zoo.ONNX,
    "geometric mean, .tflite": lambda network: network in zoo.TFLITE,
    "geometric mean, all": lambda network: True,
}


@dataclass
class Network:
    """Measurements of a network: the median seconds of the engines that run it, and why others do not."""

    name: str
    batch: int
    seconds: dict[str, float] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    def ratio(self, engine: str, peers: Iterable[str] = LIBRARIES) -> float | None:
        """Return the time of an engine divided by that of the fastest peer, or None if one of them is unknown."""
        known = [self.seconds[peer] for peer in peers if peer in self.seconds]
        return self.seconds[engine] / min(known) if known and engine in self.seconds else None

    @contextmanager
    def noting_problems(self, engine: str) -> Iterator[None]:
        try:
            yield
        except EngineError as error:
            self.problems[engine] = str(error)


def measure(name: str, batch: int, bf16: bool = False, isa: str = "") -> Network:
    """Measure all engines in turn; with ``bf16``, ONEDNN and OpenVINO compute in it.

    With ``isa``, measure those of limited_isa.py.
    """
    network = Network(name, batch)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        file, feeds = batched_models.file(name, batch, Path(folder)), batched_models.inputs(name, batch)
        running: dict[str, EngineProcess] = {}
        loaders = limited_isa.loaders(name) if isa else _loaders(name, bf16)
        for engine, load in loaders.items():
            environment = limited_isa.environment(isa, engine)
            with network.noting_problems(engine):
                running[engine] = stack.enter_context(EngineProcess(partial(load, file, feeds), environment))
        times: dict[str, list[float]] = {engine: [] for engine in running}
        for _ in range(ROUNDS):
            for engine, process in running.items():
                time.sleep(SETTLING)
                with network.noting_problems(engine):
                    times[engine] += process.run(TURN_SECONDS).seconds
    network.seconds = {engine: statistics.median(times[engine]) for engine in times.keys() - network.problems}
    return network


def _loaders(name: str, bf16: bool) -> dict[str, Callable[[Path, engines.Arrays], engines.Inference]]:
    """Return the functions that load a model, by engine."""
    on_devices = {device: partial(engines.on_hetero, device) for device in DEVICES}
    on_openvino = partial(engines.on_openvino, precision="" if bf16 else "f32")
    if bf16:
        on_devices |= {one: partial(engines.on_hetero, one, precision="bf16") for one in (OPENVINO, ONEDNN)}
    if name in zoo.TFLITE:
        return {"LiteRT": engines.on_litert, "OpenVINO": on_openvino, **on_devices}
    return {
        "ONNX Runtime": engines.on_onnxruntime,
        "OpenVINO": on_openvino,
        TINYGRAD: partial(engines.on_tinygrad, SHARED_DEVICE),
        **on_devices,
    }


def make_table(networks: Sequence[Network], notes: list[str]) -> Table:
    """Return the table. Appends the reasons of missing times to ``notes``, to which the table refers by number."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("network", no_wrap=True)
    on_devices = [
        column for device in DEVICES for column in (device.removeprefix("HETERO:").replace(",", ", "), "ratio")
    ]
    pairs = [f"{engine} / {peer}" for engine, (peer,) in _PAIRS]
    for column in ("batch", *LIBRARIES, TINYGRAD, *on_devices, *pairs):
        table.add_column(column, justify="right", max_width=13)
    for batch in dict.fromkeys(network.batch for network in networks):
        group = [network for network in networks if network.batch == batch]
        for network in group:
            table.add_row(*_cells(network, notes))
        table.add_section()
        for title, is_member in MEANS.items():
            if members := [network for network in group if is_member(network.name)]:
                table.add_row(*_mean_cells(title, members))
        table.add_section()
    return table


def _cells(network: Network, notes: list[str]) -> list[str]:
    cells = [network.name, str(network.batch)]
    for engine in ENGINES:
        cells.append(_milliseconds(network, engine, notes))
        if engine in DEVICES:
            cells.append(_times(network.ratio(engine)))
    return [*cells, *(_times(network.ratio(*pair)) for pair in _PAIRS)]


def _mean_cells(title: str, networks: Sequence[Network]) -> list[str]:
    cells = [title, str(networks[0].batch)]
    for engine in ENGINES:
        mean = _times(_mean(network.ratio(engine) for network in networks))
        cells += ["", mean] if engine in DEVICES else [mean]
    return [*cells, *(_times(_mean(network.ratio(*pair) for network in networks)) for pair in _PAIRS)]


def _mean(ratios: Iterable[float | None]) -> float | None:
    known = [ratio for ratio in ratios if ratio is not None]
    return statistics.geometric_mean(known) if known else None


def _milliseconds(network: Network, engine: str, notes: list[str]) -> str:
    """Return the time with three digits, or the number of the note that says why there is none."""
    if engine in network.problems:
        note = f"{engine}: {network.problems[engine]}"
        if note not in notes:
            notes.append(note)
        return f"[{notes.index(note) + 1}]"
    if engine not in network.seconds:
        return ""
    milliseconds = network.seconds[engine] * 1e3
    return f"{milliseconds:,.{max(0, 2 - math.floor(math.log10(milliseconds)))}f}"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}×"


def _summary(networks: Sequence[Network]) -> list[str]:
    """Return a line for each batch size about the faster OpenCL device of each network."""
    lines = []
    for batch in dict.fromkeys(network.batch for network in networks):
        group = [network for network in networks if network.batch == batch]
        best = [min((r for device in GPUS if (r := network.ratio(device))), default=None) for network in group]
        if mean := _mean(best):
            lines.append(f"batch {batch}, the faster OpenCL device for each network: {mean:.2f}×")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.inference", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="MODEL", help="all models of the zoo by default")
    parser.add_argument("--batch", type=int, action="append", metavar="N", help="1 and 8 by default; may be repeated")
    help_bf16 = "ONEDNN and OPENVINO.CPU compute in bf16, OpenVINO in its default: bf16 where the processor has it"
    parser.add_argument("--bf16", action="store_true", help=help_bf16)
    parser.add_argument("--isa", choices=limited_isa.VARIABLES, default="", help="limits GPU to this instruction set")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in zoo.MODELS]:
        parser.error(f"no model named {', '.join(unknown)}: there are {', '.join(zoo.MODELS)}")
    tasks = [(name, batch) for batch in options.batch or BATCHES for name in options.names or zoo.MODELS]
    networks = []
    with progress_bar() as show:
        for done, (name, batch) in enumerate(tasks):
            show(f"{name}, batch {batch}", done, len(tasks))
            networks.append(measure(name, batch, options.bf16, options.isa))
    notes: list[str] = []
    console = make_console()
    if not console.is_terminal:
        console.width = FILE_WIDTH
    for device, name in NAMES.items():
        console.print(f"{device}: {name}")
    console.print("medians in ms; ratios are to the faster of ONNX Runtime, LiteRT and OpenVINO")
    if options.isa:
        console.print(limited_isa.make_table(networks, options.isa))
        notes += [f"{engine}: {problem}" for network in networks for engine, problem in network.problems.items()]
    else:
        console.print(make_table(networks, notes))
        for line in _summary(networks):
            console.print(line)
    for number, note in enumerate(notes, 1):
        console.print(f"[{number}] {note}")


if __name__ == "__main__":
    main()
