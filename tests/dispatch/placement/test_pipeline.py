"""PIPELINE: stages compared with the optimum, memory limits, and units that their stage cannot run."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetero.dispatch.placement.pipeline import SLACK, pipeline
from hetero.dispatch.placement.problem import Flow, Problem
from hetero.system.errors import DeviceError


def slowest(problem, choice):
    loads = [0.0] * problem.device_count
    for seconds, device in zip(problem.seconds, choice):
        loads[device] += seconds[device]
    return max(loads)


def needed(problem, choice, device):
    return sum(size for size, home in zip(problem.bytes, choice) if home == device)


def fits(problem, choice):
    return all(needed(problem, choice, device) <= limit for device, limit in enumerate(problem.limits))


@given(
    st.integers(2, 3).flatmap(
        lambda count: st.tuples(
            st.lists(st.tuples(*[st.integers(1, 9).map(float)] * count, st.integers(0, 5)), min_size=1, max_size=8),
            st.tuples(*[st.integers(5, 30).map(float)] * count),
        )
    )
)
@settings(max_examples=150)
def test_the_slowest_stage_is_optimal(case):
    rows, limits = case
    flows = [Flow(unit, (unit + 1,), (unit % 3 + 1.0,) * len(limits), (1.0,) * len(limits)) for unit in range(7)]
    flows = flows[: len(rows) - 1]
    problem = Problem([row[:-1] for row in rows], flows, len(limits), [row[-1] for row in rows], limits)
    stages = [c for c in itertools.product(range(len(limits)), repeat=len(rows)) if list(c) == sorted(c)]
    possible = [choice for choice in stages if fits(problem, choice)]
    if not possible:
        with pytest.raises(DeviceError, match="a pipeline needs"):
            pipeline(problem)
        return
    choice = pipeline(problem)
    assert choice == sorted(choice)
    assert fits(problem, choice)
    assert slowest(problem, choice) <= SLACK * min(slowest(problem, other) for other in possible) + 1e-6


def test_a_stage_begins_where_transfers_are_cheapest():
    rows = [(1.0, 1.0)] * 200
    sizes = [5.0] * 99
    sizes[96] = 1.0
    flows = [Flow(unit, (unit + 1,), (size, size), (0.0, 0.0)) for unit, size in enumerate(sizes + [5.0] * 100)]
    choice = pipeline(Problem(rows, flows, 2))
    assert choice == [0] * 97 + [1] * 103


def test_pinned_units_stay_where_they_are():
    rows = [(math.inf, 1.0), *[(1.0, 1.0)] * 8, (1.0, math.inf)]
    assert pipeline(Problem(rows, [], 2)) == [1, 0, 0, 0, 0, 1, 1, 1, 1, 0]


def test_a_unit_that_its_stage_cannot_run_goes_to_the_first_able_device():
    rows = [(1.0, 1.0, 1.0), (math.inf, 1.0, 1.0), *[(1.0, 1.0, 1.0)] * 4]
    assert pipeline(Problem(rows, [], 3)) == [0, 1, 0, 1, 2, 2]
