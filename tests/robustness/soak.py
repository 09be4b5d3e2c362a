"""Soak test: five models are compiled, run and dropped repeatedly, while the memory of the process is measured.

Memory is read between rounds, when every model has been dropped. Before the clock starts, one round builds kernels and
fills caches. Linux only, as it reads /proc.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import logging
import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

from rich.box import SIMPLE_HEAD
from rich.table import Table

from hetero import Core
from tests import zoo

MODELS = ("magika", "ocr_direction", "hey_jarvis", "alexa", "face_detection")
INFERENCES = 3
SILENCE = 600  # seconds for a round, in which kernels may be built, before the soak counts as hanging
# The part by which memory may grow between the second minute and the last. Measured: 245 to 251 MB with PoCL, 351
# to 361 MB with Intel's on a busy machine, while tracemalloc found nothing that Python keeps: heap fragments, and
# about 1 kB that Intel's runtime keeps of each program that was loaded and run. A model that stays behind once in each
# round, 0.5 MB for the smallest, adds 15 %.
TOLERANCE = 0.05


@dataclass
class Soak:
    """Memory in bytes after each round, with the seconds since the start."""

    seconds: float
    devices: Sequence[str] = ("TEMPLATE", "HETERO:GPU,TEMPLATE")
    samples: list[tuple[float, int]] = field(default_factory=list)
    error: str = ""

    def run(self, progress: Callable[[float], None]) -> None:
        """Run the test in a child process; ``progress`` is called with the elapsed seconds."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, self.seconds, self.devices), daemon=True)
        process.start()
        theirs.close()
        try:
            while ours.poll(SILENCE):
                message = ours.recv()
                if isinstance(message, str):
                    self.error = message
                    return
                self.samples.append(message)
                progress(message[0])
            self.error = f"no round has ended within {SILENCE} s"
        except EOFError:
            process.join()
            if process.exitcode:
                self.error = f"the process ended with {process.exitcode}"
        finally:
            process.kill()

    @property
    def growth(self) -> float:
        """The relative growth of memory from the second minute to the last; in a short run from the second third."""
        minute = min(60.0, self.seconds / 3)
        early = [memory for moment, memory in self.samples if minute <= moment < 2 * minute]
        late = [memory for moment, memory in self.samples if moment >= self.seconds - minute]
        return median(late) / median(early) - 1 if early and late else float("nan")

    @property
    def failed(self) -> bool:
        return bool(self.error) or not self.growth <= TOLERANCE

    def table(self) -> Table:
        """Return the curve of the memory: the median of each minute, with a bar."""
        table = Table("minute", "rounds", "MB", "", box=SIMPLE_HEAD)
        minutes: dict[int, list[int]] = {}
        for moment, memory in self.samples:
            minutes.setdefault(int(moment // 60) + 1, []).append(memory)
        most = max((memory for _, memory in self.samples), default=1)
        for minute, samples in minutes.items():
            memory = median(samples)
            table.add_row(str(minute), str(len(samples)), f"{memory / 1e6:.1f}", "█" * round(40 * memory / most))
        return table


def _work(connection: Connection, seconds: float, devices: Sequence[str]) -> None:
    logging.getLogger("hetero").setLevel(logging.ERROR)
    try:
        core = Core()
        inputs = {name: zoo.inputs(name) for name in MODELS}
        for device in devices:
            _round(core, device, inputs)
        started = time.monotonic()
        while (elapsed := time.monotonic() - started) < seconds:
            for device in devices:
                _round(core, device, inputs)
            gc.collect()
            _return_freed_memory()
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            connection.send((elapsed, pages * resource.getpagesize()))
    except Exception as error:
        connection.send(f"{type(error).__name__}: {error}")


def _return_freed_memory() -> None:
    """Return freed memory from glibc to the system; with another C library the samples are noisier."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _round(core: Core, device: str, inputs: dict[str, dict]) -> None:
    for name in MODELS:
        request = core.compile_model(zoo.path(name), device).create_infer_request()
        for _ in range(INFERENCES):
            request.start_async(inputs[name])
            request.wait()
