"""The conformance kit on a node, whose subgraphs run on TEMPLATE."""

import re
import subprocess
import sys

import pytest

from tests.tiers import IS_FULL

# In the full tier all cases of operations run, also those of the ONNX project and hard values.
SAMPLE = ["-k", "not test_onnx_operations and not test_element_type and not test_hard_values"]
OPTIONS, LEAST = ([], 2500) if IS_FULL else (SAMPLE, 150)


@pytest.mark.slow
def test_it_passes(cluster, tmp_path):
    command = [sys.executable, "-m", "pytest", "--pyargs", "hetero.conformance", "--device", "RAY.0", *OPTIONS]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    features = "dynamic shapes, export and import, remote tensors, runtime models, variables"
    assert f"supported features: {features}" in result.stdout
    cases = re.search(r"^cases: (\d+) passed, 0 failed, (\d+) not supported$", result.stdout, re.MULTILINE)
    assert int(cases[1]) >= LEAST
