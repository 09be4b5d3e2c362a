"""Time of ``import hetero``, against other runtimes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from tests.benchmarks.interleaved import Comparison, interleave

MODULES = ("hetero", "onnxruntime", "openvino")
ROUNDS = 10


def compare() -> Iterator[Comparison]:
    """Compare the time in which a new interpreter starts, imports one module and exits."""
    # Allow bytecode files, as in an installation: pip compiles the peers when it installs them.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}

    def start(module: str):
        return lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True, env=environment)

    yield interleave("import", {module: start(module) for module in MODULES}, ROUNDS)
