"""The pool of workers: each thread that waits for a worker gets one that it accepts."""

import threading
from concurrent.futures import Future
from types import SimpleNamespace

from hetero import Model
from hetero.virtual import pool as pool_module
from hetero.virtual.pool import Candidates, Pool, Worker
from tests.threads import PATIENCE, WatchedLock, interleaved, started


def test_a_released_worker_wakes_the_thread_that_accepts_it():
    """The thread that waits longest, and does not accept the worker, must not be the only one that wakes."""
    pool, workers = Pool("pool"), [Worker(name, SimpleNamespace(), 1) for name in "AB"]
    for worker in workers:
        pool.add(worker)
        assert pool.take(lambda other, worker=worker: other is worker, lambda: None) is worker
    takes = [_started_take(pool, worker) for worker in workers]
    pool.release(workers[1])  # takes the lock, so that both threads wait by now
    assert takes[1].result(PATIENCE) is workers[1]
    pool.release(workers[0])
    assert takes[0].result(PATIENCE) is workers[0]


def _started_take(pool: Pool, worker: Worker) -> Future[Worker | None]:
    """Let a thread wait for a worker, and return when it begins to wait."""
    waiting = threading.Event()
    take = started(lambda: pool.take(lambda other: other is worker, waiting.set))
    assert waiting.wait(PATIENCE)
    return take


def test_what_a_device_compiled_is_forgotten_while_another_thread_asks_for_it(monkeypatch):
    device, settled = SimpleNamespace(name="A"), threading.Event()
    candidates = Candidates(SimpleNamespace(), Model([], []), SimpleNamespace(explicit=dict), [device], {})
    candidates._locks = {"A": WatchedLock(settled)}
    monkeypatch.setattr(candidates, "_outcome", lambda device: Worker("A", SimpleNamespace(), 1))
    worker = candidates.compile(device)
    outcomes = interleaved(lambda: candidates.compile(device), lambda: candidates.release(worker), settled, pool_module)
    assert {type(found) for found, _ in outcomes} == {Worker}
