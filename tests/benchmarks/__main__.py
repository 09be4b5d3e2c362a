"""``python -m tests.benchmarks [NAME …]``: run benchmarks, all by default, and print medians and ratios.

``inference``, ``kernels`` and ``tflite_cases`` are commands of their own.
"""

from __future__ import annotations

import argparse
import logging
import os
import platform
import sys
from collections.abc import Callable, Iterable, Sequence

from tests.benchmarks import (
    any_shape,
    boundaries,
    caching,
    cold_start,
    compilation,
    compressed_weights,
    decoding,
    handover,
    import_time,
    lengths,
    memory,
    outside_kernels,
    overlap,
    partitioning,
    placement,
    quantized,
    ray_nodes,
    reading,
    reference,
    requests,
    streams,
    tracing,
    transposes,
    tree_reading,
    virtual_devices,
)

_COMPARISONS = (
    import_time, compilation, boundaries, overlap, streams, tracing, handover, transposes,
    placement, outside_kernels, ray_nodes, tree_reading, any_shape,
)  # fmt: skip
# Each yields groups of lines, one group for each comparison.
BENCHMARKS: dict[str, Callable[[], Iterable[list[str]]]] = {
    **{
        module.__name__.rpartition(".")[2]: lambda compare=module.compare: (found.lines() for found in compare())
        for module in _COMPARISONS
    },
    **{
        module.__name__.rpartition(".")[2]: lambda compare=module.compare: [compare()]
        for module in (reading, caching, partitioning)
    },
    "sinking": lambda: [transposes.sinking()],
    "reference": reference.compare,
    "requests": requests.compare,
    "quantized": quantized.compare,
    "memory": memory.compare,
    "cold_start": cold_start.compare,
    "lengths": lengths.compare,
    "decoding": decoding.compare,
    "compressed_weights": compressed_weights.compare,
    "virtual_devices": virtual_devices.compare,
}


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__.partition(": ")[2])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all by default")
    names = parser.parse_args(arguments).names
    if unknown := [name for name in names if name not in BENCHMARKS]:
        parser.error(f"no benchmark named {', '.join(unknown)}: there are {', '.join(BENCHMARKS)}")
    logging.getLogger("hetero.HETERO.placement").setLevel(logging.ERROR)  # hides the placement of tiny models
    print(f"{platform.machine()}, {os.cpu_count()} cores; medians of interleaved runs, ratio to the first of each task")
    for name in names or BENCHMARKS:
        for lines in BENCHMARKS[name]():
            print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
