"""A .pt2 of 499 MB, GPT-2 with random weights, takes little memory to read; torch is not needed for it."""

import subprocess
import sys

import pytest
import torch
import transformers

from tests.frameworks.pytorch.architectures import First


@pytest.mark.slow
def test_weights_are_mapped(tmp_path):
    module = First(transformers.GPT2Model(transformers.GPT2Config()).eval(), use_cache=False)
    path = tmp_path / "gpt2.pt2"
    torch.export.save(torch.export.export(module, (torch.randint(99, (1, 16)),)), path)
    size = path.stat().st_size
    assert size > 490e6
    command = [sys.executable, "-m", "tests.benchmarks.reading", "hetero", str(path)]
    seconds, grown = map(float, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    print(f"read_model of {size / 1e6:.0f} MB: {seconds:.2f} s, memory grown by {grown / 1e6:.0f} MB")
    assert grown < 0.1 * size
