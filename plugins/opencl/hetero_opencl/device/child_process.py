"""Child processes that call a function of this package, because a driver's compiler may abort its process.

Requests and answers are lines of JSON on the standard streams.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from multiprocessing import spawn
from pathlib import Path
from typing import Any

from hetero.system.errors import DeviceError

# A child process ends by itself when it has had no request for this many seconds. It holds some 100 MB, and takes half
# a second to start.
IDLE_SECONDS = 30.0

# Bypasses hetero_opencl/__init__.py, because importing the plugin API takes longer than everything else together.
_CODE = """
import sys, types
sys.path[:] = {path}
package = types.ModuleType("hetero_opencl")
package.__path__ = [{folder!r}]
sys.modules["hetero_opencl"] = package
from hetero_opencl.device.child_process import serve
from hetero_opencl.{module} import {function}
serve({function}, {idle_seconds})
"""


class ProcessFailure(DeviceError):
    """A child process cannot start, ends before it answers, or takes too long.

    ``is_final`` is False if it cannot start, is killed or raises an error, as memory may have been short.
    """

    def __init__(self, problem: str, is_final: bool = False) -> None:
        super().__init__(problem)
        self.is_final = is_final


class ChildProcess:
    """A process that runs ``hetero_opencl.MODULE.FUNCTION`` for each request. Raises ProcessFailure if it cannot start.

    Uses the interpreter of multiprocessing, see multiprocessing.set_executable.
    """

    def __init__(self, module: str, function: str) -> None:
        # In append mode, so that it can be truncated while the process has it open.
        self._errors = tempfile.TemporaryFile("a+b")  # noqa: SIM115 - it lives as long as the process
        values = {"module": module, "function": function, "idle_seconds": IDLE_SECONDS}
        code = _CODE.format(path=sys.path, folder=str(Path(__file__).parents[1]), **values)
        command, pipe = [spawn.get_executable() or sys.executable, "-c", code], subprocess.PIPE
        try:
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._errors)
        except OSError as error:
            raise ProcessFailure(f"cannot be started: {error}") from error

    def call(self, seconds: float, **arguments: Any) -> Any:
        """Return the result of the function for these arguments; both are JSON values.

        Raises ProcessFailure if the process ends before it answers or exceeds the time limit.
        """
        self._errors.truncate(0)
        watchdog = threading.Timer(seconds, self.process.kill)
        watchdog.daemon = True  # the program may end before
        watchdog.start()
        try:
            answer = self._ask(arguments)
        finally:
            is_late = not watchdog.is_alive()
            watchdog.cancel()
        if answer is not None:
            return json.loads(answer)
        status = self.process.wait()
        if is_late:
            raise ProcessFailure(f"took more than {seconds:g} s", is_final=True)
        raise ProcessFailure(self._describe_end(status), is_final=status not in (1, -9))  # 9 is SIGKILL

    def is_alive(self) -> bool:
        """Return whether the process answers an empty request."""
        return self._ask(None) is not None

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()

    def _ask(self, request: object) -> bytes | None:
        """Return the answer to a request, or None if the process ends before it has answered."""
        requests, answers = self.process.stdin, self.process.stdout
        assert requests and answers  # pipes
        try:
            requests.write(json.dumps(request).encode() + b"\n")
            requests.flush()
        except OSError:
            return None
        answer = answers.readline()
        return answer if answer.endswith(b"\n") else None

    def _describe_end(self, status: int) -> str:
        """Describe how the process ended, with the line of its error stream that gives the reason."""
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        self._errors.seek(0)
        text = self._errors.read(1 << 16).decode(errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        # The reason is the last line of a traceback, but the first of an abort of LLVM.
        reason = next((line for line in lines if "LLVM ERROR" in line), lines[-1] if lines else "")
        return f"{how} ({reason[:200]})" if reason else how


def serve(function: Callable[..., Any], idle_seconds: float) -> None:
    """Answer requests in a child process until the input ends or no request comes for ``idle_seconds``.

    A request is an object with the arguments of the function, or null, which is answered by null.
    """
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # drivers that print to the standard output now print to the standard error
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    warnings.simplefilter("ignore")  # pyopencl's, about compiler output
    # On Windows, select does not support pipes.
    while (os.name == "nt" or select.select([requests], [], [], idle_seconds)[0]) and (line := requests.readline()):
        arguments = json.loads(line)
        answers.write(json.dumps(arguments and function(**arguments)).encode() + b"\n")
        answers.flush()
