"""Views of mapped files keep their contents when their memory is given back."""

import mmap

import numpy as np
import pytest

from hetero.system.mapped_file import map_read_only, release_pages
from tests.peak_memory import resident

PAGES = 64
NUMBERS = np.arange(PAGES * mmap.PAGESIZE // 4, dtype=np.float32)


@pytest.fixture
def mapped(tmp_path) -> np.ndarray:
    """Return a view of a mapped file that holds a byte and NUMBERS."""
    path = tmp_path / "numbers"
    path.write_bytes(b"x" + NUMBERS.tobytes())
    with open(path, "rb") as file:
        return np.frombuffer(map_read_only(file)[1:], np.float32)


def test_the_memory_is_given_back_and_the_contents_are_read_again(mapped):
    np.testing.assert_array_equal(mapped, NUMBERS)
    assert resident(mapped) >= NUMBERS.nbytes
    release_pages(mapped.reshape(2, -1)[1:].T)
    assert NUMBERS.nbytes / 2 <= resident(mapped) <= NUMBERS.nbytes / 2 + 3 * mmap.PAGESIZE
    release_pages(mapped)
    assert resident(mapped) <= 3 * mmap.PAGESIZE
    np.testing.assert_array_equal(mapped, NUMBERS)


@pytest.mark.parametrize("part", [slice(0), slice(1), slice(5, 1000, 3), slice(None, None, -1)])
def test_any_view_can_be_released(mapped, part):
    release_pages(mapped[part])
    np.testing.assert_array_equal(mapped, NUMBERS)


def test_memory_that_is_no_file_or_that_others_mapped_keeps_its_contents(tmp_path):
    """Changes of a user's copy-on-write mapping would be lost."""
    (tmp_path / "numbers").write_bytes(NUMBERS.tobytes())
    private = np.memmap(tmp_path / "numbers", np.float32, "c")
    private[:] = 7
    own = NUMBERS + 1
    for array in (private, own, np.frombuffer(own.tobytes(), np.float32)):
        expected = array.copy()
        release_pages(array)
        np.testing.assert_array_equal(array, expected)
