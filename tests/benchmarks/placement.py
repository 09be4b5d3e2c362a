"""Placement strategies for the models of the zoo: ``python -m tests.benchmarks.placement [NAME …]``.

Each model is calibrated first, in a temporary COSTS_DIR.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence

from hetero import Core
from hetero.graph import port_name
from hetero.run.calibrate import calibrate
from tests import zoo
from tests.benchmarks.interleaved import Comparison, interleave

DEVICES = "HETERO:GPU,TEMPLATE"
ROUNDS = 15
SECONDS = 5.0


def compare(names: Sequence[str] = ()) -> Iterator[Comparison]:
    core = Core()
    with tempfile.TemporaryDirectory() as folder:
        for name in names or zoo.ONNX:
            model, feeds = core.read_model(zoo.path(name)), zoo.inputs(name)
            calibrate(core, model, DEVICES, [feeds[port_name(p)] for p in model.inputs], {"COSTS_DIR": folder}, SECONDS)
            candidates = {}
            for label, device, strategy in (
                ("GREEDY", DEVICES, "GREEDY"),
                ("MIN_CUT", DEVICES, "MIN_CUT"),
                ("GPU", "GPU", ""),
                ("TEMPLATE", "TEMPLATE", ""),
            ):
                options = {"PLACEMENT": strategy, "COSTS_DIR": folder} if strategy else {}
                request = core.compile_model(zoo.path(name), device, options).create_infer_request()
                candidates[label] = lambda request=request, feeds=feeds: request.infer(feeds, True, True)
            yield interleave(name, candidates, ROUNDS)


if __name__ == "__main__":
    for comparison in compare(sys.argv[1:]):
        print("\n".join(comparison.lines()), flush=True)
