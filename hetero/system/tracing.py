"""Tracing: timed spans around the work of hetero, collected by a Recorder or by ITT tools such as VTune::

    with Recorder() as recorder:
        compiled(inputs)
    recorder.save("trace.json")  # opens in https://ui.perfetto.dev

A span without a collector costs about as much as a function call.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from hetero.system.files import atomic_write

Function = TypeVar("Function", bound=Callable[..., Any])


class Span:
    """A timed piece of work.

    ``name``: the kind of work. ``detail``: the object of the work, usually a model's name. ``request``: the number of
    the infer request, or None. ``device``: the name of the device, or "". ``start``, ``end``: nanoseconds of
    ``time.perf_counter_ns``. ``thread``: number of the thread, counted from 0 in the order of their first spans.
    ``error``: ``repr`` of the exception that ended the work, or "".
    """

    __slots__ = ("_collectors", "detail", "device", "end", "error", "name", "request", "start", "thread", "thread_name")

    def __init__(
        self, name: str, detail: str, request: int | None, device: str, collectors: tuple[Collector, ...]
    ) -> None:
        self.name, self.detail, self.request, self.device = name, detail, request, device
        self.start = self.end = 0
        self.error = ""
        self._collectors = collectors

    def __enter__(self) -> Span:
        self.thread, self.thread_name = _thread_number(), threading.current_thread().name
        for collector in self._collectors:
            collector.begin(self)
        self.start = time.perf_counter_ns()
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self.end = time.perf_counter_ns()
        if error is not None:
            self.error = repr(error)  # the exception itself would keep its frames alive
        # In reverse order, and only those that saw the span begin.
        for collector in reversed(self._collectors):
            collector.finish(self)


class Collector(Protocol):
    """Interface of a collector: called at the begin and the end of each span, on the span's thread."""

    def begin(self, span: Span) -> None: ...
    def finish(self, span: Span) -> None: ...


# The span that is used while there is no collector.
NO_SPAN = contextlib.nullcontext()
_collectors: tuple[Collector, ...] = ()
_lock = threading.Lock()
_thread_numbers = itertools.count()
_of_thread = threading.local()


def span(
    name: str, detail: str = "", request: int | None = None, device: str = ""
) -> Span | contextlib.nullcontext[None]:
    """Return a context manager that times its block. The arguments are attributes of a Span."""
    return Span(name, detail, request, device, _collectors) if _collectors else NO_SPAN


def is_traced() -> bool:
    """Return whether there is a collector. Code that runs very often checks this before it creates spans."""
    return bool(_collectors)


def traced(
    name: str, about: Callable[..., tuple[str, str]] = lambda *_, **__: ("", "")
) -> Callable[[Function], Function]:
    """Return a decorator that makes each call of a function a span of this name.

    ``about`` returns the span's detail and device for the arguments of a call.
    """

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            if not _collectors:
                return function(*arguments, **options)
            detail, device = about(*arguments, **options)
            with span(name, detail, device=device):
                return function(*arguments, **options)

        return cast(Function, call)

    return decorate


class Recorder:
    """A collector of all spans that begin inside its ``with`` block, on any thread, in the order in which they end."""

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def __enter__(self) -> Recorder:
        _add_collector(self)
        return self

    def __exit__(self, *error: object) -> None:
        _remove_collector(self)

    def begin(self, span: Span) -> None:
        return

    def finish(self, span: Span) -> None:
        self.spans.append(span)

    def to_chrome_trace(self) -> dict[str, Any]:
        """Return the spans in Chrome's "Trace Event Format", with one row for each thread.

        Spans are complete events ("X") and thread names metadata events ("M"). Times are in microseconds.
        """
        spans = sorted(self.spans, key=lambda s: s.start)
        rows = dict.fromkeys((s.thread, s.thread_name) for s in spans)
        process = os.getpid()
        names = [
            {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": name}}
            for thread, name in rows
        ]
        return {"displayTimeUnit": "ms", "traceEvents": names + [_event(s, process) for s in spans]}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace as JSON, atomically. Raises OSError."""
        content = json.dumps(self.to_chrome_trace()).encode()
        with atomic_write(Path(path)) as (file,):
            file.write(content)


class IttCollector:
    """A collector that forwards spans to ITT, as tasks of the domain ``hetero``.

    As in OpenVINO, the name of a task has all that a span has: ``GPU.0_resnet_Req3_start``.
    """

    def __init__(self) -> None:
        import ittapi

        self._itt = ittapi
        self._domain = ittapi.domain("hetero")
        self._handle = functools.lru_cache(4096)(ittapi.string_handle)  # requests have numbers, so names do not end

    def begin(self, span: Span) -> None:
        request = "" if span.request is None else f"Req{span.request}"
        parts = (span.device, span.detail, request, span.name)
        self._itt.task_begin(self._domain, self._handle("_".join(filter(None, parts))))

    def finish(self, span: Span) -> None:
        self._itt.task_end(self._domain)


def _add_collector(collector: Collector) -> None:
    global _collectors
    with _lock:
        _collectors = (*_collectors, collector)


def _remove_collector(collector: Collector) -> None:
    global _collectors
    with _lock:
        _collectors = tuple(other for other in _collectors if other is not collector)


def _thread_number() -> int:
    try:
        return _of_thread.number
    except AttributeError:
        _of_thread.number = next(_thread_numbers)
        return _of_thread.number


def _event(span: Span, process: int) -> dict[str, Any]:
    arguments = {
        "on": span.detail or None, "device": span.device or None, "request": span.request, "error": span.error or None,
    }  # fmt: skip
    return {
        "ph": "X", "cat": "hetero", "name": span.name, "pid": process, "tid": span.thread,
        "ts": span.start / 1000, "dur": (span.end - span.start) / 1000,
        "args": {key: value for key, value in arguments.items() if value is not None},
    }  # fmt: skip


def _collect_for_itt() -> None:
    """Forward spans to ITT if a profiler is attached: it names its library in this environment variable."""
    if os.environ.get("INTEL_LIBITTNOTIFY64"):
        try:
            _add_collector(IttCollector())
        except ImportError:
            return


_collect_for_itt()
