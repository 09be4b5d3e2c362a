"""The kit as users start it, on the devices that ship."""

import os
import re
import subprocess
import sys

import pytest

from tests.devices import GPUS


def kit(*arguments: str, folder) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "pytest", "--pyargs", "hetero.conformance", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


# The first OpenCL device, with HETERO_SEEDS every one: it takes minutes while no kernels are built.
TESTED = GPUS if "HETERO_SEEDS" in os.environ else GPUS[:1]


# How many cases of operations a device runs at least, of about 2,500.
@pytest.mark.parametrize(("device", "least"), [("TEMPLATE", 2500), *((gpu, 2450) for gpu in TESTED)])
def test_it_passes(device, least, tmp_path):
    result = kit("--device", device, folder=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " passed" in result.stdout.splitlines()[-1] and "skipped" not in result.stdout
    assert (
        "supported features: dynamic shapes, export and import, remote tensors, runtime models, variables"
        in result.stdout
    )
    assert re.search(r"^Relu +\d+ +0 +\d+ .* f32", result.stdout, re.MULTILINE)
    cases = re.search(r"^cases: (\d+) passed, 0 failed, (\d+) not supported$", result.stdout, re.MULTILINE)
    assert int(cases[1]) >= least and int(cases[1]) + int(cases[2]) >= 2500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "ERROR: the option --device NAME is missing; available devices are .*TEMPLATE"),
        (["--device", "NPU"], "ERROR: there is no device NPU; there are .*TEMPLATE"),
        (["--device", "TEMPLATE.7"], "ERROR: there is no device TEMPLATE.7"),
    ],
)
def test_what_is_no_device_is_told(arguments, message, tmp_path):
    result = kit(*arguments, folder=tmp_path)
    assert result.returncode == pytest.ExitCode.USAGE_ERROR
    assert re.search(message, result.stderr) and "Traceback" not in result.stderr


def test_other_runs_know_nothing_of_it(tmp_path):
    """An option of the user's own of the same name is free, and hetero is not imported."""
    (tmp_path / "conftest.py").write_text("def pytest_addoption(parser):\n    parser.addoption('--device')\n")
    (tmp_path / "test_mine.py").write_text(
        "import sys\n\n\ndef test_mine(pytestconfig):\n"
        "    assert pytestconfig.option.device == 'MINE' and 'hetero' not in sys.modules\n"
    )
    command = [sys.executable, "-m", "pytest", "--device", "MINE"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
