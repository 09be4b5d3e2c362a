"""``python -m tests.benchmarks``: run them all and print medians and ratios."""

from __future__ import annotations

import os
import platform
from itertools import chain

from tests.benchmarks import boundaries, caching, handover, import_time, inference, reading, reference, requests


def main() -> None:
    print(f"{platform.machine()}, {os.cpu_count()} cores; medians of interleaved runs, ratio to the first of each task")
    for comparison in chain(
        (import_time.compare(), boundaries.compare()), requests.compare(), handover.compare(), inference.compare()
    ):
        print("\n".join(comparison.lines()), flush=True)
    for lines in chain((reading.compare(), caching.compare()), reference.compare()):
        print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main()
