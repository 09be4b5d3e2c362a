"""Rarer garbage collections: nested, in several threads, and if the program has switched them off."""

import gc
import threading

import pytest

from hetero.system.garbage_collection import THRESHOLDS, rarer_collections


@pytest.fixture(autouse=True)
def thresholds():
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_the_thresholds_come_back_after_the_last_of_several():
    with rarer_collections():
        with rarer_collections():
            assert gc.get_threshold() == THRESHOLDS
        assert gc.get_threshold() == THRESHOLDS
    assert gc.get_threshold() == (700, 10, 10)


def test_the_thresholds_come_back_when_threads_end_in_any_order():
    entered, leave = threading.Event(), threading.Event()

    @rarer_collections()
    def work():
        entered.set()
        leave.wait()

    thread = threading.Thread(target=work)
    with rarer_collections():
        thread.start()
        entered.wait()
    assert gc.get_threshold() == THRESHOLDS
    leave.set()
    thread.join()
    assert gc.get_threshold() == (700, 10, 10)


def test_the_thresholds_come_back_after_an_error():
    with pytest.raises(ValueError), rarer_collections():
        raise ValueError
    assert gc.get_threshold() == (700, 10, 10)


def test_collections_that_are_rarer_or_off_stay_so():
    for own in ((0, 10, 10), (500_000, 200, 300)):
        gc.set_threshold(*own)
        with rarer_collections():
            assert gc.get_threshold() == own
        assert gc.get_threshold() == own
