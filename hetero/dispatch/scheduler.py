"""The scheduler: runs the steps of inferences on several devices at once.

A step begins when those that it waits for have ended and its device has a free slot; a device has as many slots as it
runs inferences at once. A thread that ends a step goes on with what became ready by that, so an inference that
waits for nobody stays on one thread, and several inferences take turns on the devices: while one is on the second
device, the next is on the first.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Mapping

from hetero.dispatch.plan import Plan, StepError
from hetero.dispatch.watchdog import Watchdog
from hetero.errors import DeviceError
from hetero.fork import renew_after_fork
from hetero.plugin import Executor

OnEnd = Callable[[BaseException | None], None]


class Inference:
    """The steps of one inference under way. ``run_step`` runs one; ``on_end`` is told of the end, with the first error.

    After an error no further step begins, and the end comes when those under way have ended. One that takes too long
    counts as ended; ``on_timeout`` is told of it before.
    """

    def __init__(
        self,
        plan: Plan,
        run_step: Callable[[int], None],
        on_end: OnEnd,
        on_timeout: Callable[[int], None] | None = None,
    ) -> None:
        self.plan = plan
        self.run_step = run_step
        self.on_end = on_end
        self.on_timeout = on_timeout
        self._waits_for = [len(step.waits_for) for step in plan.steps]
        self._under_way = 0
        self._error: BaseException | None = None
        self._lock = threading.Lock()

    def first_steps(self) -> list[int]:
        """The steps that wait for none. They count as under way from now on."""
        ready = [index for index, count in enumerate(self._waits_for) if not count]
        self._under_way = len(ready)
        return ready

    def run(self, index: int) -> BaseException | None:
        """Run a step, unless one failed; what it raised."""
        try:
            if self._error is None:
                self.run_step(index)
        except BaseException as error:
            return error
        return None

    def finish(self, index: int, error: BaseException | None) -> tuple[list[int], bool]:
        """A step has ended: which steps are ready by that, and whether it was the last one under way."""
        with self._lock:
            self._error = self._error or error
            ready = []
            if self._error is None:
                for reader in self.plan.steps[index].readers:
                    self._waits_for[reader] -= 1
                    if not self._waits_for[reader]:
                        ready.append(reader)
            self._under_way += len(ready) - 1
            return ready, not self._under_way

    def end(self) -> None:
        self.on_end(self._error)


Task = tuple[Inference, int]


class Scheduler:
    """Runs inferences on threads of its own; ``slots`` says how many steps each device runs at once.

    A step that takes longer than ``timeout`` seconds, if that is not 0, ends its inference with a StepError; its thread
    is left behind.
    """

    def __init__(self, name: str, slots: Mapping[str, int], timeout: float = 0.0) -> None:
        self._slots: dict[str, int] = {}
        self._gone: set[str] = set()
        self._renew()
        self._timeout = timeout
        self._watchdog = Watchdog(name, timeout) if timeout else None
        # A thread for every slot, and one that makes inputs ready meanwhile.
        self._executor = Executor(name, 1)
        self.admit(slots)
        renew_after_fork(self, Scheduler._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()
        self._free = dict(self._slots)
        self._waiting: dict[str, deque[Task]] = {device: deque() for device in self._slots}

    def admit(self, slots: Mapping[str, int]) -> None:
        """Let devices run so many steps at once, those among them that may run fewer so far."""
        with self._lock:
            for device, count in slots.items():
                more = max(0, count - self._slots.get(device, 0))
                self._slots[device] = self._slots.get(device, 0) + more
                self._free[device] = self._free.get(device, 0) + more
                self._waiting.setdefault(device, deque())
                self._executor.size += more

    def drop(self, device: str) -> None:
        """Begin no step on a device any more: those that wait for it, and that would, fail with a StepError."""
        with self._lock:
            self._gone.add(device)
            waiting, self._waiting[device] = self._waiting.get(device, deque()), deque()
        self._hand_on(waiting)

    def submit(self, task: Callable[[], None], priority: int = 0) -> None:
        """Run something that is no step on one of the threads."""
        self._executor.submit(task, priority=priority)

    def begin(self, inference: Inference) -> None:
        """Begin the steps of an inference that can run at once. Returns when they have been handed on."""
        ready = inference.first_steps()
        if not ready:
            inference.end()
        for index in ready:
            if self._take_slot(inference, index):
                self._executor.submit(self._run, (inference, index))

    def run(self, inference: Inference) -> None:
        """Begin an inference and go on with it on this thread, which is one of the scheduler's own."""
        self._run(*((inference, index) for index in inference.first_steps() if self._take_slot(inference, index)))
        if not inference.plan.steps:
            inference.end()

    def _run(self, *tasks: Task) -> None:
        """Run the first of these steps, whose slots are taken, and what this thread can go on with after it.

        Other threads take the rest, except at the end of the program, when the executor takes no more tasks.
        """
        here = deque(tasks)
        while here:
            inference, index = here.popleft()
            self._hand_on(here)
            in_time, error = self._run_step(inference, index)
            if not in_time:
                return  # all that follows was done without this thread
            ready, is_last = inference.finish(index, error)
            here.extend((inference, step) for step in ready if self._take_slot(inference, step))
            waiting = self._give_slot(inference.plan.steps[index].device)
            if waiting is not None:
                here.append(waiting)
            if is_last:
                self._hand_on(here)
                inference.end()

    def _hand_on(self, tasks: deque[Task]) -> None:
        """Let other threads run these steps; those that the executor does not take stay in ``tasks``."""
        with contextlib.suppress(DeviceError):
            while tasks:
                self._executor.submit(self._run, tasks[0])
                tasks.popleft()

    def _run_step(self, inference: Inference, index: int) -> tuple[bool, BaseException | None]:
        """Whether the step ended in time, and what it raised."""
        device = inference.plan.steps[index].device
        if device in self._gone:
            return True, StepError(device, DeviceError(f"{device} failed in another inference and is used no longer"))
        if self._watchdog is None:
            return True, inference.run(index)
        thread = threading.current_thread()
        number = self._watchdog.begin(lambda: self._leave_behind(inference, index, thread))
        error = inference.run(index)
        return self._watchdog.end(number), error

    def _leave_behind(self, inference: Inference, index: int, thread: threading.Thread) -> None:
        """End a step that hangs, as far as everybody else is concerned."""
        self._executor.abandon(thread)
        inference.on_timeout(index)
        step = inference.plan.steps[index]
        problem = f"{step.device} did not end an inference of '{step.compiled.name}' within {self._timeout * 1e3:g} ms"
        _, is_last = inference.finish(index, StepError(step.device, DeviceError(problem)))
        waiting = self._give_slot(step.device)
        if waiting is not None:
            self._hand_on(deque([waiting]))
        if is_last:
            try:
                self._executor.submit(inference.end)
            except DeviceError:  # at the end of the program
                inference.end()

    def _take_slot(self, inference: Inference, index: int) -> bool:
        """Whether the step's device has a free slot, which is then taken; else the step gets the next one."""
        device = inference.plan.steps[index].device
        with self._lock:
            if self._free[device] or device in self._gone:
                self._free[device] -= 1
                return True
            self._waiting[device].append((inference, index))
            return False

    def _give_slot(self, device: str) -> Task | None:
        """Give a slot back, or the step that waited for it longest, which has it now."""
        with self._lock:
            if self._waiting[device]:
                return self._waiting[device].popleft()
            self._free[device] += 1
            return None
