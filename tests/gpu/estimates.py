"""Estimated times of networks on GPUs that are not at hand: ``python -m tests.gpu.estimates [PROFILE…]``.

Prints, for each GPU, a row per network with the time, the fraction of peak, and how many of the launches of gemm have
less than two work-groups per unit. With ``--store FILE`` the rows are stored; with ``--before FILE`` they are compared
with stored ones.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from hetero_opencl.estimate.compilers.toolchain import VARIABLE
from hetero_opencl.estimate.lower_for_profile import lower_for_profile
from hetero_opencl.estimate.report import estimate_program, make_model
from hetero_opencl.profiles.hardware import hardware_of, known_gpus

from hetero import Model, Parameter, Type, ops
from tests import zoo
from tests.gpu.programs import Example, decoders, zoo_models
from tests.gpu.tools import FOLDER

# The least work-groups per unit with which a launch fills a GPU.
FILLED = 2
SIZE = 2048


def networks() -> Iterator[tuple[str, Example]]:
    """Yield the networks of the zoo, a decoder that reads a prompt and one that adds a word, and a large gemm."""
    yield from zip(zoo.ONNX, zoo_models())
    yield from zip(("decoder, 64 words", "decoder, 1 word"), decoders())
    matrices = [Parameter(Type.f32, [SIZE, SIZE]) for _ in range(2)]
    model = Model(ops.MatMul(*matrices, False, False), matrices, "gemm")
    yield f"gemm of {SIZE}", Example(model, [np.zeros((SIZE, SIZE), np.float32)] * 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("profiles", nargs="*", default=known_gpus(), metavar="PROFILE")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--before", type=Path)
    options = parser.parse_args()
    os.environ.setdefault(VARIABLE, str(FOLDER))
    before = json.loads(options.before.read_text()) if options.before else {}
    models = {name: make_model(hardware_of(name)) for name in options.profiles}
    rows: dict[str, dict[str, list[float]]] = {name: {} for name in models}
    for network, (model, inputs) in networks():
        for name, performance in models.items():
            program = lower_for_profile(model.clone(), performance.hardware.profile(), inputs)
            estimate = estimate_program(program, performance)
            gemms = [one for launch, one in zip(program.launches, estimate.launches) if "gemm" in launch.kernel]
            few = sum(one.groups < FILLED * performance.hardware.units for one in gemms)
            rows[name][network] = [estimate.seconds, estimate.fraction_of_peak, few, len(gemms)]
            print(f"{name:10} {network:20} {estimate.seconds * 1e3:9.3f} ms", flush=True)
    for name, of_network in rows.items():
        print(f"\n{models[name].hardware.name}, estimated\n")
        columns = f"| network | time | % of peak | gemm launches under {FILLED} groups per unit |"
        print(columns + (" before |" if before else ""))
        print("|---|---|---|---|" + ("---|" if before else ""))
        for network, (seconds, fraction, few, count) in of_network.items():
            was = f" {before[name][network][0] * 1e3:.2f} ms |" if before else ""
            print(f"| {network} | {seconds * 1e3:.2f} ms | {100 * fraction:.1f} | {few:.0f} of {count:.0f} |{was}")
        zoo_rows = [row for network, row in of_network.items() if network in zoo.ONNX]
        few, count = (sum(row[index] for row in zoo_rows) for index in (2, 3))
        print(f"\nThe zoo: {few:.0f} of {count:.0f} gemm launches ({100 * few / max(count, 1):.0f} %)")
    if options.store:
        options.store.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
