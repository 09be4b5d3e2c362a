"""``python -m tests.programs [--write] [NAME …]``: run programs with OpenVINO, and with hetero on three devices.

A NAME is that of a file or of a group; by default all programs run. Prints a row for each program, and why one fails;
``--write`` puts the rows into docs/openvino_programs.md. Exits with 1 if a program fails or its results differ from
those with OpenVINO.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.programs import catalog
from tests.programs.catalog import DEVICES, Program, Row

# The largest difference of numbers, as a part of the largest one, unless a program allows another.
TOLERANCE = 1e-3
_VERSION = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"


class ProgramError(Exception):
    """A program ended with an error; the message is the last line that it printed."""


def main(arguments: list[str]) -> int:
    names = {argument for argument in arguments if argument != "--write"}
    chosen = [program for program in catalog.programs() if not names or names & {program.group, program.path.stem}]
    rows = {}
    for program in chosen:
        row = rows[program.job] = run(program)
        print(" | ".join([*row[:3], *row.results]), flush=True)
        if "--write" in arguments:
            catalog.document(rows, catalog.programs())
    wrong = [row for row in rows.values() if row.version and set(row.results) != {"equal"}]
    return int(bool(wrong) or not rows)


def run(program: Program) -> Row:
    """Run a program with OpenVINO, and with hetero on each device, and return its row of the table."""
    try:
        version = _run_python(program, ["-c", _VERSION, program.package], ".").strip()
    except (OSError, ProgramError):
        return Row(program.package, "", program.job, ("not installed",) * len(DEVICES))
    with TemporaryDirectory() as folder:
        try:
            expected = _results(program, ["-m", "tests.programs.oracle"], folder)
        except ProgramError as error:
            return Row(program.package, version, program.job, (f"error with OpenVINO: {error}",) * len(DEVICES))
        results = []
        for device in DEVICES:
            try:
                command = ["-m", "hetero.as_openvino", "--precision", "f32", "--device", device]
                results.append(difference(expected, _results(program, command, folder)) or "equal")
            except ProgramError as error:
                results.append(f"error: {error}")
    return Row(program.package, version, program.job, tuple(results))


def _results(program: Program, command: list[str], folder: str) -> Mapping[str, np.ndarray]:
    """Run a program in an empty folder, and return what it saves."""
    with TemporaryDirectory(dir=folder) as work:
        _run_python(program, [*command, str(program.path), "results.npz"], work)
        with np.load(Path(work) / "results.npz") as results:
            return dict(results)


def _run_python(program: Program, arguments: list[str], folder: str) -> str:
    """Run the Python of a program's environment, and return what it prints. Raises ProgramError."""
    binaries = program.environment / "bin"
    path = os.pathsep.join([str(binaries), os.environ["PATH"]])
    variables = os.environ | {"PATH": path, "PYTHONPATH": str(catalog.ROOT), "HF_HUB_OFFLINE": "1"}
    command = [str(binaries / "python"), *arguments]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        last = next(reversed(done.stderr.strip().splitlines()), f"exit status {done.returncode}")
        raise ProgramError(last.replace("|", "/"))
    return done.stdout


def difference(expected: Mapping[str, np.ndarray], found: Mapping[str, np.ndarray]) -> str:
    """Return how the results of a program differ; an empty text if they are equal."""
    tolerance = float(expected.get("tolerance", TOLERANCE))
    if expected.keys() != found.keys():
        return f"results {sorted(found)}, not {sorted(expected)}"
    for name, array in expected.items():
        other = found[name]
        if array.shape != other.shape or array.dtype.kind != other.dtype.kind:
            return f"{name}: {other.dtype}{list(other.shape)}, not {array.dtype}{list(array.shape)}"
        if array.dtype.kind != "f":
            if not np.array_equal(array, other):
                return f"{name}: other values"
        elif array.size and not np.allclose(other, array, 0, tolerance * (np.abs(array).max() or 1), equal_nan=True):
            return f"{name}: differs by {np.abs(other - array).max() / (np.abs(array).max() or 1):.1e} of its largest"
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
