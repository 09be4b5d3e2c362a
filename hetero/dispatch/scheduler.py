"""The scheduler: runs the steps of inferences on several devices at once.

A step begins when those that it waits for have ended and its device has a free slot; a device has as many slots as it
runs inferences at once. A thread that ends a step goes on with what became ready by that, so an inference that
waits for nobody stays on one thread, and several inferences take turns on the devices: while one is on the second
device, the next is on the first.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from hetero.plugin import Executor

if TYPE_CHECKING:
    from hetero.dispatch.plan import Plan

OnEnd = Callable[[BaseException | None], None]


class Inference:
    """The steps of one inference under way. ``run_step`` runs one; ``on_end`` is told of the end, with the first error.

    After an error no further step begins, and the end comes when those under way have ended.
    """

    def __init__(self, plan: Plan, run_step: Callable[[int], None], on_end: OnEnd) -> None:
        self.plan = plan
        self.run_step = run_step
        self.on_end = on_end
        self._waits_for = [len(step.waits_for) for step in plan.steps]
        self._under_way = 0
        self._error: BaseException | None = None
        self._lock = threading.Lock()

    def first_steps(self) -> list[int]:
        """The steps that wait for none. They count as under way from now on."""
        ready = [index for index, count in enumerate(self._waits_for) if not count]
        self._under_way = len(ready)
        return ready

    def run(self, index: int) -> tuple[list[int], bool]:
        """Run a step; which steps are ready by that, and whether it was the last one under way."""
        error = None
        try:
            if self._error is None:
                self.run_step(index)
        except BaseException as raised:
            error = raised
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
    """Runs inferences on threads of its own; ``slots`` says how many steps each device runs at once."""

    def __init__(self, name: str, slots: Mapping[str, int]) -> None:
        self._free = dict(slots)
        self._waiting: dict[str, deque[Task]] = {device: deque() for device in slots}
        self._lock = threading.Lock()
        # A thread for every slot, and one that makes inputs ready meanwhile.
        self._executor = Executor(name, sum(slots.values()) + 1)

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
                self._executor.submit(self._run, inference, index)

    def run(self, inference: Inference) -> None:
        """Begin an inference and go on with it on this thread, which is one of the scheduler's own."""
        ready = [index for index in inference.first_steps() if self._take_slot(inference, index)]
        for index in ready[1:]:
            self._executor.submit(self._run, inference, index)
        if ready:
            self._run(inference, ready[0])
        elif not inference.plan.steps:
            inference.end()

    def _run(self, inference: Inference, index: int) -> None:
        """Run a step whose slot is taken, and whatever this thread can go on with after it."""
        task: Task | None = (inference, index)
        while task is not None:
            inference, index = task
            ready, is_last = inference.run(index)
            tasks = [(inference, step) for step in ready if self._take_slot(inference, step)]
            waiting = self._give_slot(inference.plan.steps[index].device)
            if waiting is not None:
                tasks.append(waiting)
            task = tasks[0] if tasks and not is_last else None
            for other in tasks[1:] if task else tasks:
                self._executor.submit(self._run, *other)
            if is_last:
                inference.end()

    def _take_slot(self, inference: Inference, index: int) -> bool:
        """Whether the step's device has a free slot, which is then taken; else the step gets the next one."""
        device = inference.plan.steps[index].device
        with self._lock:
            if self._free[device]:
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
