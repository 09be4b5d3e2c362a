"""Number of test cases of TensorFlow Lite operators in which hetero, and OpenVINO, agree with LiteRT.

``python -m tests.benchmarks.tflite_cases`` runs the tests of the frontend on TEMPLATE, and again with OpenVINO's CPU
device instead. OpenVINO may crash on a model, so pytest runs the tests in worker processes.
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
    """OpenVINO with the part of hetero's Core that the test cases use."""

    def compile_model(self, content: bytes, device: str) -> Any:
        import openvino

        with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
            file.write(content)
            file.flush()
            return openvino.compile_model(file.name, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--by", choices=DEVICES, default="hetero")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the test cases that compare with LiteRT, without those on GPU."""
    from tests.frontend.tflite import agreement

    if config.getoption("--by") == "openvino":
        agreement.CORE = OpenVino()
    helpers = {"assert_as_litert", "operator_test"}
    items[:] = [item for item in items if helpers & vars(item.module).keys() and "GPU" not in item.name]


def count(by: str) -> tuple[int, int]:
    """Return the number of cases that pass, and of all cases."""
    command = [sys.executable, "-m", "pytest", "-n", "2", "--max-worker-restart=10000", "--tb=no", "--no-header"]
    command += ["-p", "tests.benchmarks.tflite_cases", "--by", by, "tests/frontend/tflite"]
    output = subprocess.run(command, capture_output=True, text=True).stdout
    passed, failed = (
        sum(map(int, re.findall(rf"(\d+) {kinds}", output.splitlines()[-1])))
        for kinds in ("passed", "(?:failed|error)")
    )
    return passed, passed + failed


def main() -> None:
    for by in DEVICES:
        print("{:16} {} of {} cases as LiteRT".format(by, *count(by)), flush=True)


if __name__ == "__main__":
    main()
