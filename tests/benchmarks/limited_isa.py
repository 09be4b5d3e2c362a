"""Device GPU on Intel's runtime, limited to an instruction set, against libraries with and without that limit.

ONNX Runtime and LiteRT have no such limit. The networks are those of ONNX or TensorFlow Lite that the libraries run.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hetero_opencl.device import intel
from rich.box import SIMPLE_HEAD
from rich.table import Table

from tests import zoo
from tests.benchmarks import engines

if TYPE_CHECKING:
    from tests.benchmarks.inference import Network

# The variables that limit Intel's OpenCL runtime, and oneDNN in OpenVINO, whose own code generator ignores it for some
# operations that are not convolutions or products.
VARIABLES: dict[str, dict[str, str]] = {"avx2": {intel.TARGET: "core-avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"}}
# Engines without a limit, and with one.
UNLIMITED = ("ONNX Runtime", "LiteRT", "OpenVINO", "GPU")
_GPU, _OPENVINO = "GPU, limited", "OpenVINO, limited"
ENGINES = (*UNLIMITED, _OPENVINO, _GPU)
# The ratios of the table: an engine and those of which the fastest is 1.
_RATIOS = (
    ("GPU", ("ONNX Runtime", "LiteRT", "OpenVINO")),
    (_GPU, ("ONNX Runtime", "LiteRT", "OpenVINO")),
    (_GPU, (_OPENVINO,)),
    (_GPU, ("GPU",)),
)


def loaders(name: str) -> dict[str, Callable[[Path, engines.Arrays], engines.Inference]]:
    """Return the functions that load a model of the zoo, by engine."""
    library = ("LiteRT", engines.on_litert) if name in zoo.TFLITE else ("ONNX Runtime", engines.on_onnxruntime)
    on_gpu, on_openvino = engines.on_intel_runtime, engines.on_openvino
    return {library[0]: library[1], "OpenVINO": on_openvino, "GPU": on_gpu, _OPENVINO: on_openvino, _GPU: on_gpu}


def environment(isa: str, engine: str) -> Mapping[str, str]:
    """Return the environment variables of an engine's process."""
    return VARIABLES[isa] if isa and engine not in UNLIMITED else {}


def make_table(networks: Sequence[Network], isa: str) -> Table:
    """Return a table of the times in ms, and of the ratios with their geometric mean and their maximum."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=f"limited: {isa}")
    table.add_column("network", no_wrap=True)
    pairs = [f"{engine} / {'faster library' if len(peers) > 1 else peers[0]}" for engine, peers in _RATIOS]
    for column in ("batch", *ENGINES, *pairs):
        table.add_column(column, justify="right", max_width=14)
    for network in networks:
        times = [f"{network.seconds[one] * 1e3:.2f}" if one in network.seconds else "" for one in ENGINES]
        ratios = ["" if ratio is None else f"{ratio:.2f}×" for ratio in (network.ratio(*pair) for pair in _RATIOS)]
        table.add_row(network.name, str(network.batch), *times, *ratios)
    table.add_section()
    for title, summary in (("geometric mean", statistics.geometric_mean), ("largest", max)):
        columns = [[ratio for network in networks if (ratio := network.ratio(*pair))] for pair in _RATIOS]
        table.add_row(title, "", *[""] * len(ENGINES), *(f"{summary(one):.2f}×" if one else "" for one in columns))
    return table
