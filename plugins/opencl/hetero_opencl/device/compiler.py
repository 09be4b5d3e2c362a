"""Kernel compiler that builds in child processes, because a driver's compiler may abort."""

from __future__ import annotations

import atexit
import contextlib
import os
import weakref
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from typing import Any

import pyopencl as cl

from hetero.plugin import Executor
from hetero.system.errors import DeviceError
from hetero_opencl.device.child_process import ChildProcess, ProcessFailure
from hetero_opencl.device.platforms import identity

# Time limit of a build. Most take a fraction of a second, some half a minute on a busy machine.
BUILD_SECONDS = 300.0
_compilers: weakref.WeakSet[Compiler] = weakref.WeakSet()


@dataclass(frozen=True)
class BuildRequest:
    """A source text, and the launches for which a driver generates code too: the arguments of build_process._launch."""

    source: str
    launches: Sequence[tuple[str, Sequence[int], Sequence[int], Sequence[int | tuple[str, str]]]] = ()


class Compiler:
    """Builds kernels for one device in up to one process per processor core.

    Processes are started on demand, and exit after being idle for some seconds.
    """

    def __init__(self, device: cl.Device) -> None:
        self._identity = identity(device)
        self.idle: list[ChildProcess] = []
        self._busy: set[ChildProcess] = set()
        self._pending: weakref.WeakSet[Future[Any]] = weakref.WeakSet()
        _compilers.add(self)

    def build_all(self, requests: Iterable[BuildRequest]) -> list[bytes | Exception]:
        """Build sources in parallel, the longest first; return the binary or the error of each.

        The error is a cl.Error with the compiler's output, or a DeviceError if the compiler aborts or does not end.
        """
        # Threads of concurrent.futures would keep the program from ending until all is built.
        executor = Executor("kernel builds", os.cpu_count() or 1)
        builds: list[tuple[BuildRequest, Future[bytes | Exception]]] = [(request, Future()) for request in requests]
        try:
            for request, build in sorted(builds, key=lambda pair: -len(pair[0].source)):
                self._pending.add(build)
                executor.submit(self._run, request, build)
            return [build.result() for _, build in builds]
        except BaseException:  # Ctrl-C, for example: nobody waits for the results
            self.abandon([build for _, build in builds])
            raise

    def abandon(self, builds: Iterable[Future[Any]] = ()) -> None:
        """Cancel these builds, by default all, and end the processes that are busy."""
        for build in list(builds or self._pending):
            build.cancel()
        for process in list(self._busy):
            process.close()

    def _run(self, request: BuildRequest, build: Future[bytes | Exception]) -> None:
        if build.set_running_or_notify_cancel():
            try:
                build.set_result(self._build(request))
            except BaseException as error:
                build.set_exception(error)

    def _build(self, request: BuildRequest) -> bytes | Exception:
        try:
            process = self._idle_process() or ChildProcess("device.build_process", "build")
            self._busy.add(process)
            try:
                answer = process.call(BUILD_SECONDS, device_identity=self._identity, **asdict(request))
            finally:
                self._busy.discard(process)
        except ProcessFailure as failure:
            return DeviceError(f"the process of its compiler {failure}")
        self.idle.append(process)
        return bytes.fromhex(answer["binary"]) if "binary" in answer else cl.RuntimeError(answer["error"])

    def _idle_process(self) -> ChildProcess | None:
        """Take a process that has not ended from the list of idle ones."""
        with contextlib.suppress(IndexError):  # the list is empty, maybe because another thread took the last one
            while True:
                process = self.idle.pop()
                if process.is_alive():
                    return process
        return None


@atexit.register
def _abandon_all() -> None:
    """End builds on other threads when the program ends, as of a model that AUTO compiles in the background."""
    for compiler in list(_compilers):
        compiler.abandon()
