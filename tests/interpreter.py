"""A new Python interpreter, for tests of what happens at its start or end, or with other environment variables."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable


def run_python(
    code: str, *arguments: str, timeout: float = 300, preexec_fn: Callable[[], None] | None = None, **environment: str
) -> tuple[str, str]:
    """Run code in a new interpreter, and return what it prints and logs. Fails if the exit status is not 0.

    Modules are found as in this process. ``environment`` adds variables.
    """
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | environment
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=variables, preexec_fn=preexec_fn, capture_output=True, text=True,
        timeout=timeout,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.strip()
