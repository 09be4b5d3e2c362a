"""Runs ``test_values.py`` with the implementations for other sets of instructions than the processor's largest one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AVX512_CORE", "AVX2", "SSE41"])
def test_instruction_set(name):
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", str(Path(__file__).with_name("test_values.py"))]
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": name}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert not result.returncode, result.stdout
