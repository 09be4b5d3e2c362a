"""An inference engine in a child process, so that engines share neither thread pools nor memory.

``python -m tests.benchmarks.engine_process FILE_DESCRIPTOR`` is the child process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks.engines import Inference

# Seconds that loading a model, or a turn, may take.
TIME_LIMIT = 300
# Seconds for a process to end by itself.
ENDING_SECONDS = 10
# Beginnings of the lines of OpenVINO that come before the reason of an error.
_PREAMBLE = ("Exception from ", "Check ", "FrontEnd API failed")


class EngineError(Exception):
    """An engine cannot run a model. The text is one line."""


class Turn(NamedTuple):
    """Inferences in a row: the seconds of each, and the resident bytes of the process, after them and the peak."""

    seconds: list[float]
    resident: int
    peak: int


class EngineProcess:
    """A child process that has loaded a model and run it once. Use as a context manager.

    Raises EngineError if that fails. ``load`` is pickled; it returns the function that runs an inference.
    ``environment``: further variables, which libraries read when they are loaded.
    """

    def __init__(self, load: Callable[[], Inference], environment: Mapping[str, str] | None = None) -> None:
        self._connection, theirs = Pipe()
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        null = subprocess.DEVNULL
        with theirs:
            variables = {**os.environ, **(environment or {})}
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdout=null, stderr=null, env=variables
            )
        try:
            if problem := self._ask(load):
                raise EngineError(problem)
        except EngineError:
            self.close()
            raise

    def run(self, seconds: float = 0.0) -> Turn:
        """Run inferences for some time, at least one, after one that wakes sleeping threads and is not counted."""
        return Turn(*self._ask(seconds))

    def close(self) -> None:
        """End the process, which ends by itself unless it is still at work."""
        self._connection.close()
        try:
            self._process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> EngineProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _ask(self, request: object) -> Any:
        try:
            self._connection.send(request)
            if not self._connection.poll(TIME_LIMIT):
                raise EngineError(f"takes more than {TIME_LIMIT} s")
            return self._connection.recv()
        except (EOFError, OSError):
            raise EngineError(f"its process ends with status {self._process.wait()}") from None


def serve(connection: Connection) -> None:
    """Load a model, then run it whenever the parent process asks for it, until that closes the connection."""
    try:
        infer = connection.recv()()
        infer()
    except Exception as error:
        connection.send(_one_line(error))
        return
    connection.send("")
    while True:
        try:
            seconds = connection.recv()
        except EOFError:
            return
        connection.send((_time(infer, seconds), _memory("VmRSS"), _memory("VmHWM")))


def _time(infer: Inference, seconds: float) -> list[float]:
    infer()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while True:
        started = time.perf_counter()
        infer()
        ended = time.perf_counter()
        times.append(ended - started)
        if ended >= end:
            return times


def _memory(key: str) -> int:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key)]
    return 1024 * int(line.split()[1])


def _one_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    text = next((line for line in lines if line and not line.startswith(_PREAMBLE)), "")
    return f"{type(error).__name__}: {text}"


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
