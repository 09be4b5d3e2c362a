"""Runs the tests of values with the implementations for other sets of instructions than the processor's largest one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FILES = [str(Path(__file__).with_name(name)) for name in ("test_values.py", "test_nan.py")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AVX512_CORE", "AVX2", "SSE41"])
def test_instruction_set(name):
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", *FILES]
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": name}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert not result.returncode, result.stdout
