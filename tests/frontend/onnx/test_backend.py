"""The ONNX project's backend cases on TEMPLATE. Those that fail are listed, with the reason, in backend_failures.txt.

A listed case that passes, or fails otherwise than listed, fails the test as one does that is not listed and breaks. The
summary tells the count.
"""

from pathlib import Path

import pytest

from hetero.errors import FrontendError
from hetero.reference import random
from tests.frontend.onnx.backend import cases, run_case

LIST = Path(__file__).parent / "backend_failures.txt"
LISTED = dict(line.split(": ", 1) for line in LIST.read_text().splitlines() if line and not line.startswith("#"))
# Better than OpenVINO 2026.4, which passes 1,409 of the 2,024 of onnx 1.23, and onnx's own evaluator, with 1,810.
LEAST = 1930 / 2024


@pytest.fixture(autouse=True)
def same_every_time(monkeypatch):
    """What is random without a seed does not change, so that no case passes by chance."""
    monkeypatch.setattr(random.secrets, "randbits", lambda bits: 1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in cases() if name not in LISTED])
def test_case(name):
    run_case(cases()[name])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LISTED)
def test_listed_case_still_fails(name):
    """By an operator that is not translated, or by numbers that differ: nothing else is excused."""
    if "not translated" in LISTED[name]:
        with pytest.raises(FrontendError, match="no translation of"):
            run_case(cases()[name])
    else:
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            run_case(cases()[name])


def test_enough_cases_pass():
    assert LISTED.keys() <= cases().keys(), "a listed case does not exist"
    assert (len(cases()) - len(LISTED)) / len(cases()) >= LEAST
