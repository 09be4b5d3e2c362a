"""Compilation and first inference without caches, on OpenCL runtimes for CPUs.

Kernels are built in the process itself or in child processes.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests import zoo

# One operation shows the cost of a child process. The other models show the gain of parallel builds.
ONE_OPERATION = "one operation"
MODELS = (ONE_OPERATION, "magika", "ocr_recognition")
ROUNDS = 3


def compare() -> list[str]:
    """Return a line for each model, runtime and build mode: medians of interleaved runs, and ratios."""
    from hetero_opencl.device import present_devices

    devices = [index for index, device in enumerate(present_devices().usable) if device.profile.is_cpu_like]
    times: dict[tuple[str, int, str], list[float]] = {}
    for _ in range(ROUNDS):
        for name in MODELS:
            for device in devices:
                for mode in ("here", "in children"):
                    times.setdefault((name, device, mode), []).append(_seconds(name, device, mode))
    medians = {key: statistics.median(seconds) for key, seconds in times.items()}
    return [
        f"{f'cold start of {name}':32} {f'{present_devices().usable[device].handle.platform.name[:16]} {mode}':28} "
        f"{seconds:8.2f} s   {seconds / medians[name, device, 'here']:6.2f} x"
        for (name, device, mode), seconds in medians.items()
    ]


def _seconds(name: str, device: int, mode: str) -> float:
    from hetero_opencl.device import present_devices
    from hetero_opencl.trial import verdict_file

    with tempfile.TemporaryDirectory() as folder:
        verdicts = Path(folder) / "hetero/trials"
        verdicts.mkdir(parents=True)
        for present in present_devices().usable:
            shutil.copy(verdict_file(present.handle), verdicts)
        environment = os.environ | {"XDG_CACHE_HOME": folder, "POCL_CACHE_DIR": f"{folder}/pocl"}
        command = [sys.executable, "-m", "tests.benchmarks.kernel_builds", name, str(device), mode]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout)


def measure(name: str, device: str, mode: str) -> None:
    """Print the seconds of a compilation and the first inference, without cached kernels."""
    import numpy as np
    from hetero_opencl.device import present_devices

    import hetero
    from hetero import ops

    usable = present_devices().usable
    if mode == "here":
        usable[int(device)]._compiler = None
    core = hetero.Core()
    x = hetero.Parameter(hetero.Type.f32, [4], name="x")
    one = name == ONE_OPERATION
    model = hetero.Model(ops.Exp(x), [x]) if one else core.read_model(zoo.path(name))
    inputs = {"x": np.zeros(4, np.float32)} if one else zoo.inputs(name)
    started = time.perf_counter()
    core.compile_model(model, f"GPU.{device}" if len(usable) > 1 else "GPU")(inputs)
    print(time.perf_counter() - started)


if __name__ == "__main__":
    measure(*sys.argv[1:])
