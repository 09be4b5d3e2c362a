"""Scheduler: runs the steps of inferences on several devices at once.

A step begins when the steps that it waits for have ended and its device has a free slot; a device has as many slots as
it runs inferences at once. The thread that ends a step continues with a step that became ready, so an inference whose
steps need not wait stays on one thread. Several inferences overlap: while one is on the second device, the next is on
the first.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping

from hetero.dispatch.cutting.plan import Plan, StepError
from hetero.plugin import Executor
from hetero.system.errors import DeviceError
from hetero.system.fork import renew_after_fork


class Watchdog:
    """A thread that calls the callback of ``begin`` unless ``end`` is called within ``seconds``.

    The thread starts with the first use and ends with the watchdog. The timeout is the same for all, so the oldest
    entry always expires first.
    """

    def __init__(self, name: str, seconds: float) -> None:
        self._name, self._seconds = f"hetero {name} watchdog", seconds
        self._numbers = itertools.count()
        self._set_up()
        renew_after_fork(self, Watchdog._renew)

    def _set_up(self) -> None:
        self._entries = _Entries()
        self._finalizer = weakref.finalize(self, _Entries.close, self._entries)

    def _renew(self) -> None:
        self._finalizer.detach()
        self._set_up()

    def begin(self, on_timeout: Callable[[], None]) -> int:
        """Start the timeout, and return a number for ``end``."""
        number, entries = next(self._numbers), self._entries
        with entries.changed:
            entries.running[number] = (time.monotonic() + self._seconds, on_timeout)
            if entries.thread is None:
                entries.thread = threading.Thread(target=entries.watch, name=self._name, daemon=True)
                entries.thread.start()
            elif entries.is_idle:
                entries.changed.notify()
        return number

    def end(self, number: int) -> bool:
        """Stop the timeout. Return False if it has expired: the callback was called, or is running."""
        with self._entries.changed:
            return self._entries.running.pop(number, None) is not None


class _Entries:
    """The running timeouts. The thread refers to them and not to the watchdog, which could never be freed otherwise."""

    def __init__(self) -> None:
        self.running: dict[int, tuple[float, Callable[[], None]]] = {}  # deadline and callback by number
        self.changed = threading.Condition()
        self.thread: threading.Thread | None = None
        self.is_idle = False
        self.is_closed = False

    def close(self) -> None:
        with self.changed:
            self.is_closed = True
            self.changed.notify()

    def watch(self) -> None:
        while (on_timeout := self._next_expired()) is not None:
            on_timeout()
            del on_timeout  # not kept alive while the thread waits

    def _next_expired(self) -> Callable[[], None] | None:
        """Wait until a timeout expires, and return its callback; None after ``close``."""
        with self.changed:
            while not self.is_closed:
                first, remaining = next(iter(self.running), None), None
                if first is not None:
                    remaining = self.running[first][0] - time.monotonic()
                    if remaining <= 0:
                        return self.running.pop(first)[1]
                self.is_idle = first is None
                self.changed.wait(remaining)
            return None


OnEnd = Callable[[BaseException | None], None]


class Inference:
    """The state of the steps of one inference.

    ``run_step`` runs a step; ``on_end`` is called at the end with the first error or None. After an error no further
    step begins, and the inference ends when all running steps have ended. A step that exceeds the timeout counts as
    ended, after a call of ``on_timeout``.
    """

    def __init__(
        self,
        plan: Plan,
        run_step: Callable[[int], None],
        on_end: OnEnd,
        on_timeout: Callable[[int], None] = lambda index: None,
    ) -> None:
        self.plan = plan
        self.run_step = run_step
        self.on_end = on_end
        self.on_timeout = on_timeout
        self._waits_for = [len(step.waits_for) for step in plan.steps]
        self._pending = 0  # steps that run or wait for a slot
        self._error: BaseException | None = None
        self._lock = threading.Lock()

    def first_steps(self) -> list[int]:
        """Return the steps that wait for no other step, which are pending from now on."""
        ready = [index for index, count in enumerate(self._waits_for) if not count]
        self._pending = len(ready)
        return ready

    def run(self, index: int) -> BaseException | None:
        """Run a step, unless one failed before, and return its error."""
        try:
            if self._error is None:
                self.run_step(index)
        except BaseException as error:
            return error
        return None

    def finish(self, index: int, error: BaseException | None) -> tuple[list[int], bool]:
        """Record the end of a step. Return the steps that are ready now, and whether no step is pending any more."""
        with self._lock:
            self._error = self._error or error
            ready = []
            if self._error is None:
                for reader in self.plan.steps[index].readers:
                    self._waits_for[reader] -= 1
                    if not self._waits_for[reader]:
                        ready.append(reader)
            self._pending += len(ready) - 1
            return ready, not self._pending

    def end(self) -> None:
        self.on_end(self._error)


Task = tuple[Inference, int]


class Scheduler:
    """Threads that run the steps of inferences. ``slots`` is the number of steps that each device runs at once.

    A step that takes longer than ``timeout`` seconds, if that is not 0, ends its inference with a StepError, and its
    thread is abandoned.
    """

    def __init__(self, name: str, slots: Mapping[str, int], timeout: float = 0.0) -> None:
        self._slots: dict[str, int] = {}
        self._dropped: set[str] = set()
        self._renew()
        self._timeout = timeout
        self._watchdog = Watchdog(name, timeout) if timeout else None
        # A thread for every slot, and one that prepares inputs meanwhile.
        self._executor = Executor(name, 1)
        self.admit(slots)
        renew_after_fork(self, Scheduler._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()
        self._free = dict(self._slots)
        self._waiting: dict[str, deque[Task]] = {device: deque() for device in self._slots}

    def admit(self, slots: Mapping[str, int]) -> None:
        """Raise the number of steps that devices run at once to ``slots``; none is lowered."""
        with self._lock:
            for device, count in slots.items():
                more = max(0, count - self._slots.get(device, 0))
                self._slots[device] = self._slots.get(device, 0) + more
                self._free[device] = self._free.get(device, 0) + more
                self._waiting.setdefault(device, deque())
                self._executor.size += more

    def drop(self, device: str) -> None:
        """Begin no more steps on a device: steps that wait for it, and later ones, fail with a StepError."""
        with self._lock:
            self._dropped.add(device)
            waiting, self._waiting[device] = self._waiting.get(device, deque()), deque()
        self._submit_all(waiting)

    def submit(self, task: Callable[[], None], priority: int = 0) -> None:
        """Run a function that is no step on one of the threads."""
        self._executor.submit(task, priority=priority)

    def run(self, inference: Inference) -> None:
        """Run an inference on this thread, which is one of the scheduler's own, as far as it need not wait."""
        self._run(*((inference, index) for index in inference.first_steps() if self._take_slot(inference, index)))
        if not inference.plan.steps:
            inference.end()

    def _run(self, *tasks: Task) -> None:
        """Run the first of these steps, whose slots are taken, then steps that become ready by that.

        Other threads get the other steps, except at the end of the program, when the executor takes no more tasks.
        """
        local = deque(tasks)
        while local:
            inference, index = local.popleft()
            self._submit_all(local)
            in_time, error = self._run_step(inference, index)
            if not in_time:
                return  # _on_timeout has done the rest
            ready, is_last = inference.finish(index, error)
            local.extend((inference, step) for step in ready if self._take_slot(inference, step))
            waiting = self._give_slot(inference.plan.steps[index].device)
            if waiting is not None:
                local.append(waiting)
            if is_last:
                self._submit_all(local)
                inference.end()

    def _submit_all(self, tasks: deque[Task]) -> None:
        """Submit steps to other threads; those that the executor does not take stay in ``tasks``."""
        with contextlib.suppress(DeviceError):
            while tasks:
                self._executor.submit(self._run, tasks[0])
                tasks.popleft()

    def _run_step(self, inference: Inference, index: int) -> tuple[bool, BaseException | None]:
        """Run a step. Return whether it ended in time, and its error."""
        device = inference.plan.steps[index].device
        if device in self._dropped:
            return True, StepError(device, DeviceError(f"{device} failed in another inference and is used no longer"))
        if self._watchdog is None:
            return True, inference.run(index)
        thread = threading.current_thread()
        number = self._watchdog.begin(lambda: self._on_timeout(inference, index, thread))
        error = inference.run(index)
        return self._watchdog.end(number), error

    def _on_timeout(self, inference: Inference, index: int, thread: threading.Thread) -> None:
        """Count a step that hangs as ended with an error, and abandon its thread."""
        self._executor.abandon(thread)
        inference.on_timeout(index)
        step = inference.plan.steps[index]
        problem = f"{step.device} did not end an inference of '{step.compiled.name}' within {self._timeout * 1e3:g} ms"
        _, is_last = inference.finish(index, StepError(step.device, DeviceError(problem)))
        waiting = self._give_slot(step.device)
        if waiting is not None:
            self._submit_all(deque([waiting]))
        if is_last:
            try:
                self._executor.submit(inference.end)
            except DeviceError:  # at the end of the program
                inference.end()

    def _take_slot(self, inference: Inference, index: int) -> bool:
        """Take a slot of the step's device. Return False if none is free; the step gets the next one then."""
        device = inference.plan.steps[index].device
        with self._lock:
            if self._free[device] or device in self._dropped:
                self._free[device] -= 1
                return True
            self._waiting[device].append((inference, index))
            return False

    def _give_slot(self, device: str) -> Task | None:
        """Free a slot, or give it to the step that has waited longest, and return that step."""
        with self._lock:
            if self._waiting[device]:
                return self._waiting[device].popleft()
            self._free[device] += 1
            return None
