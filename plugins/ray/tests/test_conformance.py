"""The conformance kit on a node, whose subgraphs run on TEMPLATE."""

import os
import re
import subprocess
import sys

# With HETERO_SEEDS, the cases of the ONNX project run too.
OPTIONS, LEAST = ([], 2500) if os.environ.get("HETERO_SEEDS") else (["-k", "not test_onnx_operations"], 450)


def test_it_passes(cluster, tmp_path):
    command = [sys.executable, "-m", "pytest", "--pyargs", "hetero.conformance", "--device", "RAY.0", *OPTIONS]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    features = "dynamic shapes, export and import, remote tensors, runtime models, variables"
    assert f"supported features: {features}" in result.stdout
    cases = re.search(r"^cases: (\d+) passed, 0 failed, (\d+) not supported$", result.stdout, re.MULTILINE)
    assert int(cases[1]) >= LEAST
