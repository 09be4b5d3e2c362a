"""Plans of concurrent work: threads compile, infer, cancel and drop models while devices fail.

A plan is a list of actions with seeds. Four threads share its actions. When they have ended, the actions that affect
the whole process, such as resource limits, follow in forked children. Every result must be right, and every error a
HeteroError.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import json
import os
import resource
import signal
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import numpy as np

from hetero import InferRequest
from hetero.system.errors import CancelledError, DeviceError, HeteroError
from tests.devices import PickyPlugin, core_with
from tests.dispatch.faulty import Faulty, X, Y, chain, no_exp
from tests.robustness.damage import Files

NAME = "plan.json"
THREADS = 4
SECONDS_OF_FORK = 8
DEVICES = ["TEMPLATE", "HETERO:A,TEMPLATE", "HETERO:A,B"]
OPTIONS = [{}, {"PERFORMANCE_HINT": "THROUGHPUT"}, {"NUM_STREAMS": 2}, {"EXCLUSIVE_ASYNC_REQUESTS": True}]
FAULTS = ["raise", "wrong shape", "wrong type", "create request"]


class Work:
    """The state that the threads of one plan share: a Core, its compiled models, a cache folder."""

    def __init__(self, folder: Path) -> None:
        self.core = core_with(A=PickyPlugin(no_exp), B=PickyPlugin())
        self.folder = folder
        self.compiled = [self.core.compile_model(chain(), device) for device in DEVICES]

    def compile(self, rng: Random) -> None:
        cache = rng.choice([{}, {"CACHE_DIR": self.folder / "cache"}])
        compiled = self.core.compile_model(chain(), rng.choice(DEVICES), rng.choice(OPTIONS) | cache)
        self.compiled[rng.randrange(len(self.compiled))] = compiled  # the replaced model may be running

    def infer(self, rng: Random) -> None:
        check(self._request(rng).infer(X))

    def infer_in_background(self, rng: Random) -> None:
        requests = [self._request(rng) for _ in range(rng.randint(1, 4))]
        for request in requests:
            request.start_async(X)
        for request in requests:
            request.wait()
            check(request.results)

    def cancel(self, rng: Random) -> None:
        request = self._request(rng)
        request.start_async(X)
        request.cancel()
        with contextlib.suppress(CancelledError):
            request.wait()
            check(request.results)

    def drop_request(self, rng: Random) -> None:
        self._request(rng).start_async(X)

    def raise_in_callback(self, rng: Random) -> None:
        request, error = self._request(rng), rng.choice([ValueError, SystemExit, KeyboardInterrupt, StopIteration])
        request.set_callback(functools.partial(_raise, error))
        request.start_async(X)
        with contextlib.suppress(HeteroError, error):
            request.wait()

    def export(self, rng: Random) -> None:
        device = rng.choice(DEVICES)
        blob = self.core.compile_model(chain(), device).export_model().getvalue()
        check(self.core.import_model(blob, device)(X))

    def use_faulty_device(self, rng: Random) -> None:
        core = core_with(F=Faulty(rng.choice(FAULTS), rng.randint(1, 3)))
        compiled = core.compile_model(chain(), "HETERO:F,TEMPLATE")
        for _ in range(3):
            check(compiled(X))

    def unload(self, rng: Random) -> None:
        with contextlib.suppress(DeviceError):  # not loaded
            self.core.unload_plugin(rng.choice(["TEMPLATE", "HETERO"]))

    def fork(self, rng: Random) -> None:
        in_fork(lambda: self._use_all(rng), {})

    def limit(self, rng: Random) -> None:
        used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
        kind, limits = rng.choice([
            (resource.RLIMIT_FSIZE, [0, 100, 10_000]),  # as a full disk
            (resource.RLIMIT_NOFILE, [3, 8, 20]),
            # With less than a few thread stacks, Python itself hangs when it starts a thread.
            (resource.RLIMIT_DATA, [used + (1 << 25), used + (1 << 27)]),
        ])  # fmt: skip
        in_fork(lambda: self._use_all(rng), {kind: rng.choice(limits)})

    def _use_all(self, rng: Random) -> None:
        """Use models that were compiled before, and compile one with a cache."""
        self.infer_in_background(rng)
        check(self.core.compile_model(chain(), rng.choice(DEVICES), {"CACHE_DIR": self.folder / "limited"})(X))

    def _request(self, rng: Random) -> InferRequest:
        return rng.choice(self.compiled).create_infer_request()


def _raise(error: type[BaseException], userdata: object) -> None:
    raise error("of the callback")


# Actions on the whole process, and actions of one thread.
ALONE = ["fork", "limit"]
ACTIONS = ["compile", "infer", "infer_in_background", "cancel", "drop_request", "raise_in_callback", "export",
           "use_faulty_device", "unload"]  # fmt: skip


def check(results: Mapping) -> None:
    """Raise AssertionError if an inference of the chain has another result than numpy."""
    (found,) = results.values()
    np.testing.assert_allclose(found, Y, rtol=1e-6)


def in_fork(work: Callable[[], None], limits: dict[int, int]) -> None:
    """Do work in a forked child under limits. Raises AssertionError if the child fails or hangs.

    Under limits the work may raise HeteroError or MemoryError; without them it must succeed.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS_OF_FORK)
        faulthandler.enable(writer)  # a crash of native code is reported with the Python stack
        # As Python does at its start. Intel's OpenCL runtime, if a case before loaded it, has installed a handler,
        # which crashes when it reports the signal to a file that the limit applies to.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        status = 1
        try:
            for kind, limit in limits.items():
                resource.setrlimit(kind, (limit, limit))
            with contextlib.suppress(*([HeteroError, MemoryError] if limits else [])):
                work()
            status = 0
        except BaseException:
            os.write(writer, traceback.format_exc().encode()[-4000:])
        finally:
            os._exit(status)
    os.close(writer)
    with open(reader, "rb") as errors:
        text = errors.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    if status:
        code = os.waitstatus_to_exitcode(status)
        reason = f"hung for {SECONDS_OF_FORK} s" if code == -signal.SIGALRM else f"ended with {code}"
        raise AssertionError(f"the forked child {reason}: {text}")


@functools.cache
def samples() -> list[Files]:
    plans = []
    for seed in range(50):
        rng = Random(seed)
        names = [*rng.choices(ACTIONS, k=rng.randint(4, 24)), rng.choice(ALONE)]
        plans.append([[name, rng.getrandbits(32)] for name in names])
    return [{NAME: json.dumps(plan).encode()} for plan in plans]


def run(folder: Path) -> None:
    plan = json.loads((folder / NAME).read_bytes())
    work, errors = Work(folder), []
    threaded = [action for action in plan if action[0] in ACTIONS]

    def do(actions: list[list]) -> None:
        for name, seed in actions:
            try:
                getattr(work, name)(Random(seed))
            except BaseException as error:
                errors.append(error)

    threads = [threading.Thread(target=do, args=[threaded[i::THREADS]], daemon=True) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    do([action for action in plan if action[0] in ALONE])
    if errors:
        raise AssertionError(f"{len(errors)} actions failed, the first with {errors[0]!r}") from errors[0]


def _edit(change: Callable[[list, Random], None]) -> Callable[[Files, Random], None]:
    def mutate(files: Files, rng: Random) -> None:
        plan = json.loads(files[NAME])
        change(plan, rng)
        files[NAME] = json.dumps(plan).encode()

    return mutate


MUTATORS = {
    "add": _edit(lambda plan, rng: plan.append([rng.choice(ACTIONS), rng.getrandbits(32)])),
    "repeat": _edit(lambda plan, rng: plan.extend([rng.choice(plan)] * 3)),
    "remove": _edit(lambda plan, rng: plan.pop(rng.randrange(len(plan))) if len(plan) > 1 else None),
    "affect the process": _edit(lambda plan, rng: plan.append([rng.choice(ALONE), rng.getrandbits(32)])),
}
