"""Child processes that run cases, so that a crash, a hang or a lack of memory is attributed to its case."""

from __future__ import annotations

import faulthandler
import importlib
import logging
import multiprocessing
import os
import resource
import shutil
import signal
import tempfile
import traceback
import unicodedata
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import NoneType

from hetero.system.errors import HeteroError
from tests import peak_memory
from tests.robustness.damage import Case, Files
from tests.robustness.running import TooMuchMemoryError

SECONDS = 20
# The limit of a child's memory. A model that needs more when it runs, as valid ones may, must be refused for lack of
# memory; reading and compiling have a smaller limit, see running.py.
MEMORY = 2 << 30
# A child that has used more is replaced, so that the next case starts with enough memory.
WORN = MEMORY // 4
PASSED = ("accepted", "refused", "short of memory")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case: one of PASSED, or a failure such as ``crash``, with the reason in ``text``."""

    kind: str
    text: str = ""
    memory: int = 0  # the peak of the child in bytes

    @property
    def failed(self) -> bool:
        return self.kind not in PASSED


class Worker:
    """A child process for cases, replaced after a case that it does not survive.

    A case hangs if it takes more than ``seconds``.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._folder = Path(tempfile.mkdtemp(prefix="hetero-robustness-"))
        self._process: multiprocessing.process.BaseProcess | None = None

    def run(self, case: Case, samples: list[Files]) -> Outcome:
        """Make the files of a case in the child and run its format there."""
        return self._ask(case, samples[case.sample])

    def replay(self, module: str, files: Files) -> Outcome:
        """Run a format on files as they are."""
        return self._ask(Case(module, 0, ()), files)

    def close(self) -> None:
        self._stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ask(self, case: Case, sample: Files) -> Outcome:
        if self._process is None:
            self._start()
        try:
            self._connection.send((case, sample))
            self._connection.recv()  # the files are there
            if self._connection.poll(self._seconds):
                outcome = self._connection.recv()
                if outcome.memory > WORN:
                    self._stop()
                return outcome
        except (EOFError, ConnectionError):
            self._process.join()
            code = self._process.exitcode
            return self._lost("crash", f"it ended with {signal.Signals(-code).name if code and code < 0 else code}")
        self._process.join(2)  # until faulthandler has written the stacks
        return self._lost("hang", f"it took more than {self._seconds} s")

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._folder, self._seconds), daemon=True)
        self._process.start()
        theirs.close()
        self._connection.recv()  # it is ready

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None
            self._connection.close()

    def _lost(self, kind: str, reason: str) -> Outcome:
        self._stop()
        log = self._folder / "faults"
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines()] if log.exists() else []
        return Outcome(kind, "\n".join([reason, *lines[:60]]))


def _serve(connection: Connection, folder: Path, seconds: float) -> None:
    """Run cases until the parent ends."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    logging.getLogger("hetero").setLevel(logging.CRITICAL)
    with open(folder / "faults", "a") as faults:
        faulthandler.enable(faults)
        os.dup2(faults.fileno(), 1)
        os.dup2(faults.fileno(), 2)
        connection.send("ready")
        while True:
            try:
                case, sample = connection.recv()
            except EOFError:
                return
            faults.truncate(0)
            module = importlib.import_module(case.module)
            write_files(folder / "case", case.make(sample))
            connection.send("started")
            faulthandler.dump_traceback_later(seconds, file=faults)
            peak_memory.start()
            kind, text = _outcome(module.run, folder / "case")
            faulthandler.cancel_dump_traceback_later()
            memory = peak_memory.read()
            if memory > MEMORY:
                kind, text = "memory", f"it used {memory >> 20} MB, then: {kind} {text}"
            connection.send(Outcome(kind, text, memory))


def _outcome(run: Callable[[Path], None], folder: Path) -> tuple[str, str]:
    try:
        run(folder)
        return "accepted", ""
    except TooMuchMemoryError as error:
        return "memory", str(error)
    except HeteroError as error:
        cause = error.__cause__
        if isinstance(cause, MemoryError):
            return "short of memory", str(error)
        # The form in which device_errors reports unexpected exceptions.
        if not isinstance(cause, (HeteroError, NoneType)) and f"{type(cause).__name__}: " in str(error):
            return "foreign", _described(error)
        # With line breaks or escape sequences a name in a file could write anything to a terminal or a log.
        if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in str(error)):
            return "message", _described(error)
        return "refused", str(error)
    except BaseException as error:
        return "foreign", _described(error)


def _described(error: BaseException) -> str:
    """Describe an error in one line, followed by its traceback."""
    frames = "".join(traceback.format_exception(error, limit=-6))
    return f"{type(error).__name__}: {str(error)!r:.500}\n{frames:.6000}"


def write_files(folder: Path, files: Files) -> None:
    """Write the files into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
