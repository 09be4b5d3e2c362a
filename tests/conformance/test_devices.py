"""The kit as users start it, on the devices that ship."""

import re
import subprocess
import sys

import pytest

from tests.devices import GPUS
from tests.tiers import IS_FULL


def kit(*arguments: str, folder) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "pytest", "--pyargs", "hetero.conformance", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


# Devices, the least number of cases of operations that each passes, and options of pytest. Outside the full tier the
# cases of the ONNX project run in tests/frontend/onnx/test_backend.py, those of GPU's operations with its kernels, and
# hard values in test_hard_values.py.
if IS_FULL:
    TESTED = [("TEMPLATE", 2500, []), *((gpu, 2450, []) for gpu in GPUS)]
else:
    TESTED = [
        ("TEMPLATE", 450, ["-k", "not test_onnx_operations and not test_hard_values"]),
        (GPUS[0], 16, ["-k", "not test_onnx_operations and not test_hard_values and (not test_operations or Relu)"]),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("device", "least", "options"), TESTED)
def test_it_passes(device, least, options, tmp_path):
    result = kit("--device", device, *options, folder=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " passed" in result.stdout.splitlines()[-1] and "skipped" not in result.stdout
    features = "dynamic shapes, export and import, remote tensors, runtime models, variables, placement by HETERO"
    assert f"supported features: {features}" in result.stdout
    assert re.search(r"^Relu +\d+ +0 +\d+ .* f32", result.stdout, re.MULTILINE)
    cases = re.search(r"^cases: (\d+) passed, 0 failed, (\d+) not supported$", result.stdout, re.MULTILINE)
    assert int(cases[1]) >= least


@pytest.mark.slow
@pytest.mark.parametrize(
    "device",
    [
        f"MULTI:{GPUS[0]},TEMPLATE",
        *(device for device in ("AUTO:TEMPLATE", "BATCH:TEMPLATE") if IS_FULL),
    ],
)
def test_it_takes_virtual_devices(device, tmp_path):
    left_out = "not test_onnx_operations and not test_operations and not test_hard_values"
    options = [] if IS_FULL else ["-k", left_out]
    result = kit("--device", device, *options, folder=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "supported features: dynamic shapes, runtime models, variables" in result.stdout


@pytest.mark.slow
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


@pytest.mark.slow
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
