"""Available memory, and checks of allocations against it."""

import numpy as np
import pytest

from hetero.system import allocation
from hetero.system.allocation import available_memory, check_allocation, string_array


def test_available_memory_is_limited_by_the_container(tmp_path, monkeypatch):
    host = available_memory()
    assert host > 1 << 26
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(allocation, "_CONTAINER_LIMITS", (limit, tmp_path / "absent"))
    for content, expected in [("1000000\n", 1000000), ("max\n", None), ("9223372036854771712", None)]:
        limit.write_text(content)
        assert available_memory() == expected or (expected is None and available_memory() > 1 << 26)


def test_only_large_allocations_are_checked(monkeypatch):
    monkeypatch.setattr(allocation, "available_memory", lambda: 1)
    check_allocation(allocation.MIN_CHECKED_BYTES - 1, "it")
    with pytest.raises(MemoryError, match="it takes 67,108,864 bytes, but only 1 are available"):
        check_allocation(allocation.MIN_CHECKED_BYTES, "it")


def test_strings_are_refused_only_if_they_take_far_more_as_an_array(monkeypatch):
    monkeypatch.setattr(allocation, "MAX_STRING_BYTES", 1000)
    for texts in ([], ["a"] * 1000, ["a" * 1000, "b" * 1000], ["a" * 200, ""]):
        np.testing.assert_array_equal(string_array(texts), np.array(texts, np.str_))
    with pytest.raises(ValueError, match="21 strings of up to 100 characters take 8,400 bytes as an array"):
        string_array(["a" * 100] + [""] * 20)
