"""Memory plans: buffers that are live at the same time never share a slot."""

from itertools import pairwise

import numpy as np
import pytest

from hetero.plugin import plan_memory


def test_buffers_with_disjoint_lifetimes_share_memory():
    """A chain of equal buffers needs two slots, and a third one if a buffer is kept longer."""
    uses = list(pairwise("abcd"))
    slot_of, sizes = plan_memory(uses, lambda buffer: 100)
    assert sizes == [100, 100] and slot_of["a"] == slot_of["c"] != slot_of["b"] == slot_of["d"]
    slot_of, sizes = plan_memory([*uses, "bd"], lambda buffer: 100)
    assert len(sizes) == 3 and slot_of["b"] not in (slot_of["c"], slot_of["d"])


@pytest.mark.parametrize("seed", range(20))
def test_live_buffers_do_not_share_memory(seed):
    generator = np.random.default_rng(seed)
    size_of = dict(enumerate(generator.integers(1, 1000, 30).tolist()))
    inputs, outputs = [0, 1], [1, 20, 29]
    uses = [inputs, *([*generator.integers(0, index, 2).tolist(), index] for index in range(2, 30)), outputs]
    slot_of, sizes = plan_memory(uses, size_of.__getitem__)
    assert slot_of.keys() == size_of.keys()
    first_use = {buffer: min(i for i, use in enumerate(uses) if buffer in use) for buffer in size_of}
    last_use = {buffer: max(i for i, use in enumerate(uses) if buffer in use) for buffer in size_of}
    for one, size in size_of.items():
        assert sizes[slot_of[one]] >= size
        for other in size_of:
            if one != other and slot_of[one] == slot_of[other]:
                assert last_use[one] < first_use[other] or last_use[other] < first_use[one]
