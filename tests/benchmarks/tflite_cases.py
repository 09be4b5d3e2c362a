"""How many cases of TensorFlow Lite's operators hetero computes as LiteRT does, and how many OpenVINO does.

``python -m tests.benchmarks.tflite_cases`` runs the tests of the frontend on TEMPLATE, and again with OpenVINO's CPU
device in its place. OpenVINO may end the process over a model, so each run is one of pytest's with workers.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from typing import Any

import pytest

DEVICES = ("openvino", "hetero")


class OpenVino:
    """OpenVINO in the place of a Core of hetero, as far as the cases use it."""

    def compile_model(self, content: bytes, device: str) -> Any:
        import openvino

        with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
            file.write(content)
            file.flush()
            return openvino.compile_model(file.name, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--by", choices=DEVICES, default="hetero")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the cases that compare with LiteRT, of each the one that runs on a single device."""
    from tests.frontend.tflite import agreement

    if config.getoption("--by") == "openvino":
        agreement.CORE = OpenVino()
    helpers = {"assert_as_litert", "operator_test"}
    items[:] = [item for item in items if helpers & vars(item.module).keys() and "GPU" not in item.name]


def count(by: str) -> tuple[int, int]:
    """How many cases pass, and how many there are."""
    command = [sys.executable, "-m", "pytest", "-n", "2", "--max-worker-restart=10000", "--tb=no", "--no-header"]
    command += ["-p", "tests.benchmarks.tflite_cases", "--by", by, "tests/frontend/tflite"]
    told = subprocess.run(command, capture_output=True, text=True).stdout
    passed, failed = (
        sum(map(int, re.findall(rf"(\d+) {kinds}", told.splitlines()[-1]))) for kinds in ("passed", "(?:failed|error)")
    )
    return passed, passed + failed


def main() -> None:
    for by in DEVICES:
        print("{:16} {} of {} cases as LiteRT".format(by, *count(by)), flush=True)


if __name__ == "__main__":
    main()
