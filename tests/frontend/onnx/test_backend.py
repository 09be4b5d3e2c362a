"""The ONNX project's backend cases on TEMPLATE. Those that fail are listed, with the reason, in backend_failures.txt.

A listed case that passes fails the test as one does that is not listed and breaks. The summary tells the count.
"""

from pathlib import Path

import pytest

from hetero.reference import random
from tests.frontend.onnx.backend import cases, run_case

LIST = Path(__file__).parent / "backend_failures.txt"
LISTED = dict(line.split(": ", 1) for line in LIST.read_text().splitlines() if line and not line.startswith("#"))
# Better than OpenVINO 2026.4, which passes 1,409 of the 2,024 of onnx 1.23, and onnx's own evaluator, with 1,810.
LEAST = 1930 / 2024


def marked(name: str):
    reason = LISTED.get(name)
    return pytest.param(name, marks=pytest.mark.xfail(reason=reason, strict=True)) if reason else name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [marked(name) for name in cases()])
def test_case(name, monkeypatch):
    # What is random without a seed is the same every time here, so that no case passes by chance.
    monkeypatch.setattr(random.secrets, "randbits", lambda bits: 1)
    run_case(cases()[name])


def test_enough_cases_pass():
    assert LISTED.keys() <= cases().keys(), "a listed case does not exist"
    assert (len(cases()) - len(LISTED)) / len(cases()) >= LEAST
