"""Memory plans: buffers that are live at the same time do not overlap, and little memory is wasted."""

import itertools

import numpy as np
import pytest
from hetero_opencl.lowering.memory_plan import Lifetime, plan_arenas

NO_LIMIT = 2**62


def random_lifetimes(seed: int, count: int) -> dict[int, Lifetime]:
    """Lifetimes like those of a network: each buffer is written by one launch, and most are read soon after."""
    generator = np.random.default_rng(seed)
    sizes = 2 ** generator.uniform(0, 12, count) if seed % 2 else generator.uniform(0, 4000, count)
    ends = np.minimum(np.arange(count) + generator.geometric(0.5 if seed % 3 else 0.1, count), count)
    return {i: Lifetime(int(size), i, int(end)) for i, (size, end) in enumerate(zip(sizes, ends))}


def check(lifetimes, plan, alignment, arena_limit) -> None:
    assert plan.slots.keys() == lifetimes.keys()
    largest = max(slot.byte_size for slot in plan.slots.values())
    for buffer, slot in plan.slots.items():
        assert slot.offset % alignment == 0 and slot.byte_size >= max(1, lifetimes[buffer].byte_size)
        assert slot.offset + slot.byte_size <= plan.arenas[slot.arena] <= max(arena_limit, largest)
    for (one, a), (other, b) in itertools.combinations(plan.slots.items(), 2):
        meet = lifetimes[one].first <= lifetimes[other].last and lifetimes[other].first <= lifetimes[one].last
        overlap = a.offset < b.offset + b.byte_size and b.offset < a.offset + a.byte_size
        assert not (meet and overlap and a.arena == b.arena)


@pytest.mark.parametrize("alignment", [1, 128])
@pytest.mark.parametrize("count", [1, 7, 30, 120])
def test_random_lifetimes(count, alignment):
    for seed in range(12):
        lifetimes = random_lifetimes(seed, count)
        plan = plan_arenas(lifetimes, alignment, NO_LIMIT)
        check(lifetimes, plan, alignment, NO_LIMIT)
        assert len(plan.arenas) == 1
        assert plan.largest_live_set <= plan.byte_size <= 1.3 * plan.largest_live_set


def test_the_largest_live_set():
    lifetimes = {"a": Lifetime(100, -1, 0), "b": Lifetime(50, 0, 2), "c": Lifetime(120, 1, 1), "d": Lifetime(9, 2, 3)}
    plan = plan_arenas(lifetimes, 10, NO_LIMIT)
    assert plan.largest_live_set == 170 and plan.arenas == (170,)
    assert plan.slots["a"].offset == plan.slots["c"].offset


def test_a_chain_needs_two_buffers():
    lifetimes = {i: Lifetime(100, i, i + 1) for i in range(50)}
    assert plan_arenas(lifetimes, 4, NO_LIMIT).arenas == (200,)


def test_arenas_are_limited_to_the_largest_allocation():
    for seed in range(12):
        lifetimes = random_lifetimes(seed, 40)
        plan = plan_arenas(lifetimes, 16, 3000)
        check(lifetimes, plan, 16, 3000)
    lifetimes = {i: Lifetime(1000, 0, 9) for i in range(5)} | {"huge": Lifetime(5000, 3, 4)}
    plan = plan_arenas(lifetimes, 1, 2000)
    check(lifetimes, plan, 1, 2000)
    assert sorted(plan.arenas) == [1000, 2000, 2000, 5000]


def test_no_buffers():
    plan = plan_arenas({}, 128, NO_LIMIT)
    assert plan.arenas == () and plan.largest_live_set == 0
    assert plan_arenas({"empty": Lifetime(0, 0, 1)}, 128, NO_LIMIT).arenas == (128,)
