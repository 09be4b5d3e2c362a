"""Child processes that run a function of this package."""

from __future__ import annotations

import signal
import subprocess
import sys
from multiprocessing import spawn
from pathlib import Path
from typing import IO, Any

# Bypasses hetero_opencl/__init__.py, because importing the plugin API takes longer than everything else together.
_CODE = """
import sys, types
sys.path[:] = {path}
package = types.ModuleType("hetero_opencl")
package.__path__ = [{folder!r}]
sys.modules["hetero_opencl"] = package
from hetero_opencl.{module} import {function} as run
run(*{arguments!r})
"""


def start(module: str, function: str, arguments: list[Any], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a process with pipes for its input and output. Raises OSError if it cannot be started.

    Uses the interpreter of multiprocessing, see multiprocessing.set_executable.
    """
    code = _CODE.format(
        path=sys.path, folder=str(Path(__file__).parent), module=module, function=function, arguments=arguments
    )
    executable = spawn.get_executable() or sys.executable
    return subprocess.Popen([executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)


def describe_end(returncode: int, errors: IO[bytes]) -> str:
    """Describe how a process ended, with the line of its error stream that gives the reason."""
    how = f"was ended by {signal.Signals(-returncode).name}" if returncode < 0 else f"ended with status {returncode}"
    errors.seek(0)
    lines = [line.strip() for line in errors.read(1 << 16).decode(errors="replace").splitlines() if line.strip()]
    # The reason is the last line of a traceback, but the first of an abort of LLVM.
    reason = next((line for line in lines if "LLVM ERROR" in line), lines[-1] if lines else "")
    return f"{how} ({reason[:200]})" if reason else how
