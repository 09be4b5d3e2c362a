"""Kernel compiler that builds in child processes, because a driver's compiler may abort."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

import pyopencl as cl

from hetero.errors import DeviceError
from hetero_opencl.build_process import BUILT, read_message, write_message
from hetero_opencl.child_process import describe_end, start
from hetero_opencl.platforms import identity

# Time limit of a build. Most take a fraction of a second, some half a minute on a busy machine.
BUILD_SECONDS = 300.0


@dataclass(frozen=True)
class BuildRequest:
    """A source text, and the launches for which a driver generates code too; see build_process._launch."""

    source: str
    launches: Sequence[tuple[str, Sequence[int], Sequence[int], Sequence[int | tuple[str, str]]]] = ()


class Compiler:
    """Builds kernels for one device in up to one process per processor core.

    Processes are started on demand, and exit after being idle for some seconds.
    """

    def __init__(self, device: cl.Device) -> None:
        self._identity = identity(device)
        self.idle: list[_BuildProcess] = []
        self._busy: set[_BuildProcess] = set()

    def build_all(self, requests: Iterable[BuildRequest]) -> list[bytes | Exception]:
        """Build sources in parallel; return the binary or the error of each.

        The error is a cl.Error with the compiler's output, or a DeviceError if the compiler aborts or does not end.
        """
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            try:
                return list(threads.map(self._build, requests))
            except BaseException:  # Ctrl-C, for example: nobody waits for the results
                threads.shutdown(wait=False, cancel_futures=True)
                for process in list(self._busy):
                    process.process.kill()
                raise

    def _build(self, request: BuildRequest) -> bytes | Exception:
        process = None
        try:
            while self.idle and not (process := self.idle.pop()).is_alive():
                process = None
            process = process or _BuildProcess(self._identity)
            self._busy.add(process)
            answer = process.build(request)
        except DeviceError as error:
            return error
        finally:
            self._busy.discard(process)
        self.idle.append(process)
        return answer


class _BuildProcess:
    """A child process that runs build_process.serve for one device."""

    def __init__(self, device_identity: list[str | int]) -> None:
        # In append mode, so that it can be truncated while the process has it open.
        self._errors = tempfile.TemporaryFile("a+b")  # noqa: SIM115 - it lives as long as the process
        try:
            self.process = start("build_process", "serve", [device_identity], self._errors)
        except OSError as error:
            raise DeviceError(f"cannot start a process that builds kernels: {error}") from error

    def is_alive(self) -> bool:
        """Return whether the process answers an empty message."""
        try:
            write_message(self.process.stdin)
        except OSError:
            return False
        return read_message(self.process.stdout) is not None

    def build(self, request: BuildRequest) -> bytes | cl.Error:
        """Return the binary or the compiler's error. Raises DeviceError if the process ends or exceeds the limit."""
        self._errors.truncate(0)
        watchdog = threading.Timer(BUILD_SECONDS, self.process.kill)
        watchdog.start()
        try:
            write_message(self.process.stdin, json.dumps(asdict(request)).encode())
            answer = read_message(self.process.stdout)
        except OSError:  # the process has ended
            answer = None
        finally:
            is_late = not watchdog.is_alive()
            watchdog.cancel()
        if answer is None:
            end = f"took more than {BUILD_SECONDS:g} s" if is_late else describe_end(self.process.wait(), self._errors)
            raise DeviceError(f"the process of its compiler {end}")
        return answer[1:] if answer[:1] == BUILT else cl.RuntimeError(answer[1:].decode(errors="replace"))
