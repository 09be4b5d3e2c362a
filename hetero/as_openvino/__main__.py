"""The command line: ``python -m hetero.as_openvino [options] program.py [arguments]``."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys

from hetero.as_openvino.settings import Settings

# Commands that OpenVINO installs, and the modules whose function main they call.
TOOLS = {"benchmark_app": "openvino.tools.benchmark.main", "ovc": "openvino.tools.ovc.main"}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m hetero.as_openvino", description="Run a program that imports openvino with hetero in its place."
    )
    parser.add_argument(
        "--device", action="append", default=[], metavar="[NAME=]DEVICE",
        help="run models of the program on DEVICE, such as HETERO:CPU, instead of on the device NAME that it "
        "asks for, or on any device; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--precision", choices=["fastest", "f32"], default="fastest",
        help="how devices compute f32 models: in bf16 or f16 if that is faster, as in OpenVINO, or in f32 unless the "
        "program says otherwise",
    )  # fmt: skip
    parser.add_argument("--missing", action="store_true", help="list the names of openvino that hetero lacks, at exit")
    parser.add_argument("program", help="a Python file, a command, or an option of Python such as -m")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's arguments")
    # What follows the options belongs to the program, even if it begins with a dash.
    start = next((index for index, word in enumerate(sys.argv) if index and not _is_option(index)), len(sys.argv))
    given = parser.parse_args([*sys.argv[1:start], *(["--"] if start < len(sys.argv) else []), *sys.argv[start:]])
    devices = dict(device.rpartition("=")[::2] for device in given.device)
    environment = os.environ | Settings(devices, given.precision, given.missing).environment()
    command = [given.program, *given.arguments]
    executable = None if os.path.exists(given.program) else shutil.which(given.program)
    if given.program in TOOLS:
        code = f"import sys; from {TOOLS[given.program]} import main; sys.exit(main())"
        executable, command = sys.executable, [sys.executable, "-c", code, *given.arguments]
    elif not executable:
        executable, command = sys.executable, [sys.executable, *command]
    if os.name == "posix":
        os.execve(executable, command, environment)
    return subprocess.run([executable, *command[1:]], env=environment).returncode


def _is_option(index: int) -> bool:
    """Return whether a word of the command line is an option, or its value, and not the program."""
    word, with_value = sys.argv[index], ("--device", "--precision")
    return sys.argv[index - 1] in with_value or word.startswith(with_value) or word in ("--missing", "-h", "--help")


if __name__ == "__main__":
    sys.exit(main())
