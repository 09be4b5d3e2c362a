"""Executors: the order of tasks, and the end of threads."""

import _weakrefset
import gc
import logging
import sys
import threading
import weakref

import pytest

from hetero.plugin import Executor, Executors
from hetero.plugin.requests import executors
from hetero.system.errors import DeviceError
from tests.interpreter import run_python
from tests.threads import interleaved


def threads_of(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(f"hetero {name}")]


def test_tasks_run_by_priority_then_in_order_of_submission():
    executor, held, order = Executor("ordered"), threading.Event(), []
    executor.submit(held.wait, 30)
    for name, priority in (("a", 0), ("b", 0), ("low", -1), ("high", 1), ("c", 0)):
        executor.submit(order.append, name, priority=priority)
    held.set()
    assert executor.shutdown(30)
    assert order == ["high", "a", "b", "c", "low"]


def test_each_thread_runs_a_task_at_the_same_time():
    executor, meeting = Executor("three", 3), threading.Barrier(4)
    for _ in range(3):
        executor.submit(meeting.wait, 30)
    meeting.wait(30)  # fails unless all three wait in it at the same time
    assert len(threads_of("three")) == 3 and executor.shutdown(30)


def test_executors_of_one_name_are_shared_while_in_use():
    executors = Executors()
    first = executors.get("streams", 2)
    assert executors.get("streams") is first and executors.get("other") is not first
    reference = weakref.ref(first)
    del first
    gc.collect()
    assert reference() is None


def test_threads_end_when_the_executor_is_no_longer_in_use():
    executor, done = Executor("forgotten", 2), threading.Event()
    for _ in range(2):
        executor.submit(done.wait, 30)
    threads = threads_of("forgotten")
    assert len(threads) == 2
    del executor
    done.set()
    gc.collect()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def test_no_task_is_accepted_after_shutdown():
    executor = Executor("closed")
    assert executor.shutdown()
    with pytest.raises(DeviceError, match="executor closed was shut down"):
        executor.submit(print)


def test_a_task_that_raises_is_logged_and_leaves_its_thread_alive(caplog):
    executor, ran = Executor("exiting"), threading.Event()
    executor.submit(sys.exit, 3)
    executor.submit(ran.set)
    assert ran.wait(30) and executor.shutdown(30)
    assert "a task of hetero exiting 0 failed" in caplog.text and "SystemExit: 3" in caplog.text


def test_a_hanging_task_is_abandoned_and_reported_by_name(caplog):
    executor, never = Executor("NPU model"), threading.Event()
    executor.submit(never.wait)
    with caplog.at_level(logging.WARNING, "hetero"):
        assert executor.shutdown(0.05) is False
    assert "a task of hetero NPU model 0 does not end" in caplog.text
    never.set()


@pytest.mark.slow
def test_a_hanging_task_does_not_keep_the_program_from_ending():
    code = (
        "import threading; from hetero.plugin.requests import executors; executors.SECONDS_AT_EXIT = 0.05\n"
        "held = executors.Executor('NPU model'); held.submit(threading.Event().wait)"
    )
    assert "a task of hetero NPU model 0 does not end" in run_python(code)[1]


def test_an_abandoned_thread_is_replaced_and_not_waited_for(caplog):
    executor, begun, released, ran = Executor("hanging"), threading.Event(), threading.Event(), threading.Event()
    hanging: list[threading.Thread] = []

    def hang():
        hanging.append(threading.current_thread())
        begun.set()
        released.wait(30)

    executor.submit(hang)
    executor.submit(ran.set)
    assert begun.wait(30)
    executor.abandon(hanging[0])
    assert ran.wait(30)
    assert executor.shutdown(30) and "is abandoned" not in caplog.text
    released.set()
    hanging[0].join(30)
    assert not hanging[0].is_alive() and threads_of("hanging") == []


def test_executors_are_made_while_the_program_ends(monkeypatch):
    """By threads that go on compiling, for example."""
    monkeypatch.setattr(executors, "_alive", type(executors._alive)())
    made = [Executor("first"), Executor("second")]

    def make_another() -> None:
        made[2:] = [Executor("late")]

    modules = executors, weakref, _weakrefset
    assert set(interleaved(executors._end_all, make_another, threading.Event(), *modules)) == {(None, None)}
