"""``python -m tests.benchmarks``: run all benchmarks and print medians and ratios."""

from __future__ import annotations

import logging
import os
import platform
from itertools import chain

from tests.benchmarks import (
    boundaries,
    caching,
    handover,
    import_time,
    inference,
    kernel_builds,
    memory,
    overlap,
    partitioning,
    placement,
    reading,
    reference,
    requests,
    tracing,
    transposes,
)


def main() -> None:
    logging.getLogger("hetero.HETERO.placement").setLevel(logging.ERROR)  # hides the placement of tiny models
    print(f"{platform.machine()}, {os.cpu_count()} cores; medians of interleaved runs, ratio to the first of each task")
    compared = (import_time, boundaries, overlap, requests, tracing, handover, inference, transposes, placement)
    for comparison in chain.from_iterable(module.compare() for module in compared):
        print("\n".join(comparison.lines()), flush=True)
    for lines in chain(
        (
            reading.compare(),
            caching.compare(),
            kernel_builds.compare(),
            partitioning.compare(),
            memory.compare(),
            transposes.sinking(),
        ),
        reference.compare(),
    ):
        print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main()
