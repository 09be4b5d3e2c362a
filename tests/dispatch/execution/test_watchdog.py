"""The watchdog: each callback that is due is called once, no other is, and the thread ends with the watchdog."""

import gc
import threading

from hetero.dispatch.execution.scheduler import Watchdog


def threads_of(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == f"hetero {name} watchdog"]


def test_callbacks_are_called_in_the_order_of_their_begin():
    called, all_called = [], threading.Event()
    watchdog = Watchdog("called", 0.02)

    def record(number):
        called.append(number)
        if len(called) == 3:
            all_called.set()

    numbers = [watchdog.begin(lambda i=i: record(i)) for i in range(4)]
    assert watchdog.end(numbers[1])
    assert all_called.wait(10)
    assert called == [0, 2, 3]
    assert [watchdog.end(number) for number in numbers] == [False] * 4
    late = threading.Event()  # it works again after it was idle
    watchdog.begin(late.set)
    assert late.wait(10)


def test_no_callback_is_called_for_what_ends_in_time():
    called: list[int] = []
    watchdog = Watchdog("quick", 30)
    assert threads_of("quick") == []
    for i in range(100):
        assert watchdog.end(watchdog.begin(lambda i=i: called.append(i)))
    assert called == [] and len(threads_of("quick")) == 1


def test_the_thread_ends_with_the_watchdog():
    watchdog = Watchdog("gone", 3600)
    watchdog.end(watchdog.begin(lambda: None))
    (thread,) = threads_of("gone")
    del watchdog
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()
