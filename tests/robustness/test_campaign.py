"""The short campaign: cases of every format in a child process, shrunk by hypothesis if one fails."""

import importlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.robustness import misbehaving
from tests.robustness.campaign import MODULES
from tests.robustness.damage import Case
from tests.robustness.soak import Soak
from tests.robustness.workers import Worker
from tests.tiers import IS_FULL

# The number of cases in the full tier, where all together take about a minute; else a third.
EXAMPLES = {"ONNX": 300, "OpenVINO IR": 300, "TensorFlow Lite": 200, "concurrent work": 8}


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.close()


@pytest.mark.parametrize("name", MODULES)
def test_damaged_input_is_accepted_or_refused(name, worker):
    module = importlib.import_module(MODULES[name])
    samples = module.samples()
    examples = EXAMPLES.get(name, 120) // (1 if IS_FULL else 3)
    changes = st.lists(st.tuples(st.sampled_from(list(module.MUTATORS)), st.integers(0, 2**32 - 1)), max_size=4)
    cases = st.builds(Case, st.just(MODULES[name]), st.integers(0, len(samples) - 1), changes.map(tuple))

    @settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=HealthCheck)
    @given(cases)
    def check(case):
        outcome = worker.run(case, samples)
        assert not outcome.failed, f"{outcome.kind}: {outcome.text}"

    check()


# How a case ends, the kind of its outcome, and a part of its text.
FAILURES = {
    "nothing": ("accepted", ""),
    "refused": ("refused", "it cannot be done"),
    "crash": ("crash", "SIGABRT"),
    "hang": ("hang", "misbehaving.py"),
    "memory": ("memory", "it used 3 GB"),
    "short of memory": ("short of memory", "MemoryError"),
    "foreign": ("foreign", "KeyError"),
    "wrapped": ("foreign", "A failed: KeyError"),
    "message": ("message", "two"),
}


def test_each_failure_is_named_and_the_next_case_runs():
    worker = Worker(seconds=3)
    try:
        for how, (kind, text) in FAILURES.items():
            outcome = worker.replay(misbehaving.__name__, {misbehaving.NAME: how.encode()})
            assert (outcome.kind, text in outcome.text) == (kind, True), outcome
    finally:
        worker.close()


def test_a_short_soak_runs():
    soak = Soak(10, ["TEMPLATE"])
    soak.run(lambda seconds: None)
    assert soak.samples and not soak.error


def test_growth_between_the_second_minute_and_the_last_fails_the_soak():
    flat, grown = (Soak(300, samples=[(float(t), 10**8 + t * leak) for t in range(300)]) for leak in (0, 10**5))
    assert not flat.failed
    assert grown.failed and 0.15 < grown.growth < 0.25
